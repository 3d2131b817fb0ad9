// What ranks exchange. Bytes move, and kernels add: a sum over ranks is an
// exchange of parts, an ordinary sum over them in the order of ranks, and a
// gather. So all arithmetic is compiled, and the same on every engine.
//
// Rows, the elements of the outermost dim, are what moves: they are contiguous
// in memory. Who wants another dim moved transposes before and after.
#pragma once

#include <cstdint>

namespace dl::graph {

/// Rows of the operand that go to a member of the group, or rows of the result
/// that come from it.
struct RowTransfer {
  int64_t member, offset, rows;
};

} // namespace dl::graph
