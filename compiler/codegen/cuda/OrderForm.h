// How a block puts a row in order: in shared memory, all of its threads
// together.
//
// Example, topk(50) of [8,50257]: 8 blocks, each with 8192 numbers and their
// places; after each sort the first 50 wait for the next 8142 of the row.
// (Batcher, "Sorting networks and their applications", 1968.)
#pragma once

#include "compiler/codegen/cuda/BlockKernel.h"

namespace dl::cuda {

struct OrderForm {
  /// Numbers that are sorted at a time, a power of two.
  int64_t together;
  /// Numbers of a row, and those of them that are results.
  int64_t all, results;
  int64_t elementBytes;

  /// A number and its place.
  int64_t sharedBytes() const { return together * (elementBytes + 4); }
  /// All of the row at once.
  bool isWhole() const { return together >= all; }

  /// Nothing where rows are so short that each element counts those before it,
  /// or so long that not even results have room.
  static std::optional<OrderForm> of(const kernel::BoundKernel &kernel,
                                     const Stage &stage);
  /// Sizes of the grid's dims where its root is such a stage: a row.
  static std::optional<llvm::SmallVector<int64_t, 6>>
  tileSizes(const BoundKernel &kernel);
};

} // namespace dl::cuda
