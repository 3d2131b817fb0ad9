// What ranks exchange. Bytes move, and kernels add: a sum over ranks is an
// exchange of parts, an ordinary sum over them in the order of ranks, and a
// gather. So all arithmetic is compiled, and the same on every engine.
//
// Rows, the elements of the outermost dim, are what moves: they are contiguous
// in memory. Who wants another dim moved transposes before and after.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace dl::graph {

/// Rows of the operand that go to `members` members of the group, or rows of
/// the result that come from them: `rows` of each, behind those of the member
/// before or, where that is `same`, the same ones. A gather among 1024 is one
/// transfer of each side.
struct RowTransfer {
  int64_t member, members, offset, rows;
  bool same;

  int64_t allRows() const { return members * rows; }
};

/// Axes along which the batch of a step is divided, on graph.step.
inline constexpr llvm::StringLiteral kBatchAxes = "graph.batch_axes";
/// Ranks that run a module, on the module of a class of ranks.
inline constexpr llvm::StringLiteral kRanks = "graph.ranks";

} // namespace dl::graph
