// Convolutions of images whose channels lie next to one another, and their
// gradients: rows are pixels. Of the forward pass and of the input's gradient
// channels are the innermost k:
//   lanes of the filter are packed once for a tile, [panel][tap][channel][lane]
//   pairs are channels, so what the tile reads of the images is copied as bf16,
//   each pixel once for all taps; rows are read from that copy
// Of the weight's gradient pixels are k, and channels lie along both sides,
// which are packed for a block of k: pairs are two pixels of a row.

#include "compiler/codegen/cpu/ContractStage.h"
#include "compiler/codegen/cpu/Packing.h"
#include <functional>

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

/// Panels of one width for all rows: they are packed before.
RegisterTile ContractStage::pixelBlock(int64_t rows, int64_t lanes) const {
  RegisterTile block = RegisterTile::choose(form, form.rows(), lanes,
                                            e.kernel.lanes(), registers);
  block.rows = std::min<int64_t>(block.rows, rows);
  return block;
}

/// Channels of one tap after the other.
void ContractStage::packPixelLanes(int64_t lanes) {
  int64_t width = pixelBlock(form.rows(), lanes).vectors * e.kernel.lanes();
  ArrayRef<unsigned> taps = ArrayRef(form.kDims).drop_back();
  unsigned channel = form.kDims.back();
  int64_t channels = packedCount(form.extents[channel], pairs);
  auto packPanel = [&](Value *at, int64_t used) {
    Panel panel = panelAt(0, used);
    panel.kSteps = {form.lane.coefficients[channel]};
    int64_t tapSize = channels * int64_t(llvm::alignTo(used, e.kernel.lanes()));
    std::function<void(size_t, Value *, Value *)> packTaps =
        [&](size_t next, Value *from, Value *number) {
          if (next == taps.size()) {
            Value *to = b.CreateAdd(
                b.CreateMul(at, b.getInt64(packedCount(form.kCount(), pairs))),
                b.CreateMul(number, b.getInt64(tapSize)));
            emitPack(b, element, panel, {form.extents[channel]}, from,
                     b.CreateGEP(element, scratchAt(0), to),
                     {width, e.kernel.lanes(), 0, false, pairs});
            return;
          }
          int64_t extent = form.extents[taps[next]];
          int64_t step = form.lane.coefficients[taps[next]];
          emitLoop(b, b.getInt64(0), b.getInt64(extent), 1, [&](Value *tap) {
            packTaps(
                next + 1,
                b.CreateGEP(element, from, b.CreateMul(tap, b.getInt64(step))),
                b.CreateAdd(b.CreateMul(number, b.getInt64(extent)), tap));
          });
        };
    Value *first =
        sidePointer(form.lane, tileOrigin(form.rowDim), b.getInt64(0));
    int64_t laneStep = form.lane.coefficients[form.laneDims.front()];
    packTaps(0,
             b.CreateGEP(element, first, b.CreateMul(at, b.getInt64(laneStep))),
             b.getInt64(0));
  };
  int64_t full = lanes / width * width;
  emitLoop(b, b.getInt64(0), b.getInt64(full), width,
           [&](Value *at) { packPanel(at, width); });
  if (full < lanes)
    packPanel(b.getInt64(full), lanes - full);
}

