// Products of bf16 whose operands both lie along k, and whose lanes are
// channels and taps of a filter, on the tiles of AMX (see AmxBlocks.cpp): the
// gradients of a convolution's weights.
//
//   result[row, channel, tap] += rows[row, pixel, image] *
//                                lanes[channel, pixel + tap, image]
//
// Of a block of k a window is packed, for 16 rows or channels at a time: 32
// images of a place are a tile, of channels transposed. Then each tap reads the
// tiles of lanes at places of its own. Sums wait as [tap][row][channel].

#include "compiler/codegen/cpu/AmxTiles.h"
#include "compiler/codegen/cpu/ContractStage.h"
#include "compiler/codegen/cpu/MicroKernel.h"
#include "compiler/codegen/cpu/Packing.h"
#include <functional>

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

/// Both are of one tile of rows or channels, in tiles.
struct ContractStage::DotWindows {
  int64_t rows, lanes;
};

/// What `extent` of the outermost k reach in an operand, in tiles.
static int64_t windowOf(const ContractForm &form,
                        const ContractForm::Side &side, int64_t extent) {
  int64_t elements = 1;
  for (unsigned k : form.kDims)
    elements += side.coefficients[k] *
                ((k == form.kDims.front() ? extent : form.extents[k]) - 1);
  for (unsigned d : ArrayRef(form.laneDims).drop_front())
    elements += side.coefficients[d] * (form.extents[d] - 1);
  return llvm::divideCeil(elements, kTileK);
}

int64_t ContractForm::dotDepth(const TiledKernel &kernel) const {
  int64_t channels = tileExtent(kernel, laneDims.front());
  int64_t depth = extents[kDims.front()];
  auto bytes = [&] {
    return 2 * kTileK *
           (windowOf(*this, scalar, depth) * tileRows(kernel) +
            windowOf(*this, lane, depth) * channels);
  };
  while (depth > 1 && bytes() > kDotWindowBytes)
    --depth;
  return depth;
}

ContractScratch ContractForm::dotScratch(const TiledKernel &kernel) const {
  int64_t rows = llvm::alignTo(tileRows(kernel), kTileRows);
  int64_t channels =
      llvm::alignTo(tileExtent(kernel, laneDims.front()), kTileRows);
  int64_t taps = laneCount() / extents[laneDims.front()];
  int64_t depth = dotDepth(kernel);
  auto align = [](int64_t elements) { return llvm::alignTo(4 * elements, 64); };
  ContractScratch scratch;
  scratch.sumStride = channels;
  scratch.rowsAt = align(windowOf(*this, lane, depth) * channels * kTileRows);
  scratch.sumsAt =
      scratch.rowsAt + align(windowOf(*this, scalar, depth) * rows * kTileRows);
  scratch.transposedAt = scratch.sumsAt + align(taps * rows * channels);
  scratch.bytes = scratch.transposedAt + align(rows * channels * taps + 16);
  return scratch;
}

/// So many windows of neighbours along the rows or the channels.
void ContractStage::packWindow(const ContractForm::Side &side, unsigned dim,
                               int64_t count, int64_t tiles, Value *from,
                               Value *to, bool transposes) {
  int64_t step = side.coefficients[dim];
  auto *type = llvm::FixedVectorType::get(element, kTileRows);
  llvm::Align align(4); // of f32
  auto emit = [&](Value *block, int64_t valid) {
    std::string name =
        prefix + (transposes ? ".lanes" : ".rows") + std::to_string(valid);
    emitLoop(b, b.getInt64(0), b.getInt64(tiles), 1, [&](Value *tile) {
      llvm::Function *function =
          sharedFunction(b, name, 2, [&](llvm::Function *function) {
            SmallVector<Value *> square;
            for (int64_t r = 0; r < kTileRows; ++r) {
              Value *at =
                  b.CreateConstGEP1_64(element, function->getArg(0), r * step);
              auto load = [&](int64_t offset) -> Value * {
                if (r >= valid)
                  return llvm::Constant::getNullValue(type);
                return b.CreateAlignedLoad(
                    type, b.CreateConstGEP1_64(element, at, offset), align);
              };
              square.push_back(neighboursAsPairs(b, load(0), load(kTileRows)));
            }
            if (transposes)
              transposeTile(b, square);
            storeTile(b, square, function->getArg(1));
          });
      Value *source =
          b.CreateAdd(b.CreateMul(block, b.getInt64(kTileRows * step)),
                      b.CreateMul(tile, b.getInt64(kTileK)));
      Value *number = b.CreateAdd(b.CreateMul(block, b.getInt64(tiles)), tile);
      b.CreateCall(
          function,
          {b.CreateGEP(element, from, source),
           b.CreateGEP(element, to, b.CreateMul(number, b.getInt64(kTile)))});
    });
  };
  int64_t full = count / kTileRows, rest = count % kTileRows;
  emitLoop(b, b.getInt64(0), b.getInt64(full), 1,
           [&](Value *block) { emit(block, kTileRows); });
  if (rest)
    emit(b.getInt64(full), rest);
}

