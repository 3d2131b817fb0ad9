// Ops that a library of the device's computes, and no kernel of ours.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace dl::graph {

/// A unit attribute of a product that has been chosen for a library, and of the
/// additions to it that are part of the call. Nothing else is fused with them;
/// in a kernel, they are all that the kernel computes.
inline constexpr llvm::StringLiteral kLibraryCall = "graph.library_call";

} // namespace dl::graph
