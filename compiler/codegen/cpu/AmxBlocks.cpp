// Cache blocks of products of bf16 for AMX (Intel 64 and IA-32 Architectures
// Software Developer's Manual, volume 1, chapter 18). TDPBF16PS adds to 16 x 16
// sums the products of 16 rows x 32 k and 32 k x 16 lanes. For each of them
//   sum += (r0 l0 + r2 l2 + ... + r30 l30) + (r1 l1 + r3 l3 + ... + r31 l31)
// where both chains of multiply-adds begin at zero; all is rounded to f32, and
// subnormal numbers are zero. So sums have other bits than on processors
// without AMX, and the same for any number of threads.
//
// Rows are packed as [16 rows][32 k][row][k], a tile one piece of memory; lanes
// as everywhere, in panels of [pair of k][lane]. Four tiles of sums are held
// over a block of k, then stored, and finished by a micro-kernel.

#include "compiler/codegen/cpu/AmxTiles.h"
#include "compiler/codegen/cpu/CacheBlocks.h"
#include "compiler/codegen/cpu/MicroKernel.h"
#include "compiler/codegen/cpu/Packing.h"
#include "compiler/codegen/cpu/PayloadCode.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

/// Rows that are finished at a time.
static constexpr int64_t kFinishedRows = 8;

/// A block of tiles of sums: 1 or 2 x 1 or 2.
struct ContractStage::TileProduct {
  int64_t high, wide;
  int64_t countK; // tiles along k
  bool first;     // begins at zero
};

void ContractStage::packRowTiles(const CacheBlock &block, Value *k,
                                 int64_t extent) {
  Value *first = b.CreateAdd(tileOrigin(form.rowDim), block.row);
  Value *from = sidePointer(form.scalar, first, k);
  if (form.rowsAlongK())
    packRowsAlongK(block, from, extent);
  else
    packRowsAcrossK(block, from, extent);
}

/// `count` of 16 elements that are `step` apart, and zeros.
static Value *loadExact(llvm::IRBuilder<> &b, llvm::FixedVectorType *type,
                        Value *from, int64_t count, int64_t step) {
  llvm::Align align(4); // of f32
  Value *zero = llvm::Constant::getNullValue(type);
  if (count <= 0)
    return zero;
  if (step == 1 && count >= kTileRows)
    return b.CreateAlignedLoad(type, from, align);
  if (step == 1)
    return b.CreateMaskedLoad(type, from, align,
                              firstLanes(b, kTileRows, count), zero);
  SmallVector<llvm::Constant *> offsets;
  for (int64_t l = 0; l < kTileRows; ++l)
    offsets.push_back(b.getInt64(l < count ? l * step : 0));
  return b.CreateMaskedGather(type,
                              b.CreateGEP(type->getScalarType(), from,
                                          llvm::ConstantVector::get(offsets)),
                              align, firstLanes(b, kTileRows, count), zero);
}

/// The same, rounded to bf16 where that is yet to be done.
static Value *loadSome(llvm::IRBuilder<> &b, llvm::FixedVectorType *type,
                       Value *from, int64_t count, int64_t step, bool rounds) {
  Value *content = loadExact(b, type, from, count, step);
  return rounds ? emitNearestBf16(b, content) : content;
}

