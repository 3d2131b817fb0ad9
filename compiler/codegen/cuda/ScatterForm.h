// How a block adds to its part of a result what indices say belongs there.
//
// Example, the gradient of an embedding [50257,768] from 32768 tokens:
//   tile sizes {64,128}: 4716 blocks, each with 64 rows of 128 columns in
//   shared memory, for which all of its threads look through the indices, 1024
//   at a time; what they find is listed in its order, and added in it.
// No float is added by whoever comes first: bits do not depend on blocks.
#pragma once

#include "compiler/codegen/cuda/BlockKernel.h"

namespace dl::cuda {

struct ScatterForm {
  /// Of the dim along which is added, and of all others.
  int64_t rows, columns;
  /// One list of what belongs to the tile is for all columns. Else each has
  /// indices of its own, which its threads go through.
  bool together;
  int64_t elementBytes;

  /// Indices that a thread looks at before all add what they have found.
  static constexpr unsigned kEach = 4;
  int64_t sumBytes() const { return rows * columns * elementBytes; }
  int64_t sharedBytes(unsigned threads) const;

  /// Nothing where indices are so few that each element looks through them.
  static std::optional<ScatterForm> of(const BlockKernel &kernel,
                                       const Stage &stage);
  /// Sizes of the grid's dims where its root is such a stage.
  static std::optional<llvm::SmallVector<int64_t, 6>>
  tileSizes(const BoundKernel &kernel);
};

} // namespace dl::cuda
