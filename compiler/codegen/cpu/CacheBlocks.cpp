// Large contractions in blocks of rows, lanes and k (Goto and van de Geijn,
// "Anatomy of High-Performance Matrix Multiplication", 2008):
//   for each block of rows, each block of lanes, each block of k:
//     rows are packed, as [block of rows][k][row], for the second-level cache
//     for each panel of lanes:
//       it is packed, as [k][lane]
//       a micro-kernel for each block of rows; the first one packs a panel of
//       neighbours on its way, which hides the copy
// What a micro-kernel will need is fetched while the one before it computes, a
// few lines at a time: a burst of fetches would hold up its own operands.

#include "compiler/codegen/cpu/CacheBlocks.h"
#include "compiler/codegen/cpu/ContractLimits.h"
#include "compiler/codegen/cpu/MicroKernel.h"
#include "compiler/codegen/cpu/Packing.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

/// So many k of each row are packed at a time where rows are not contiguous
/// along k: as many streams as prefetchers follow.
static constexpr int64_t kPackedTogether = 8; // an even number

void ContractStage::emitCacheBlocks(int64_t rows) {
  unsigned lead = form.laneDims.front();
  Value *lane = b.getInt64(0), *end = b.getInt64(form.laneCount());
  if (GridPart bound = e.kernel.parts(stage)[lead]; e.kernel.isCut(bound))
    lane = tile.origin[*bound.grid], end = tile.end[*bound.grid];
  const BlockedProduct &cut = *form.as<BlockedProduct>();
  int64_t count = llvm::divideCeil(rows, cut.rows);
  int64_t lanes = tiles ? std::min(cut.lanes, kTiledLanes) : cut.lanes;
  int64_t size = llvm::divideCeil(rows, count);
  bool wide = registers.perVector == 1;
  auto some = [&](Value *row, int64_t height) {
    emitLoop(b, lane, end, lanes, [&](Value *from) {
      Value *to = b.CreateBinaryIntrinsic(
          llvm::Intrinsic::smin, b.CreateAdd(from, b.getInt64(lanes)), end);
      if (tiles)
        emitTiledBlock({row, height, from, to, 2 * kTileRows, 2});
      else
        emitCacheBlock({row, height, from, to, wide ? 14 : 6, wide ? 2 : 1});
    });
  };
  emitLoop(b, b.getInt64(0), b.getInt64((count - 1) * size), size,
           [&](Value *row) { some(row, size); });
  some(b.getInt64((count - 1) * size), rows - (count - 1) * size);
}

void ContractStage::emitCacheBlock(const CacheBlock &block) {
  int64_t width = block.vectors * e.kernel.lanes();
  // Pairs take half of the room.
  int64_t depth = form.kBlock * (pairs ? 2 : 1);
  auto emitK = [&](Value *k, const KPart &part) {
    packRows(block, k, part.extent);
    Value *all = b.CreateSub(block.end, block.lane);
    Value *full = b.CreateSub(block.end, b.CreateURem(all, b.getInt64(width)));
    emitLoop(b, block.lane, full, width, [&](Value *lane) {
      emitPackedPanel(block, lane, width, k, part);
    });
    // Tiles are whole panels but for the last one.
    if (int64_t rest = form.laneCount() % width)
      emitIf(b, b.CreateICmpSLT(full, block.end),
             [&] { emitPackedPanel(block, full, rest, k, part); });
  };
  KPart part;
  part.blocked = true;
  part.pairs = pairs;
  part.rowStep = 1;
  part.sumStride = scratch.sumStride;
  forEachKBlock(form.kCount(), depth, part, emitK);
}

/// Copies rows to [block of rows][k][row of the block], without gaps.
void ContractStage::packRows(const CacheBlock &block, Value *k,
                             int64_t extent) {
  int64_t rowStep = form.scalar.coefficients[form.rowDim];
  int64_t kStep = form.scalar.coefficients[form.kDims[0]];
  Value *first = b.CreateAdd(tileOrigin(form.rowDim), block.row);
  Value *from = sidePointer(form.scalar, first, k);
  Value *to = scratchAt(scratch.rowsAt);
  auto pack = [&](Value *k, int64_t count) {
    Value *packed = pairs ? b.CreateLShr(k, 1) : k;
    block.forEachRowBlock(b, [&](Value *row, Value *, int64_t height) {
      Panel panel;
      panel.lanes = height;
      for (int64_t r = 0; r < height; ++r)
        panel.offsets.push_back(r * rowStep);
      panel.kSteps = {kStep};
      panel.rounds = form.scalar.rounds;
      Value *source =
          b.CreateGEP(element, from,
                      b.CreateAdd(b.CreateMul(row, b.getInt64(rowStep)),
                                  b.CreateMul(k, b.getInt64(kStep))));
      Value *destination = b.CreateGEP(
          element, to,
          b.CreateAdd(b.CreateMul(row, b.getInt64(packedCount(extent, pairs))),
                      b.CreateMul(packed, b.getInt64(height))));
      // What a whole vector writes too much is overwritten only where the next
      // k comes next.
      bool exact = !form.rowsAlongK() || height > e.kernel.lanes();
      emitPack(b, element, panel, {count}, source, destination,
               {height, e.kernel.lanes(), height, exact, pairs});
    });
  };
  if (form.rowsAlongK())
    return pack(b.getInt64(0), extent);
  int64_t full = extent / kPackedTogether * kPackedTogether;
  emitLoop(b, b.getInt64(0), b.getInt64(full), kPackedTogether,
           [&](Value *k) { pack(k, kPackedTogether); });
  if (full < extent)
    pack(b.getInt64(full), extent - full);
}

