// Products of bf16 with several k, of which the outermost are channels of
// images and the others taps of a filter, on the tiles of AMX (see
// AmxBlocks.cpp), without a copy for each tap.
//
//   result[row, pixel, image] += rows[row, channel, tap] *
//                                lanes[channel, pixel + tap, image]
//
// For a tile of the kernel its rows are packed as [16 rows][32 channels][tap]
// [row][channel], and of each pair of channels a window into their planes: all
// that the tile's lanes reach by any tap. A tile of lanes is 16 pairs of
// channels of that, at one tap; near a border fewer taps count.

#include "compiler/codegen/cpu/AmxTiles.h"
#include "compiler/codegen/cpu/ContractStage.h"
#include "compiler/codegen/cpu/MicroKernel.h"
#include "compiler/codegen/cpu/Packing.h"
#include <functional>

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

/// A row becomes [pair][tap] first, and 16 pairs are gathered for each tap.
void ContractStage::packTapRows() {
  Panel inner = rowPanel();
  int64_t channels = form.extents[form.kDims.front()], taps = inner.lanes;
  int64_t tileRow = channels / kTileK * taps * kTile;
  auto *type = llvm::FixedVectorType::get(element, kTileRows);
  SmallVector<llvm::Constant *> apart;
  for (int64_t p = 0; p < kTileRows; ++p)
    apart.push_back(b.getInt64(p * taps));
  Value *offsets = llvm::ConstantVector::get(apart);
  Value *all = llvm::Constant::getAllOnesValue(
      llvm::FixedVectorType::get(b.getInt1Ty(), kTileRows));
  Value *first = tileOrigin(form.rowDim), *end = rowEnd();
  Value *pairs = scratchAt(scratch.transposedAt);
  llvm::Align align(4); // of f32
  emitLoop(b, b.getInt64(0), b.CreateSub(end, first), 1, [&](Value *row) {
    emitPack(b, element, inner, {channels},
             sidePointer(form.scalar, b.CreateAdd(first, row), b.getInt64(0)),
             pairs, {taps, e.kernel.lanes(), taps, true, true});
    Value *place =
        b.CreateAdd(b.CreateMul(b.CreateUDiv(row, b.getInt64(kTileRows)),
                                b.getInt64(tileRow)),
                    b.CreateMul(b.CreateURem(row, b.getInt64(kTileRows)),
                                b.getInt64(kTileRows)));
    Value *to = b.CreateGEP(element, scratchAt(scratch.rowsAt), place);
    emitLoop(b, b.getInt64(0), b.getInt64(channels / kTileK), 1,
             [&](Value *block) {
               emitLoop(b, b.getInt64(0), b.getInt64(taps), 1, [&](Value *tap) {
                 Value *from = b.CreateAdd(
                     b.CreateMul(block, b.getInt64(kTileRows * taps)), tap);
                 Value *content = b.CreateMaskedGather(
                     type,
                     b.CreateGEP(element, b.CreateGEP(element, pairs, from),
                                 offsets),
                     align, all, llvm::Constant::getNullValue(type));
                 Value *number =
                     b.CreateAdd(b.CreateMul(block, b.getInt64(taps)), tap);
                 b.CreateAlignedStore(
                     content,
                     b.CreateGEP(element, to,
                                 b.CreateMul(number, b.getInt64(kTile))),
                     align);
               });
             });
  });
}