/// Each row is read once, from its beginning to its end.
void ContractStage::packRowsAlongK(const CacheBlock &block, Value *from,
                                   int64_t extent) {
  auto *type = llvm::FixedVectorType::get(element, kTileRows);
  int64_t countK = llvm::divideCeil(extent, kTileK), full = extent / kTileK;
  int64_t rowStep = form.scalar.coefficients[form.rowDim];
  Value *to = scratchAt(scratch.rowsAt);
  auto rowAt = [&](Value *row) {
    Value *tileRow = b.CreateUDiv(row, b.getInt64(kTileRows));
    Value *inTile = b.CreateURem(row, b.getInt64(kTileRows));
    return b.CreateGEP(
        element, to,
        b.CreateAdd(b.CreateMul(tileRow, b.getInt64(countK * kTile)),
                    b.CreateMul(inTile, b.getInt64(kTileRows))));
  };
  auto store = [&](Value *pairs, Value *packed, Value *tile) {
    b.CreateAlignedStore(
        pairs,
        b.CreateGEP(element, packed, b.CreateMul(tile, b.getInt64(kTile))),
        llvm::Align(4));
  };
  emitLoop(b, b.getInt64(0), b.getInt64(block.rows), 1, [&](Value *row) {
    Value *source =
        b.CreateGEP(element, from, b.CreateMul(row, b.getInt64(rowStep)));
    Value *packed = rowAt(row);
    auto pairsAt = [&](Value *tile, int64_t valid) {
      Value *at =
          b.CreateGEP(element, source, b.CreateMul(tile, b.getInt64(kTileK)));
      Value *low = loadSome(b, type, at, valid, 1, form.scalar.rounds);
      Value *high =
          loadSome(b, type, b.CreateConstGEP1_64(element, at, kTileRows),
                   valid - kTileRows, 1, form.scalar.rounds);
      return neighboursAsPairs(b, low, high);
    };
    emitLoop(b, b.getInt64(0), b.getInt64(full), 1,
             [&](Value *tile) { store(pairsAt(tile, kTileK), packed, tile); });
    if (full < countK)
      store(pairsAt(b.getInt64(full), extent - full * kTileK), packed,
            b.getInt64(full));
  });
  emitLoop(
      b, b.getInt64(block.rows),
      b.getInt64(llvm::alignTo(block.rows, kTileRows)), 1, [&](Value *row) {
        Value *packed = rowAt(row);
        emitLoop(b, b.getInt64(0), b.getInt64(countK), 1, [&](Value *tile) {
          store(llvm::Constant::getNullValue(type), packed, tile);
        });
      });
}

/// 32 k of 16 rows at a time, by a function of its own.
void ContractStage::packRowsAcrossK(const CacheBlock &block, Value *from,
                                    int64_t extent) {
  auto *type = llvm::FixedVectorType::get(element, kTileRows);
  int64_t countK = llvm::divideCeil(extent, kTileK), full = extent / kTileK;
  int64_t rowStep = form.scalar.coefficients[form.rowDim];
  int64_t kStep = form.scalar.coefficients[form.kDims[0]];
  Value *to = scratchAt(scratch.rowsAt);
  auto packTile = [&](Value *tileRow, Value *tile, int64_t rows, int64_t ks) {
    std::string name =
        prefix + ".rows" + std::to_string(rows) + "." + std::to_string(ks);
    llvm::Function *function =
        sharedFunction(b, name, 2, [&](llvm::Function *function) {
          SmallVector<Value *> square;
          auto load = [&](int64_t k) {
            return loadSome(
                b, type,
                b.CreateConstGEP1_64(element, function->getArg(0), k * kStep),
                k < ks ? rows : 0, rowStep, form.scalar.rounds);
          };
          for (int64_t k = 0; k < kTileK; k += 2)
            square.push_back(joinPairs(b, load(k), load(k + 1)));
          transposeTile(b, square);
          storeTile(b, square, function->getArg(1));
        });
    Value *source = b.CreateGEP(
        element, from,
        b.CreateAdd(b.CreateMul(tileRow, b.getInt64(kTileRows * rowStep)),
                    b.CreateMul(tile, b.getInt64(kTileK * kStep))));
    Value *number = b.CreateAdd(b.CreateMul(tileRow, b.getInt64(countK)), tile);
    b.CreateCall(function,
                 {source, b.CreateGEP(element, to,
                                      b.CreateMul(number, b.getInt64(kTile)))});
  };
  int64_t fullRows = block.rows / kTileRows, rest = block.rows % kTileRows;
  auto packAll = [&](Value *tile, int64_t ks) {
    emitLoop(b, b.getInt64(0), b.getInt64(fullRows), 1,
             [&](Value *tileRow) { packTile(tileRow, tile, kTileRows, ks); });
    if (rest)
      packTile(b.getInt64(fullRows), tile, rest, ks);
  };
  emitLoop(b, b.getInt64(0), b.getInt64(full), 1,
           [&](Value *tile) { packAll(tile, kTileK); });
  if (full < countK)
    packAll(b.getInt64(full), extent - full * kTileK);
}