void ContractStage::emitPackedPanel(const CacheBlock &block, Value *lane,
                                    int64_t lanes, Value *k,
                                    const KPart &kPart) {
  KPart part = kPart;
  int64_t laneStep = form.lane.coefficients[form.laneDims.back()];
  int64_t kStep = form.lane.coefficients[form.kDims[0]];
  Value *origin = tileOrigin(form.laneDims.front());
  Value *source = sidePointer(form.lane, tileOrigin(form.rowDim), k);
  auto laneAt = [&](Value *flat) {
    return b.CreateMul(b.CreateSub(flat, origin), b.getInt64(laneStep));
  };
  int64_t width = block.vectors * e.kernel.lanes();
  Value *unpacked = b.CreateGEP(element, source, laneAt(lane));
  bool onTheWay = laneStep == 1 && lanes == width; // whole vectors
  if (!onTheWay)
    emitPack(b, element, panelAt(0, lanes), {part.extent}, unpacked,
             scratchAt(0), {width, e.kernel.lanes(), 0, false, pairs});

  // The panel after this one, or the first of the next k block.
  int64_t line = 64 / (element->getScalarSizeInBits() / 8);
  Value *following = b.CreateAdd(lane, b.getInt64(width));
  Value *next = b.CreateGEP(
      element, source,
      b.CreateSelect(
          b.CreateICmpSLT(following, block.end), laneAt(following),
          b.CreateAdd(laneAt(block.lane), b.getInt64(part.extent * kStep))));
  int64_t perCall = 0; // how much further on the next call begins, in elements
  if (laneStep == 1) {
    part.ahead.count = (part.extent + block.rows - 1) / block.rows;
    part.ahead.lines = width / line;
    part.ahead.stride = kStep;
    part.ahead.step = part.ahead.count * kStep;
  } else if (kStep == 1) {
    int64_t calls = block.numRowBlocks();
    part.ahead.count = (width + calls - 1) / calls;
    part.ahead.lines =
        (part.extent + block.low() * line - 1) / (block.low() * line);
    part.ahead.stride = laneStep;
    part.ahead.step = part.ahead.lines * line;
    perCall = part.ahead.count * laneStep;
  }

  auto emit = [&](Value *row, Value *number, int64_t height, bool packs) {
    part.scalarSteps = {height};
    part.packs = packs;
    Value *inBlock =
        b.CreateAdd(b.CreateMul(row, b.getInt64(scratch.sumStride)),
                    b.CreateSub(lane, block.lane));
    Value *progress = perCall ? b.CreateMul(number, b.getInt64(perCall))
                              : b.CreateMul(row, b.getInt64(part.ahead.step));
    Value *rows = b.CreateGEP(
        element, scratchAt(scratch.rowsAt),
        b.CreateMul(row, b.getInt64(packedCount(part.extent, pairs))));
    MicroArguments arguments =
        microArguments(rows, packs ? unpacked : scratchAt(0));
    arguments.row =
        b.CreateAdd(tileOrigin(form.rowDim), b.CreateAdd(block.row, row));
    arguments.lane = lane;
    arguments.sums = b.CreateGEP(element, scratchAt(scratch.sumsAt), inBlock);
    arguments.ahead = b.CreateGEP(element, next, progress);
    arguments.packed = scratchAt(0);
    arguments.call(
        b, microKernel(height, packs ? panelAt(0, lanes) : packedPanel(lanes),
                       part));
  };
  if (onTheWay)
    emit(b.getInt64(0), b.getInt64(0), block.firstHeight(), true);
  block.forEachRowBlock(
      b,
      [&](Value *row, Value *number, int64_t height) {
        emit(row, number, height, false);
      },
      onTheWay ? 1 : 0);
}

} // namespace dl::cpu