/// Where the window of the tile begins or ends, in elements of a plane.
Value *ContractStage::windowEdge(bool end) {
  int64_t constant = form.lane.constant;
  for (unsigned k : ArrayRef(form.kDims).drop_front()) {
    int64_t reach = form.lane.coefficients[k] * (form.extents[k] - 1);
    constant += end ? std::max<int64_t>(reach, 0) : std::min<int64_t>(reach, 0);
  }
  Value *edge = b.getInt64(constant + end);
  for (unsigned d :
       llvm::concat<const unsigned>(form.batchDims, form.laneDims)) {
    int64_t step = form.lane.coefficients[d];
    GridPart bound = e.kernel.parts(stage)[d];
    bool cut = e.kernel.isCut(bound);
    Value *at = cut ? tile.origin[*bound.grid] : b.getInt64(0);
    if (end == (step > 0))
      at =
          b.CreateSub(cut ? tile.end[*bound.grid] : b.getInt64(form.extents[d]),
                      b.getInt64(1));
    edge = b.CreateAdd(edge, b.CreateMul(at, b.getInt64(step)));
  }
  Value *plane = b.getInt64(form.lane.coefficients[form.kDims.front()]);
  edge = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, edge, b.getInt64(0));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, edge, plane);
}

void ContractStage::packPlanes() {
  windowFrom = windowEdge(false);
  Value *window = b.CreateSub(windowEdge(true), windowFrom);
  int64_t plane = form.lane.coefficients[form.kDims.front()];
  int64_t channels = form.extents[form.kDims.front()];
  int64_t stride = form.planeStride(e.kernel);
  auto *type = llvm::FixedVectorType::get(element, kTileRows);
  llvm::Align align(4); // of f32
  Value *from = b.CreateGEP(
      element, e.elementPointer(form.lane.leaf, b.getInt64(0)), windowFrom);
  emitLoop(b, b.getInt64(0), b.getInt64(channels / 2), 1, [&](Value *pair) {
    Value *first =
        b.CreateGEP(element, from, b.CreateMul(pair, b.getInt64(2 * plane)));
    Value *to = b.CreateGEP(element, scratchAt(0),
                            b.CreateMul(pair, b.getInt64(stride)));
    emitLoop(b, b.getInt64(0), window, kTileRows, [&](Value *at) {
      Value *early = b.CreateGEP(element, first, at);
      Value *late = b.CreateConstGEP1_64(element, early, plane);
      b.CreateAlignedStore(joinPairs(b, b.CreateAlignedLoad(type, early, align),
                                     b.CreateAlignedLoad(type, late, align)),
                           b.CreateGEP(element, to, at), align);
    });
  });
}

/// At the current indices of the batch.
void ContractStage::emitTapTile(int64_t rows, int64_t lanes) {
  int64_t channels = form.extents[form.kDims.front()];
  int64_t taps = form.innerKCount();
  unsigned lead = form.laneDims.front();
  int64_t inner = form.laneCount() / form.extents[lead];
  Value *firstLane = b.CreateMul(tileOrigin(lead), b.getInt64(inner));
  Value *at = b.CreateAdd(
      b.CreateMul(tileOrigin(lead), b.getInt64(form.lane.coefficients[lead])),
      b.CreateSub(b.getInt64(form.lane.constant), windowFrom));
  for (unsigned d : form.batchDims)
    at = b.CreateAdd(at, b.CreateMul(e.scope.scalar(dims[d]),
                                     b.getInt64(form.lane.coefficients[d])));
  for (auto [border, low] : llvm::zip(form.borders, clippedFrom))
    at = b.CreateAdd(
        at, b.CreateMul(low, b.getInt64(form.lane.coefficients[border.k])));
  Value *lanesAt = b.CreateGEP(element, scratchAt(0), at);
  Value *rowsAt = b.CreateGEP(element, scratchAt(scratch.rowsAt),
                              b.CreateMul(firstPackedK(), b.getInt64(kTile)));
  KPart part;
  part.sumStride = scratch.sumStride;
  // `offset`: of the lane, from the first one
  auto emit = [&](Value *row, int64_t height, Value *lane, Value *offset,
                  int64_t width) {
    Value *rowTile = b.CreateMul(
        row, b.getInt64(channels / kTileK * taps * kTile / kTileRows));
    Value *sumsAt = scratchAt(scratch.sumsAt);
    b.CreateCall(
        tapKernel(llvm::divideCeil(height, kTileRows), width / kTileRows),
        {b.CreateGEP(element, rowsAt, rowTile),
         b.CreateGEP(element, lanesAt, offset), sumsAt, frame});
    finishRows(b.CreateAdd(tileOrigin(form.rowDim), row), height, sumsAt, part,
               [&](auto finish) {
                 finish(b.CreateAdd(firstLane, lane), b.getInt64(0), width);
               });
  };
  int64_t width = form.tapPanel(), whole = lanes / width * width;
  auto alongLanes = [&](Value *row, int64_t height) {
    emitLoop(b, b.getInt64(0), b.getInt64(whole), width, [&](Value *lane) {
      emit(row, height, lane, laneOffset(lane), width);
    });
    if (whole < lanes)
      emit(row, height, b.getInt64(whole), b.getInt64(form.laneOffset(whole)),
           lanes - whole);
  };
  constexpr int64_t height = 2 * kTileRows;
  int64_t full = rows / height * height;
  emitLoop(b, b.getInt64(0), b.getInt64(full), height,
           [&](Value *row) { alongLanes(row, height); });
  if (full < rows)
    alongLanes(b.getInt64(full), rows - full);
}