/// All panels of a block, as [panel][pair of k][lane]. Lanes that are
/// neighbours are read in runs as long as the block is wide, others along k.
void ContractStage::packLaneTiles(const CacheBlock &block, Value *k,
                                  int64_t extent) {
  int64_t laneStep = form.lane.coefficients[form.laneDims.back()];
  int64_t kStep = form.lane.coefficients[form.kDims[0]];
  int64_t countK = llvm::divideCeil(extent, kTileK), width = e.kernel.lanes();
  auto *type = llvm::FixedVectorType::get(element, width);
  Value *zero = llvm::Constant::getNullValue(type);
  llvm::Align align(4); // of f32
  Value *relative = b.CreateSub(block.lane, tileOrigin(form.laneDims.front()));
  Value *source =
      b.CreateGEP(element, sidePointer(form.lane, tileOrigin(form.rowDim), k),
                  b.CreateMul(relative, b.getInt64(laneStep)));
  auto laneAt = [&](Value *lane) {
    return b.CreateGEP(
        element, source,
        b.CreateMul(b.CreateSub(lane, block.lane), b.getInt64(laneStep)));
  };
  auto pairsAt = [&](Value *lane, int64_t lanes, Value *pair) {
    Value *panel = packedLanes(block, lane, countK);
    int64_t stride = llvm::alignTo(lanes, kTileRows);
    return b.CreateGEP(element, panel, b.CreateMul(pair, b.getInt64(stride)));
  };
  if (laneStep == 1) {
    auto joinRows = [&](Value *pair, bool isWhole) {
      Value *step = b.CreateMul(pair, b.getInt64(2 * kStep));
      forEachPanel(block, [&](Value *lane, int64_t lanes) {
        Value *from = b.CreateGEP(element, laneAt(lane), step);
        Value *to = pairsAt(lane, lanes, pair);
        for (int64_t k : {2, 3}) // the next pair
          for (int64_t l = 0; l < lanes; l += width)
            emitFetch(b, b.CreateConstGEP1_64(element, from, k * kStep + l), 2);
        for (int64_t l = 0; l < lanes; l += width) {
          auto load = [&](int64_t offset) {
            return loadSome(b, type,
                            b.CreateConstGEP1_64(element, from, offset + l),
                            lanes - l, 1, form.lane.rounds);
          };
          Value *second = isWhole ? load(kStep) : zero;
          b.CreateAlignedStore(joinPairs(b, load(0), second),
                               b.CreateConstGEP1_64(element, to, l), align);
        }
      });
    };
    emitLoop(b, b.getInt64(0), b.getInt64(extent / 2), 1,
             [&](Value *pair) { joinRows(pair, true); });
    if (extent % 2)
      joinRows(b.getInt64(extent / 2), false);
  } else {
    forEachPanel(block, [&](Value *lane, int64_t lanes) {
      emitPack(b, element, panelAt(0, lanes), {extent}, laneAt(lane),
               pairsAt(lane, lanes, b.getInt64(0)),
               {2 * kTileRows, width, 0, false, true, true});
    });
  }
  int64_t packed = packedCount(extent, true), all = countK * kTileRows;
  if (packed < all)
    forEachPanel(block, [&](Value *lane, int64_t lanes) {
      int64_t stride = llvm::alignTo(lanes, kTileRows);
      Value *from = pairsAt(lane, lanes, b.getInt64(packed));
      for (int64_t at = 0; at < (all - packed) * stride; at += width)
        b.CreateAlignedStore(zero, b.CreateConstGEP1_64(element, from, at),
                             align);
    });
}

/// Where a panel of so many tiles along k begins.
Value *ContractStage::packedLanes(const CacheBlock &block, Value *lane,
                                  int64_t countK) {
  return b.CreateGEP(element, scratchAt(0),
                     b.CreateMul(b.CreateSub(lane, block.lane),
                                 b.getInt64(countK * kTileRows)));
}

void ContractStage::forEachPanel(
    const CacheBlock &block,
    llvm::function_ref<void(Value *lane, int64_t lanes)> emit) {
  int64_t width = 2 * kTileRows;
  Value *all = b.CreateSub(block.end, block.lane);
  Value *full = b.CreateSub(block.end, b.CreateURem(all, b.getInt64(width)));
  emitLoop(b, block.lane, full, width, [&](Value *lane) { emit(lane, width); });
  // Tiles are whole panels but for the last one.
  if (int64_t rest = form.laneCount() % width)
    emitIf(b, b.CreateICmpSLT(full, block.end), [&] { emit(full, rest); });
}

void ContractStage::emitTiledBlock(const CacheBlock &block) {
  KPart part;
  part.sumStride = scratch.sumStride;
  forEachKBlock(form.kCount(), form.tiledDepth(), part,
                [&](Value *k, const KPart &part) {
                  packRowTiles(block, k, part.extent);
                  packLaneTiles(block, k, part.extent);
                  multiplyTiles(block, part);
                });
}

