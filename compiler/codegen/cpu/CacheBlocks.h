// One cache block of a large contraction: see CacheBlocks.cpp.
#pragma once

#include "compiler/codegen/cpu/ContractStage.h"

namespace dl::cpu {

struct ContractStage::CacheBlock {
  llvm::Value *row; // the first one, from the tile's on
  int64_t rows;
  llvm::Value *lane, *end;

  int64_t height, vectors; // of the micro-kernels

  int64_t numRowBlocks() const { return (rows + height - 1) / height; }
  /// Heights differ by at most one: no runt. The first ones are one higher.
  int64_t low() const { return rows / numRowBlocks(); }
  int64_t numHigh() const { return rows % numRowBlocks(); }
  /// Calls emit(first row, its block's number, height) in a loop for each
  /// height, from block number `begin` on, which is at most one.
  void forEachRowBlock(
      llvm::IRBuilder<> &b,
      llvm::function_ref<void(llvm::Value *, llvm::Value *, int64_t)> emit,
      int64_t begin = 0) const {
    auto some = [&](int64_t from, int64_t to, int64_t h) {
      emitLoop(b, b.getInt64(from), b.getInt64(to), 1,
               [&](llvm::Value *number) {
                 int64_t higher = h > low() ? 0 : numHigh();
                 llvm::Value *row = b.CreateMul(number, b.getInt64(h));
                 emit(b.CreateAdd(row, b.getInt64(higher)), number, h);
               });
    };
    some(begin, numHigh(), low() + 1);
    some(std::max(begin, numHigh()), numRowBlocks(), low());
  }
  int64_t firstHeight() const { return numHigh() ? low() + 1 : low(); }
};

} // namespace dl::cpu
