// Ops that a library of the device's computes, and no kernel of ours.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace dl::graph {

/// A unit attribute of an op that has been chosen for a library. Nothing is
/// fused with it; in a kernel, the op is all that the kernel computes.
inline constexpr llvm::StringLiteral kLibraryCall = "graph.library_call";

} // namespace dl::graph