/// ContractForm::laneOffset, of a lane that is not known.
Value *ContractStage::laneOffset(Value *lane) {
  Value *offset = b.getInt64(0);
  for (size_t i = form.laneDims.size(); i-- > 0;) {
    unsigned d = form.laneDims[i];
    Value *extent = b.getInt64(form.extents[d]);
    Value *index = i == 0 ? lane : b.CreateURem(lane, extent);
    offset = b.CreateAdd(
        offset, b.CreateMul(index, b.getInt64(form.lane.coefficients[d])));
    if (i != 0)
      lane = b.CreateUDiv(lane, extent);
  }
  return offset;
}

/// void(rows, lanes, sums, frame), from the first tap on that counts.
llvm::Function *ContractStage::tapKernel(int64_t high, int64_t wide) {
  bool clipped = !clippedFrom.empty();
  std::string name = prefix + ".taps";
  for (int64_t part : {high, wide, int64_t(clipped)})
    name += "." + std::to_string(part);
  return sharedFunction(b, name, 4, [&](llvm::Function *function) {
    int64_t channels = form.extents[form.kDims.front()];
    int64_t taps = form.innerKCount();
    int64_t stride = form.planeStride(e.kernel);
    auto steps = packedSteps(form);
    SumTiles sums(b, high, wide, scratch.sumStride);
    sums.zero();
    auto moved = [&](Value *from, Value *count, int64_t step) {
      return b.CreateGEP(element, from, b.CreateMul(count, b.getInt64(step)));
    };
    std::function<void(size_t, Value *, Value *)> add = [&](size_t next,
                                                            Value *rows,
                                                            Value *lanes) {
      if (next == form.kDims.size())
        return sums.multiply(rows, channels / kTileK * taps * kTile, lanes,
                             kTileRows, stride);
      unsigned k = form.kDims[next];
      Value *count = b.getInt64(form.extents[k]);
      if (clipped && llvm::any_of(form.borders,
                                  [&](auto &border) { return border.k == k; }))
        count = b.CreateLoad(
            b.getInt64Ty(),
            b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), function->getArg(3),
                                         e.kernel.grid().size() + k));
      emitLoop(b, b.getInt64(0), count, 1, [&](Value *number) {
        add(next + 1, moved(rows, number, steps[next] * kTile),
            moved(lanes, number, form.lane.coefficients[k]));
      });
    };
    emitLoop(b, b.getInt64(0), b.getInt64(channels / kTileK), 1,
             [&](Value *block) {
               add(1, moved(function->getArg(0), block, taps * kTile),
                   moved(function->getArg(1), block, kTileRows * stride));
             });
    sums.store(function->getArg(2));
  });
}

} // namespace dl::cpu
