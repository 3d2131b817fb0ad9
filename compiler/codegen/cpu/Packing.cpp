#include "compiler/codegen/cpu/Packing.h"

using namespace mlir;

namespace dl::codegen {

using llvm::Value;

namespace {
class Packer {
public:
  Packer(llvm::IRBuilder<> &b, llvm::Type *element, unsigned lanes,
         const Panel &panel, ArrayRef<int64_t> extents, int64_t width)
      : b(b), element(element), lanes(lanes), panel(panel), extents(extents),
        width(width), type(llvm::FixedVectorType::get(element, lanes)),
        align(element->getScalarSizeInBits() / 8) {}

  void copy(size_t next, Value *source, Value *to);
  void transpose(Value *source, Value *to);

private:
  void copyVector(int64_t first, Value *source, Value *to);
  void transposeSquares(Value *k, int64_t valid, Value *source, Value *to);
  llvm::Constant *mask(int64_t count) const;
  Value *at(Value *pointer, int64_t elements) {
    return b.CreateConstGEP1_64(element, pointer, elements);
  }

  llvm::IRBuilder<> &b;
  llvm::Type *element;
  int64_t lanes;
  const Panel &panel;
  ArrayRef<int64_t> extents;
  int64_t width;
  llvm::FixedVectorType *type;
  llvm::Align align;
};
} // namespace

llvm::Constant *Packer::mask(int64_t count) const {
  SmallVector<llvm::Constant *> bits;
  for (int64_t l = 0; l < lanes; ++l)
    bits.push_back(b.getInt1(l < count));
  return llvm::ConstantVector::get(bits);
}

void Packer::copy(size_t next, Value *source, Value *to) {
  if (next == extents.size()) {
    for (int64_t first = 0; first < width; first += lanes)
      copyVector(first, source, to);
    return;
  }
  int64_t below = width;
  for (int64_t extent : extents.drop_front(next + 1))
    below *= extent;
  emitLoop(b, b.getInt64(0), b.getInt64(extents[next]), 1, [&](Value *i) {
    Value *from = b.CreateGEP(element, source,
                              b.CreateMul(i, b.getInt64(panel.kSteps[next])));
    copy(next + 1, from,
         b.CreateGEP(element, to, b.CreateMul(i, b.getInt64(below))));
  });
}

void Packer::copyVector(int64_t first, Value *source, Value *to) {
  int64_t count = std::clamp<int64_t>(panel.lanes - first, 0, lanes);
  Value *zero = llvm::Constant::getNullValue(type), *content = zero;
  bool contiguous = true;
  SmallVector<llvm::Constant *> offsets(lanes, b.getInt64(0));
  for (int64_t l = 0; l < count; ++l) {
    offsets[l] = b.getInt64(panel.offsets[first + l]);
    contiguous &= panel.offsets[first + l] == panel.offsets[first] + l;
  }
  if (count > 0 && contiguous)
    content = b.CreateMaskedLoad(type, at(source, panel.offsets[first]), align,
                                 mask(count), zero);
  else if (count > 0)
    content = b.CreateMaskedGather(
        type, b.CreateGEP(element, source, llvm::ConstantVector::get(offsets)),
        align, mask(count), zero);
  b.CreateAlignedStore(content, at(to, first), align);
}

/// W vectors along k become W vectors along the lanes.
void Packer::transpose(Value *source, Value *to) {
  int64_t full = extents[0] / lanes * lanes;
  emitLoop(b, b.getInt64(0), b.getInt64(full), lanes,
           [&](Value *k) { transposeSquares(k, lanes, source, to); });
  if (full < extents[0])
    transposeSquares(b.getInt64(full), extents[0] - full, source, to);
}

void Packer::transposeSquares(Value *k, int64_t valid, Value *source, Value *to) {
  Value *zero = llvm::Constant::getNullValue(type);
  Value *from = b.CreateGEP(element, source, k);
  SmallVector<int> low, high;
  for (int64_t l = 0; l < lanes / 2; ++l) {
    low.append({int(l), int(l + lanes)});
    high.append({int(l + lanes / 2), int(l + lanes + lanes / 2)});
  }
  auto square = [&](ArrayRef<int64_t> offsets, Value *out) {
    SmallVector<Value *> rows(lanes, zero);
    for (auto [l, offset] : llvm::enumerate(offsets)) {
      if (valid == lanes)
        rows[l] = b.CreateAlignedLoad(type, at(from, offset), align);
      else
        rows[l] = b.CreateMaskedLoad(type, at(from, offset), align, mask(valid),
                                     zero);
    }
    // log2(W) rounds of perfect shuffles transpose a W x W square.
    for (int64_t round = 1; round < lanes; round *= 2) {
      SmallVector<Value *> next(lanes);
      for (int64_t i = 0; i < lanes / 2; ++i) {
        next[2 * i] = b.CreateShuffleVector(rows[i], rows[i + lanes / 2], low);
        next[2 * i + 1] =
            b.CreateShuffleVector(rows[i], rows[i + lanes / 2], high);
      }
      rows = next;
    }
    for (int64_t l = 0; l < valid; ++l) {
      Value *row = b.CreateMul(b.CreateAdd(k, b.getInt64(l)), b.getInt64(width));
      b.CreateAlignedStore(rows[l], b.CreateGEP(element, out, row), align);
    }
  };
  // Squares whose lanes have one step can share a loop's code.
  int64_t squares = panel.lanes / lanes;
  int64_t step = lanes < panel.lanes ? panel.offsets[lanes] : 0;
  bool regular = squares > 2;
  for (int64_t l = 0; l < squares * lanes && regular; ++l)
    regular = panel.offsets[l] == panel.offsets[l % lanes] + l / lanes * step;
  int64_t done = 0;
  if (regular) {
    Value *base = from;
    emitLoop(b, b.getInt64(0), b.getInt64(squares), 1, [&](Value *s) {
      from = b.CreateGEP(element, base, b.CreateMul(s, b.getInt64(step)));
      square(ArrayRef(panel.offsets).take_front(lanes),
             b.CreateGEP(element, to, b.CreateMul(s, b.getInt64(lanes))));
    });
    from = base;
    done = squares * lanes;
  }
  for (; done < width; done += lanes) {
    int64_t count = std::clamp<int64_t>(panel.lanes - done, 0, lanes);
    square(ArrayRef(panel.offsets).slice(std::min(done, panel.lanes), count),
           at(to, done));
  }
}

void emitPack(llvm::IRBuilder<> &builder, llvm::Type *element, unsigned lanes,
              const Panel &panel, ArrayRef<int64_t> extents, Value *source,
              Value *to, int64_t width) {
  Packer packer(builder, element, lanes, panel, extents, width);
  bool unitLanes = panel.lanes < 2 || panel.offsets[1] == 1;
  if (!unitLanes && extents.size() == 1 && panel.kSteps[0] == 1)
    packer.transpose(source, to);
  else
    packer.copy(0, source, to);
}

} // namespace dl::codegen
