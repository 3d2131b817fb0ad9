// In which order the stages of a chain run whose rows are longer than a block's
// shared memory: columns come some at a time, and what a total of a row needs
// goes over them before what needs the total. What has columns is not kept for
// the next pass but computed again, or read where it is a result.
//
// Example, softmax(q k^T) v of [.., rows, columns]:
//   pass 0  for each block of columns: q k^T, its maximum
//   pass 1  for each block of columns: q k^T, its exponentials, their sum
//   pass 2  for each block of columns: q k^T, exponentials, over their sum,
//           times v
//   after   the product is rounded and stored
// With the division behind the product (nn/attention.h) there are two. (Dao et
// al., "FlashAttention", 2022, correct totals by the next block's maximum and
// need one.)
#pragma once

#include "compiler/codegen/kernel/SeenColumns.h"
#include <vector>

namespace dl::cuda {

struct ColumnPasses {
  /// Numbers of stages, in their order.
  using Numbers = llvm::SmallVector<size_t>;
  struct Pass {
    Numbers each;  // for each block of columns
    Numbers after; // once all of them have passed
    kernel::SeenColumns seen = {};
  };
  Numbers before; // of all passes
  std::vector<Pass> passes;

  /// Of a kernel with `streamed()`.
  static ColumnPasses of(const kernel::BoundKernel &kernel);
};

} // namespace dl::cuda