void ContractStage::emitDotTile(int64_t rows, int64_t lanes) {
  unsigned lead = form.laneDims.front();
  int64_t taps = form.laneCount() / form.extents[lead], channels = lanes / taps;
  KPart all;
  all.sumStride = scratch.sumStride;
  forEachKBlock(form.extents[form.kDims.front()], form.dotDepth(e.kernel), all,
                [&](Value *k, const KPart &part) {
                  DotWindows windows{windowOf(form, form.scalar, part.extent),
                                     windowOf(form, form.lane, part.extent)};
                  Value *first = tileOrigin(form.rowDim);
                  packWindow(form.scalar, form.rowDim, rows, windows.rows,
                             sidePointer(form.scalar, first, k),
                             scratchAt(scratch.rowsAt), false);
                  packWindow(form.lane, lead, channels, windows.lanes,
                             sidePointer(form.lane, first, k), scratchAt(0),
                             true);
                  multiplyDots(rows, channels, windows, part);
                });
  finishDots(rows, channels);
}

/// Elements of waiting sums from one tap to the next.
int64_t ContractStage::dotSums(int64_t rows) const {
  return llvm::alignTo(rows, kTileRows) * scratch.sumStride;
}

void ContractStage::multiplyDots(int64_t rows, int64_t channels,
                                 const DotWindows &windows, const KPart &part) {
  constexpr int64_t side = 2 * kTileRows;
  // For each tap: its number, and where it begins in a window of lanes.
  std::function<void(size_t, Value *, Value *)> forTaps = [&](size_t next,
                                                              Value *number,
                                                              Value *place) {
    if (next < form.laneDims.size()) {
      unsigned d = form.laneDims[next];
      emitLoop(
          b, b.getInt64(0), b.getInt64(form.extents[d]), 1, [&](Value *tap) {
            forTaps(next + 1,
                    b.CreateAdd(
                        b.CreateMul(number, b.getInt64(form.extents[d])), tap),
                    b.CreateAdd(
                        place,
                        b.CreateMul(tap, b.getInt64(form.lane.coefficients[d] /
                                                    kTileK))));
          });
      return;
    }
    Value *sums = b.CreateGEP(element, scratchAt(scratch.sumsAt),
                              b.CreateMul(number, b.getInt64(dotSums(rows))));
    for (int64_t row = 0; row < rows; row += side)
      for (int64_t channel = 0; channel < channels; channel += side) {
        int64_t high = llvm::divideCeil(std::min(side, rows - row), kTileRows);
        int64_t wide =
            llvm::divideCeil(std::min(side, channels - channel), kTileRows);
        Value *lanesAt = b.CreateGEP(
            element, scratchAt(0),
            b.CreateMul(b.CreateAdd(place, b.getInt64(channel / kTileRows *
                                                      windows.lanes)),
                        b.getInt64(kTile)));
        b.CreateCall(
            dotKernel(high, wide, windows, part),
            {b.CreateConstGEP1_64(element, scratchAt(scratch.rowsAt),
                                  row / kTileRows * windows.rows * kTile),
             lanesAt,
             b.CreateConstGEP1_64(element, sums,
                                  row * scratch.sumStride + channel)});
      }
  };
  forTaps(1, b.getInt64(0), b.getInt64(0));
}

