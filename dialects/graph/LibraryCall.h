// Ops that a library of the device's computes, and no kernel of ours.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace dl::graph {

/// An attribute of a product that has been chosen for a library, and of the
/// additions to it that are part of the call: the number of the call. Nothing
/// else is fused with them. In a kernel that computes a call and nothing else,
/// the product has it, without a number.
inline constexpr llvm::StringLiteral kLibraryCall = "graph.library_call";

/// A unit attribute of a product that is to be part of a chain of products, and
/// no library's. An op in a kernel does not have it.
inline constexpr llvm::StringLiteral kChained = "graph.chained";

} // namespace dl::graph
