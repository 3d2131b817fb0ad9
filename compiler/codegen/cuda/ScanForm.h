// How a block goes along a row, each result of which is made of the one before
// it: each of its threads along a part of the row, twice, first to find what
// the part makes of what comes before it.
//
// Example, the running sums of [64,5000]: 64 blocks, whose threads have 20
// numbers each. (Blelloch, "Prefix sums and their applications", 1990.)
#pragma once

#include "compiler/codegen/cuda/BlockKernel.h"

namespace dl::cuda {

struct ScanForm {
  int64_t part; // of the row, of a thread

  /// Of what a part makes, a factor and a summand or a value and its place.
  static constexpr int64_t kStateBytes = 16;
  static int64_t sharedBytes(unsigned threads) { return threads * kStateBytes; }

  /// Nothing where rows are short or so many that threads have enough to do
  /// with one each.
  static std::optional<ScanForm> of(const kernel::BoundKernel &kernel,
                                    const Stage &stage);
  /// Sizes of the grid's dims where its root is such a stage: a row.
  static std::optional<llvm::SmallVector<int64_t, 6>>
  tileSizes(const BoundKernel &kernel);
};

} // namespace dl::cuda
