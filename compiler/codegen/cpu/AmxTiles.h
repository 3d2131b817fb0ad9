// The tile registers of AMX: 8 of 16 rows x 64 bytes, whole ones only.
#pragma once

#include "compiler/codegen/cpu/ContractLimits.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace dl::cpu {

/// Elements of a tile: sums, or pairs of k.
inline constexpr int64_t kTile = kTileRows * kTileRows;

/// Before a thread uses tiles, and after it: without tiles in use the kernel
/// saves less of a thread.
void configureTiles(llvm::IRBuilder<> &builder);
void releaseTiles(llvm::IRBuilder<> &builder);

/// 1 or 2 x 1 or 2 tiles of sums, in the registers 0 to 3. (4 and 5 are of
/// rows, 6 and 7 of lanes.)
class SumTiles {
public:
  /// `stride` is of rows of sums in memory, in elements.
  SumTiles(llvm::IRBuilder<> &builder, int64_t high, int64_t wide,
           int64_t stride)
      : b(builder), high(high), wide(wide), stride(stride) {}

  void zero();
  void load(llvm::Value *sums);
  void store(llvm::Value *sums);
  /// Adds products of 32 k. Tiles of rows are pieces of memory, `rowsApart`
  /// elements from each other; those of lanes are `lanesApart` elements from
  /// each other, and `laneStride` from one pair of k to the next.
  void multiply(llvm::Value *rows, int64_t rowsApart, llvm::Value *lanes,
                int64_t lanesApart, int64_t laneStride);

private:
  void forEach(llvm::function_ref<void(int64_t r, int64_t l)> visit);
  void access(unsigned intrinsic, int64_t tile, llvm::Value *at,
              int64_t elements, int64_t rowStride);

  llvm::IRBuilder<> &b;
  int64_t high, wide, stride;
};

/// 32 neighbours as 16 pairs, the earlier one in the upper half: as joinPairs
/// has those of lanes.
llvm::Value *neighboursAsPairs(llvm::IRBuilder<> &builder, llvm::Value *low,
                               llvm::Value *high);

/// 16 vectors of 16: rows become columns and the other way round.
void transposeTile(llvm::IRBuilder<> &builder,
                   llvm::SmallVectorImpl<llvm::Value *> &square);

/// As one piece of memory.
void storeTile(llvm::IRBuilder<> &builder, llvm::ArrayRef<llvm::Value *> rows,
               llvm::Value *to);

/// void(pointers): a function that calls with the same name share. `emit` makes
/// its body, where the builder then stands.
llvm::Function *sharedFunction(llvm::IRBuilder<> &builder, llvm::StringRef name,
                               unsigned numPointers,
                               llvm::function_ref<void(llvm::Function *)> emit);

} // namespace dl::cpu