/// From the tile's first pixel to its last one in the order of memory.
void ContractStage::packPixels() {
  SmallVector<AffineExpr> outside(dims);
  int64_t beyond = 1; // what k reach
  for (unsigned k : form.kDims)
    beyond += (form.extents[k] - 1) * form.scalar.coefficients[k];
  Value *count = b.getInt64(beyond);
  SmallVector<unsigned> cut(form.batchDims);
  cut.push_back(form.rowDim);
  for (unsigned d : cut) {
    GridPart bound = e.kernel.parts(stage)[d];
    Value *extent = b.getInt64(form.extents[d]);
    if (e.kernel.isCut(bound)) {
      dims[d] = e.tileOrigin[*bound.grid];
      extent = b.CreateSub(tile.end[*bound.grid], tile.origin[*bound.grid]);
    }
    count = b.CreateAdd(count,
                        b.CreateMul(b.CreateSub(extent, b.getInt64(1)),
                                    b.getInt64(form.scalar.coefficients[d])));
  }
  firstPixel = sidePointer(form.scalar, tileOrigin(form.rowDim), b.getInt64(0));
  dims = outside;

  int64_t width = e.kernel.lanes();
  auto *vector = llvm::FixedVectorType::get(element, width);
  auto *bits = llvm::FixedVectorType::get(b.getInt1Ty(), width);
  auto *halves = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * width);
  llvm::Align align(4); // of f32
  // The upper halves, the second of two neighbours first: see joinPairs.
  SmallVector<int> order;
  for (int64_t pair = 0; pair < width; ++pair)
    order.append({int(4 * pair + 3), int(4 * pair + 1)});
  Value *to = scratchAt(scratch.rowsAt);
  auto copy = [&](Value *at, Value *left) {
    auto load = [&](int64_t further) -> Value * {
      Value *from = b.CreateConstGEP1_64(
          element, b.CreateGEP(element, firstPixel, at), further);
      Value *content;
      if (left) {
        Value *all = b.CreateVectorSplat(width, left);
        SmallVector<llvm::Constant *> numbers;
        for (int64_t l = 0; l < width; ++l)
          numbers.push_back(b.getInt64(further + l));
        Value *inside =
            b.CreateICmpSLT(llvm::ConstantVector::get(numbers), all);
        content = b.CreateMaskedLoad(vector, from, align,
                                     b.CreateBitCast(inside, bits),
                                     llvm::Constant::getNullValue(vector));
      } else {
        content = b.CreateAlignedLoad(vector, from, align);
      }
      return b.CreateBitCast(content, halves);
    };
    Value *packed = b.CreateShuffleVector(load(0), load(width), order);
    b.CreateAlignedStore(b.CreateBitCast(packed, vector),
                         b.CreateGEP(element, to, b.CreateLShr(at, 1)), align);
  };
  Value *full = b.CreateAnd(count, b.getInt64(-2 * width));
  emitLoop(b, b.getInt64(0), full, 2 * width,
           [&](Value *at) { copy(at, nullptr); });
  emitIf(b, b.CreateICmpSLT(full, count),
         [&] { copy(full, b.CreateSub(count, full)); });
}

/// Where the copy has what begins there.
Value *ContractStage::packedPixel(Value *pixel) {
  Value *offset = b.CreatePtrDiff(element, pixel, firstPixel);
  return b.CreateGEP(element, scratchAt(scratch.rowsAt),
                     b.CreateLShr(offset, 1));
}

/// Both sides of a k block: rows as [k][row], panels of lanes as always.
void ContractStage::packPixelSums(int64_t rows, int64_t lanes, int64_t width,
                                  ArrayRef<int64_t> extents, Value *k,
                                  KPart &part) {
  SmallVector<int64_t> counts(extents); // packed ones
  counts.back() = packedCount(counts.back(), pairs);
  // Row by row of pixels, `pixelSize` elements from one to the next.
  auto pack = [&](const ContractForm::Side &side, Panel panel, Value *from,
                  Value *to, int64_t pixelSize, PanelLayout layout) {
    panel.kSteps = {side.coefficients[form.kDims.back()]};
    std::function<void(size_t, Value *, Value *)> packAll = [&](size_t next,
                                                                Value *from,
                                                                Value *number) {
      if (next + 1 == extents.size()) {
        Value *at = b.CreateMul(number, b.getInt64(counts.back() * pixelSize));
        emitPack(b, element, panel, {extents.back()}, from,
                 b.CreateGEP(element, to, at), layout);
        return;
      }
      int64_t step = side.coefficients[form.kDims[next]];
      emitLoop(b, b.getInt64(0), b.getInt64(extents[next]), 1, [&](Value *at) {
        Value *row = b.CreateMul(at, b.getInt64(step));
        Value *all = b.CreateMul(number, b.getInt64(extents[next]));
        packAll(next + 1, b.CreateGEP(element, from, row),
                b.CreateAdd(all, at));
      });
    };
    packAll(0, from, b.getInt64(0));
  };
  // (Micro-kernels of all heights have the same steps.)
  int64_t stride = form.tileRows(e.kernel);
  Panel row;
  row.lanes = rows;
  for (int64_t r = 0; r < rows; ++r)
    row.offsets.push_back(r);
  pack(form.scalar, row, sidePointer(form.scalar, tileOrigin(form.rowDim), k),
       scratchAt(scratch.rowsAt), stride,
       {rows, e.kernel.lanes(), stride, true, pairs});
  part.rowStep = 1;
  int64_t step = stride, count = 1;
  for (size_t d = extents.size(); d-- > 0;) {
    part.scalarSteps[d] = step;
    step *= counts[d], count *= counts[d];
  }
  Value *first = sidePointer(form.lane, tileOrigin(form.rowDim), k);
  for (int64_t at = 0; at < lanes; at += width) {
    int64_t used = std::min(width, lanes - at);
    Value *from = b.CreateConstGEP1_64(element, first, form.laneOffset(at));
    Value *to = b.CreateConstGEP1_64(element, scratchAt(0), at * count);
    pack(form.lane, panelAt(at, used), from, to,
         llvm::alignTo(used, e.kernel.lanes()),
         {width, e.kernel.lanes(), 0, false, pairs});
  }
}

} // namespace dl::cpu