/// void(rows, lanes, sums)
llvm::Function *ContractStage::dotKernel(int64_t high, int64_t wide,
                                         const DotWindows &windows,
                                         const KPart &part) {
  std::string name = prefix + ".dots";
  for (int64_t number : {high, wide, part.extent, int64_t(part.first)})
    name += "." + std::to_string(number);
  return sharedFunction(b, name, 3, [&](llvm::Function *function) {
    SumTiles sums(b, high, wide, scratch.sumStride);
    if (part.first)
      sums.zero();
    else
      sums.load(function->getArg(2));
    std::function<void(size_t, Value *, Value *)> add = [&](size_t next,
                                                            Value *rows,
                                                            Value *lanes) {
      if (next == form.kDims.size())
        return sums.multiply(rows, windows.rows * kTile, lanes,
                             windows.lanes * kTile, kTileRows);
      unsigned k = form.kDims[next];
      bool innermost = next + 1 == form.kDims.size();
      int64_t count = next == 0 ? part.extent : form.extents[k];
      auto moved = [&](Value *from, Value *number, int64_t step) {
        int64_t tiles = innermost ? 1 : step / kTileK;
        return b.CreateGEP(element, from,
                           b.CreateMul(number, b.getInt64(tiles * kTile)));
      };
      emitLoop(b, b.getInt64(0), b.getInt64(innermost ? count / kTileK : count),
               1, [&](Value *number) {
                 add(next + 1, moved(rows, number, form.scalar.coefficients[k]),
                     moved(lanes, number, form.lane.coefficients[k]));
               });
    };
    add(0, function->getArg(0), function->getArg(1));
    sums.store(function->getArg(2));
  });
}

/// From [tap][row][channel] to rows of [channel][tap], and to the result.
void ContractStage::finishDots(int64_t rows, int64_t channels) {
  unsigned lead = form.laneDims.front();
  int64_t taps = form.laneCount() / form.extents[lead];
  int64_t lanes = channels * taps, stride = llvm::alignTo(lanes, kTileRows);
  auto *type = llvm::FixedVectorType::get(element, kTileRows);
  llvm::Align align(4); // of f32
  Value *flat = scratchAt(scratch.transposedAt);
  SmallVector<llvm::Constant *> apart;
  for (int64_t c = 0; c < kTileRows; ++c)
    apart.push_back(b.getInt64(c * taps));
  emitLoop(b, b.getInt64(0), b.getInt64(rows), 1, [&](Value *row) {
    emitLoop(b, b.getInt64(0), b.getInt64(taps), 1, [&](Value *tap) {
      Value *from =
          b.CreateAdd(b.CreateMul(tap, b.getInt64(dotSums(rows))),
                      b.CreateMul(row, b.getInt64(scratch.sumStride)));
      Value *to = b.CreateAdd(b.CreateMul(row, b.getInt64(stride)), tap);
      for (int64_t c = 0; c < channels; c += kTileRows) {
        Value *content = b.CreateAlignedLoad(
            type,
            b.CreateConstGEP1_64(
                element, b.CreateGEP(element, scratchAt(scratch.sumsAt), from),
                c),
            align);
        Value *places =
            b.CreateGEP(element,
                        b.CreateConstGEP1_64(
                            element, b.CreateGEP(element, flat, to), c * taps),
                        llvm::ConstantVector::get(apart));
        b.CreateMaskedScatter(content, places, align,
                              firstLanes(b, kTileRows, channels - c));
      }
    });
  });
  KPart part;
  part.sumStride = stride;
  Value *firstLane = b.CreateMul(tileOrigin(lead), b.getInt64(taps));
  constexpr int64_t width = 2 * kTileRows;
  finishRows(tileOrigin(form.rowDim), rows, flat, part, [&](auto finish) {
    int64_t whole = lanes / width * width;
    emitLoop(b, b.getInt64(0), b.getInt64(whole), width, [&](Value *lane) {
      finish(b.CreateAdd(firstLane, lane), lane, width);
    });
    if (whole < lanes)
      finish(b.CreateAdd(firstLane, b.getInt64(whole)), b.getInt64(whole),
             lanes - whole);
  });
}

} // namespace dl::cpu
