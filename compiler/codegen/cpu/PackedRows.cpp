// Rows of a product that are packed as pairs, once for a tile or for a block of
// k, and where a micro-kernel finds its first one.

#include "compiler/codegen/cpu/ContractStage.h"
#include "compiler/codegen/cpu/Packing.h"
#include <functional>

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

SmallVector<int64_t> packedSteps(const ContractForm &form) {
  SmallVector<int64_t> steps(form.kDims.size());
  int64_t step = 1;
  for (size_t k = steps.size(); k-- > 0;) {
    steps[k] = step;
    step *= form.extents[form.kDims[k]];
  }
  return steps;
}

/// Of a row: its lanes are the other k, its k the outermost one.
Panel ContractStage::rowPanel() const {
  Panel inner;
  inner.lanes = form.innerKCount();
  for (int64_t flat = 0; flat < inner.lanes; ++flat) {
    int64_t rest = flat, offset = 0;
    for (unsigned k : llvm::reverse(ArrayRef(form.kDims).drop_front())) {
      offset += rest % form.extents[k] * form.scalar.coefficients[k];
      rest /= form.extents[k];
    }
    inner.offsets.push_back(offset);
  }
  unsigned outer = form.kDims.front();
  inner.kSteps = {form.scalar.coefficients[outer]};
  return inner;
}

void ContractStage::packTileRows() {
  Panel inner = rowPanel();
  Value *first = tileOrigin(form.rowDim), *end = rowEnd();
  emitLoop(b, b.getInt64(0), b.CreateSub(end, first), 1, [&](Value *row) {
    emitPack(b, element, inner, {form.extents[form.kDims.front()]},
             sidePointer(form.scalar, b.CreateAdd(first, row), b.getInt64(0)),
             packedRow(row, b.getInt64(0)),
             {inner.lanes, e.kernel.lanes(), inner.lanes, true, true});
  });
}

/// Of a packed row, the first k that counts.
Value *ContractStage::firstPackedK() {
  Value *first = b.getInt64(0);
  auto steps = packedSteps(form);
  for (auto [border, low] : llvm::zip(form.borders, clippedFrom)) {
    size_t number = llvm::find(form.kDims, border.k) - form.kDims.begin();
    first = b.CreateAdd(first, b.CreateMul(low, b.getInt64(steps[number])));
  }
  return first;
}

/// From a k of the outermost dim on, an even one.
Value *ContractStage::packedRow(Value *relative, Value *k) {
  Value *at = b.CreateAdd(b.CreateMul(relative, b.getInt64(form.kCount() / 2)),
                          firstPackedK());
  at = b.CreateAdd(
      at, b.CreateMul(b.CreateLShr(k, 1), b.getInt64(form.innerKCount())));
  return b.CreateGEP(element, scratchAt(scratch.rowsAt), at);
}

/// All rows of a k block, in the order of k: each vector along the innermost
/// dim and the next one.
void ContractStage::pairRows(int64_t rows, ArrayRef<int64_t> extents, Value *k,
                             const KPart &part) {
  int64_t width = e.kernel.lanes();
  auto *vector = llvm::FixedVectorType::get(element, width);
  llvm::Align align(4); // of f32
  std::function<void(size_t, Value *, Value *)> copy = [&](size_t next,
                                                           Value *from,
                                                           Value *to) {
    bool innermost = next + 1 == extents.size();
    int64_t step = innermost ? 2 * width : 1;
    int64_t apart = form.scalar.coefficients[form.kDims[next]];
    emitLoop(b, b.getInt64(0), b.getInt64(extents[next]), step, [&](Value *at) {
      Value *source =
          b.CreateGEP(element, from, b.CreateMul(at, b.getInt64(apart)));
      if (!innermost)
        return copy(
            next + 1, source,
            b.CreateGEP(element, to,
                        b.CreateMul(at, b.getInt64(part.scalarSteps[next]))));
      Value *first = b.CreateAlignedLoad(vector, source, align);
      Value *second = b.CreateAlignedLoad(
          vector, b.CreateConstGEP1_64(element, source, width), align);
      b.CreateAlignedStore(joinPairs(b, first, second),
                           b.CreateGEP(element, to, b.CreateLShr(at, 1)),
                           align);
    });
  };
  emitLoop(b, b.getInt64(0), b.getInt64(rows), 1, [&](Value *row) {
    copy(0,
         sidePointer(form.scalar, b.CreateAdd(tileOrigin(form.rowDim), row), k),
         pairedRow(row, part));
  });
}

Value *ContractStage::pairedRow(Value *relative, const KPart &part) {
  return b.CreateGEP(element, scratchAt(scratch.rowsAt),
                     b.CreateMul(relative, b.getInt64(part.rowStep)));
}

/// A row of the tile from this k of the outermost dim on.
Value *ContractStage::rowAt(Value *relative, Value *row, Value *k,
                            const KPart &part) {
  if (part.rowsArePairs)
    return pairedRow(relative, part);
  if (form.sumsPixels && form.hasBf16)
    return b.CreateGEP(element, scratchAt(scratch.rowsAt), relative);
  if (pairs && form.pairsOuterK)
    return packedRow(relative, k);
  Value *unpacked = sidePointer(form.scalar, row, k);
  return pairs && form.hasPixelRows ? packedPixel(unpacked) : unpacked;
}

} // namespace dl::cpu
