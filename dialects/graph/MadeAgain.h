// Values that the backward computes again instead of keeping them.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace dl::graph {

/// A unit attribute of an op that repeats an earlier one for readers in the
/// backward. It is there for fusion, which computes the op within its readers;
/// an op in a kernel does not have it.
inline constexpr llvm::StringLiteral kMadeAgain = "graph.made_again";

/// A unit attribute of an op that repeats an earlier one of a checkpoint for
/// the backward, so that the two are not made one. An op in a kernel does not
/// have it.
inline constexpr llvm::StringLiteral kRecomputed = "graph.recomputed";

/// Of a step, where something is made again: {values, bytes that need not be
/// kept, elements that are computed twice}.
inline constexpr llvm::StringLiteral kMadeAgainSum = "graph.made_again_sum";

} // namespace dl::graph