/// Two rows of tiles at a time, which stay in the first-level cache, and all
/// panels. Results are stored along whole rows of the block.
void ContractStage::multiplyTiles(const CacheBlock &block, const KPart &part) {
  int64_t countK = llvm::divideCeil(part.extent, kTileK);
  bool waits = !part.first || !part.last;
  auto emit = [&](Value *row, int64_t rows) {
    Value *rowsAt =
        b.CreateGEP(element, scratchAt(scratch.rowsAt),
                    b.CreateMul(row, b.getInt64(countK * kTile / kTileRows)));
    Value *sumsAt = scratchAt(scratch.sumsAt);
    if (waits)
      sumsAt = b.CreateGEP(element, sumsAt,
                           b.CreateMul(row, b.getInt64(part.sumStride)));
    forEachPanel(block, [&](Value *lane, int64_t lanes) {
      TileProduct product{int64_t(llvm::divideCeil(rows, kTileRows)),
                          int64_t(llvm::divideCeil(lanes, kTileRows)), countK,
                          part.first};
      b.CreateCall(
          tileKernel(product),
          {rowsAt, packedLanes(block, lane, countK),
           b.CreateGEP(element, sumsAt, b.CreateSub(lane, block.lane))});
    });
    if (part.last)
      finishTiles(block, row, rows, sumsAt, part);
  };
  int64_t full = block.rows / block.height * block.height;
  emitLoop(b, b.getInt64(0), b.getInt64(full), block.height,
           [&](Value *row) { emit(row, block.height); });
  if (full < block.rows)
    emit(b.getInt64(full), block.rows - full);
}

/// void(rows, lanes, sums)
llvm::Function *ContractStage::tileKernel(const TileProduct &product) {
  auto [high, wide, countK, first] = product;
  std::string name = prefix + ".tiles";
  for (int64_t part : {high, wide, countK, int64_t(first)})
    name += "." + std::to_string(part);
  return sharedFunction(b, name, 3, [&](llvm::Function *function) {
    SumTiles sums(b, high, wide, scratch.sumStride);
    if (first)
      sums.zero();
    else
      sums.load(function->getArg(2));
    emitLoop(b, b.getInt64(0), b.getInt64(countK), 1, [&](Value *k) {
      auto at = [&](Value *from, int64_t step) {
        return b.CreateGEP(element, from, b.CreateMul(k, b.getInt64(step)));
      };
      sums.multiply(at(function->getArg(0), kTile), countK * kTile,
                    at(function->getArg(1), wide * kTile), kTileRows,
                    wide * kTileRows);
    });
    sums.store(function->getArg(2));
  });
}

void ContractStage::finishTiles(const CacheBlock &block, Value *row,
                                int64_t rows, Value *sumsAt,
                                const KPart &part) {
  Value *first =
      b.CreateAdd(tileOrigin(form.rowDim), b.CreateAdd(block.row, row));
  finishRows(first, rows, sumsAt, part, [&](auto finish) {
    forEachPanel(block, [&](Value *lane, int64_t lanes) {
      finish(lane, b.CreateSub(lane, block.lane), lanes);
    });
  });
}

/// Epilogue and store of the sums of some rows, for each panel.
void ContractStage::finishRows(
    Value *row, int64_t rows, Value *sumsAt, const KPart &multiplied,
    llvm::function_ref<
        void(llvm::function_ref<void(Value *, Value *, int64_t)>)>
        forEachPanel) {
  KPart part = multiplied;
  part.first = false, part.onlyFinishes = true;
  auto some = [&](int64_t from, int64_t to, int64_t height) {
    emitLoop(b, b.getInt64(from), b.getInt64(to), height, [&](Value *relative) {
      Value *rowSums = b.CreateGEP(
          element, sumsAt, b.CreateMul(relative, b.getInt64(part.sumStride)));
      forEachPanel([&](Value *lane, Value *inSums, int64_t lanes) {
        MicroArguments arguments = microArguments(rowSums, rowSums);
        arguments.row = b.CreateAdd(row, relative);
        arguments.lane = lane;
        arguments.sums = b.CreateGEP(element, rowSums, inSums);
        arguments.call(b, microKernel(height, packedPanel(lanes), part));
      });
    });
  };
  int64_t full = rows / kFinishedRows * kFinishedRows;
  some(0, full, kFinishedRows);
  if (full < rows)
    some(full, rows, rows - full);
}

} // namespace dl::cpu
