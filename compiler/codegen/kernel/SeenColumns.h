// Which columns of a row add something to totals, where a mask made of the
// places of elements hides the others.
//
// Example, causal attention: exp(where(row < column, -inf, q k^T) - largest)
// is 0 of columns behind the row, and adds nothing to its sum, nor to its
// product with v: of row i columns up to i are seen.
#pragma once

#include "compiler/codegen/kernel/BoundKernel.h"

namespace dl::kernel {

/// Of row i of the grid's dim `row` columns i + first to i + last; all where
/// nothing is said.
struct SeenColumns {
  unsigned row = 0;
  std::optional<int64_t> first = {}, last = {};

  /// Of stages that go over columns block by block. What is hidden counts as
  /// nothing, whatever it would be made of: a product of 0 and NaN, say.
  static SeenColumns of(const BoundKernel &kernel,
                        llvm::ArrayRef<size_t> stages);

  /// Blocks of columns, the first one and that behind the last one, that rows
  /// from `begin` to before `end` see; at least one, of `count`.
  std::pair<int64_t, int64_t> blocks(int64_t begin, int64_t end, int64_t size,
                                     int64_t count) const;
};

} // namespace dl::kernel
