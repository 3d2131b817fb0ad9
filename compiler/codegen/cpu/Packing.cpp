#include "compiler/codegen/cpu/Packing.h"
#include "compiler/codegen/cpu/PayloadCode.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

namespace {
class Packer {
public:
  Packer(llvm::IRBuilder<> &b, llvm::Type *element, const Panel &panel,
         ArrayRef<int64_t> extents, Value *to, PanelLayout layout)
      : b(b), element(element), lanes(layout.vector), panel(panel),
        extents(extents), to(to), width(layout.width), stride(layout.stride),
        exact(layout.exact), pairs(layout.pairs), fetches(layout.fetches),
        type(llvm::FixedVectorType::get(element, lanes)),
        align(element->getScalarSizeInBits() / 8) {
    int64_t all = 1;
    for (int64_t extent : extents)
      all *= extent;
    kCount = packedCount(all, pairs);
  }

  void copy(size_t next, Value *source, Value *k);
  void copyPairs(Value *source);
  void transpose(Value *source);

private:
  Value *loadVector(int64_t first, Value *source);
  Value *loadExact(int64_t first, Value *source);
  void transposeLanes(int64_t first, int64_t end, Value *source);
  void transposeSquare(int64_t first, Value *k, int64_t valid, int64_t sourceK,
                       Value *source);
  llvm::Function *transposition(llvm::Module &module, StringRef name,
                                int64_t first, int64_t count, int64_t valid,
                                int64_t sourceK);
  Value *pairsOfQuarters(Value *quarters, Value *following);
  void store(Value *content, int64_t count, Value *to);
  int64_t rowStride(int64_t lane) const;
  Value *destination(int64_t lane, Value *k);
  llvm::Constant *mask(int64_t count) const;
  Value *at(Value *pointer, int64_t elements) {
    return b.CreateConstGEP1_64(element, pointer, elements);
  }

  llvm::IRBuilder<> &b;
  llvm::Type *element;
  int64_t lanes;
  const Panel &panel;
  ArrayRef<int64_t> extents;
  Value *to;
  int64_t width, stride, kCount; // packed ones
  bool exact, pairs, fetches;
  llvm::FixedVectorType *type;
  llvm::Align align;
};
} // namespace

llvm::Constant *Packer::mask(int64_t count) const {
  return firstLanes(b, lanes, count);
}

/// Between the k rows of the panel that has this lane.
int64_t Packer::rowStride(int64_t lane) const {
  if (stride)
    return stride;
  int64_t start = lane / width * width;
  return std::min<int64_t>(width, llvm::alignTo(panel.lanes - start, lanes));
}

Value *Packer::destination(int64_t lane, Value *k) {
  int64_t start = lane / width * width;
  Value *offset = b.CreateMul(k, b.getInt64(rowStride(lane)));
  return at(b.CreateGEP(element, to, offset), start * kCount + lane - start);
}

Value *joinPairs(llvm::IRBuilderBase &builder, Value *first, Value *second) {
  auto *floats = cast<llvm::FixedVectorType>(first->getType());
  unsigned count = floats->getNumElements();
  auto *words = llvm::FixedVectorType::get(builder.getInt32Ty(), count);
  auto *halves = llvm::FixedVectorType::get(builder.getInt16Ty(), 2 * count);
  Value *lower = builder.CreateLShr(builder.CreateBitCast(second, words), 16);
  // Under a mask, which takes no vector register.
  SmallVector<llvm::Constant *> isUpper;
  for (unsigned half = 0; half < 2 * count; ++half)
    isUpper.push_back(builder.getInt1(half % 2));
  return builder.CreateBitCast(
      builder.CreateSelect(llvm::ConstantVector::get(isUpper),
                           builder.CreateBitCast(first, halves),
                           builder.CreateBitCast(lower, halves)),
      floats);
}

void Packer::copy(size_t next, Value *source, Value *k) {
  if (next == extents.size()) {
    for (int64_t first = 0; first < panel.lanes; first += lanes)
      store(loadVector(first, source), std::min(panel.lanes - first, lanes),
            destination(first, k));
    return;
  }
  emitLoop(b, b.getInt64(0), b.getInt64(extents[next]), 1, [&](Value *i) {
    Value *from = b.CreateGEP(element, source,
                              b.CreateMul(i, b.getInt64(panel.kSteps[next])));
    copy(next + 1, from,
         b.CreateAdd(b.CreateMul(k, b.getInt64(extents[next])), i));
  });
}

void Packer::copyPairs(Value *source) {
  auto copyRow = [&](Value *k, bool isWhole) {
    Value *from = b.CreateGEP(element, source,
                              b.CreateMul(k, b.getInt64(2 * panel.kSteps[0])));
    for (int64_t first = 0; first < panel.lanes; first += lanes) {
      Value *second = llvm::Constant::getNullValue(type);
      if (isWhole)
        second = loadVector(first, at(from, panel.kSteps[0]));
      store(joinPairs(b, loadVector(first, from), second),
            std::min(panel.lanes - first, lanes), destination(first, k));
    }
  };
  int64_t whole = extents[0] / 2;
  emitLoop(b, b.getInt64(0), b.getInt64(whole), 1,
           [&](Value *k) { copyRow(k, true); });
  if (whole < kCount)
    copyRow(b.getInt64(whole), false);
}

Value *Packer::loadVector(int64_t first, Value *source) {
  Value *content = loadExact(first, source);
  return panel.rounds ? emitNearestBf16(b, content) : content;
}

Value *Packer::loadExact(int64_t first, Value *source) {
  int64_t count = std::min(panel.lanes - first, lanes);
  Value *zero = llvm::Constant::getNullValue(type);
  bool contiguous = true;
  SmallVector<llvm::Constant *> offsets(lanes, b.getInt64(0));
  for (int64_t l = 0; l < count; ++l) {
    offsets[l] = b.getInt64(panel.offsets[first + l]);
    contiguous &= panel.offsets[first + l] == panel.offsets[first] + l;
  }
  if (contiguous && count == lanes)
    return b.CreateAlignedLoad(type, at(source, panel.offsets[first]), align);
  if (contiguous)
    return b.CreateMaskedLoad(type, at(source, panel.offsets[first]), align,
                              mask(count), zero);
  return b.CreateMaskedGather(
      type, b.CreateGEP(element, source, llvm::ConstantVector::get(offsets)),
      align, mask(count), zero);
}

void Packer::store(Value *content, int64_t count, Value *to) {
  if (exact && count < lanes)
    b.CreateMaskedStore(content, to, align, mask(count));
  else
    b.CreateAlignedStore(content, to, align);
}

/// W vectors along k become W vectors along the lanes. Panel by panel: the
/// lanes of one are as many streams of memory, which prefetchers follow.
void Packer::transpose(Value *source) {
  // The squares of one full panel have the same code; panels are a step apart.
  int64_t panels = panel.lanes / width, done = 0;
  int64_t step = panels > 1 ? panel.offsets[width] : 0;
  bool regular = panels > 1;
  for (int64_t l = 0; l < panels * width && regular; ++l)
    regular = panel.offsets[l] == panel.offsets[l % width] + l / width * step;
  if (regular) {
    Value *start = to;
    emitLoop(b, b.getInt64(0), b.getInt64(panels), 1, [&](Value *p) {
      to = b.CreateGEP(element, start,
                       b.CreateMul(p, b.getInt64(width * kCount)));
      transposeLanes(
          0, width,
          b.CreateGEP(element, source, b.CreateMul(p, b.getInt64(step))));
    });
    to = start;
    done = panels * width;
  }
  for (; done < panel.lanes; done += width)
    transposeLanes(done, std::min(done + width, panel.lanes), source);
}

/// All k of the lanes [first, end).
void Packer::transposeLanes(int64_t first, int64_t end, Value *source) {
  int64_t each = pairs ? 2 : 1; // k of an element
  auto squares = [&](Value *k, int64_t valid, int64_t sourceK) {
    Value *from =
        b.CreateGEP(element, source, b.CreateMul(k, b.getInt64(each)));
    for (int64_t lane = first; lane < end && fetches; ++lane)
      for (int64_t line = 0; line < each; ++line)
        emitFetch(b, at(from, panel.offsets[lane] + (each + line) * lanes), 2);
    for (int64_t lane = first; lane < end; lane += lanes)
      transposeSquare(lane, k, valid, sourceK, from);
  };
  int64_t full = extents[0] / each / lanes * lanes;
  emitLoop(b, b.getInt64(0), b.getInt64(full), lanes,
           [&](Value *k) { squares(k, lanes, each * lanes); });
  if (full < kCount)
    squares(b.getInt64(full), kCount - full, extents[0] - each * full);
}

/// By a function of its own, which panels and k blocks share: LLVM takes long
/// over these shuffles.
void Packer::transposeSquare(int64_t first, Value *k, int64_t valid,
                             int64_t sourceK, Value *source) {
  int64_t count = std::min(lanes, panel.lanes - first);
  std::string name = llvm::formatv("transpose.{0}.{1}.{2}.{3}.{4}.{5}.{6}",
                                   align.value(), sourceK, rowStride(first),
                                   count, exact, pairs, panel.rounds);
  for (int64_t l = 1; l < count; ++l)
    name += "." + std::to_string(panel.offsets[first + l] -
                                 panel.offsets[first + l - 1]);
  llvm::Module &module = *b.GetInsertBlock()->getModule();
  llvm::Function *function = module.getFunction(name);
  if (!function)
    function = transposition(module, name, first, count, valid, sourceK);
  b.CreateCall(function,
               {at(source, panel.offsets[first]), destination(first, k)});
}

/// Quarters of vectors of f32, and what follows each of them, as quarters of
/// pairs: see joinPairs.
Value *Packer::pairsOfQuarters(Value *quarters, Value *following) {
  int part = lanes / 4;
  auto *halves = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * lanes);
  SmallVector<int> mask;
  for (int q = 0; q < lanes; q += part)
    for (int l = 0; l < part; ++l)
      for (int k : {2 * l + 1, 2 * l}) {
        int from = k < part ? q + k : lanes + q + k - part;
        mask.push_back(2 * from + 1);
      }
  return b.CreateBitCast(
      b.CreateShuffleVector(b.CreateBitCast(quarters, halves),
                            b.CreateBitCast(following, halves), mask),
      type);
}

/// void(from, to): `count` lanes of `valid` elements, which are `sourceK` k.
llvm::Function *Packer::transposition(llvm::Module &module, StringRef name,
                                      int64_t first, int64_t count,
                                      int64_t valid, int64_t sourceK) {
  auto *ptr = b.getPtrTy();
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(b.getVoidTy(), {ptr, ptr}, false),
      llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "entry", function));
  // A quarter of a vector, `part` elements, of each lane. Four quarters of
  // different lanes are loaded into one vector; what is left to do is to
  // transpose part x part squares within each quarter.
  int64_t part = lanes / 4;
  auto *quarterType = llvm::FixedVectorType::get(element, part);
  bool isWhole = sourceK == (pairs ? 2 : 1) * lanes;
  SmallVector<SmallVector<Value *, 2>> whole;
  auto quarter = [&](int64_t lane, int64_t k) -> Value * {
    if (lane >= count)
      return llvm::Constant::getNullValue(quarterType);
    if (isWhole)
      return b.CreateAlignedLoad(
          quarterType,
          at(function->getArg(0),
             panel.offsets[first + lane] - panel.offsets[first] + k),
          align);
    auto from = llvm::to_vector(llvm::seq<int>(k % lanes, k % lanes + part));
    return b.CreateShuffleVector(whole[lane][k / lanes], from);
  };
  for (int64_t l = 0; l < count && !isWhole; ++l) {
    Value *zero = llvm::Constant::getNullValue(type);
    whole.emplace_back(2, zero);
    for (int64_t k = 0; k < sourceK; k += lanes)
      whole.back()[k / lanes] = b.CreateMaskedLoad(
          type,
          at(function->getArg(0),
             panel.offsets[first + l] - panel.offsets[first] + k),
          align, mask(sourceK - k), zero);
  }
  auto joined = llvm::to_vector(llvm::seq<int>(0, 2 * part));
  auto all = llvm::to_vector(llvm::seq<int>(0, lanes));
  auto quarters = [&](int64_t lane, int64_t k) {
    Value *low = b.CreateShuffleVector(quarter(lane, k),
                                       quarter(lane + part, k), joined);
    Value *high = b.CreateShuffleVector(quarter(lane + 2 * part, k),
                                        quarter(lane + 3 * part, k), joined);
    Value *content = b.CreateShuffleVector(low, high, all);
    return panel.rounds ? emitNearestBf16(b, content) : content;
  };
  SmallVector<Value *> rows;
  for (int64_t k = 0; k < valid; k += part) {
    SmallVector<Value *> square;
    for (int64_t j = 0; j < part; ++j)
      square.push_back(
          pairs ? pairsOfQuarters(quarters(j, 2 * k), quarters(j, 2 * k + part))
                : quarters(j, k));
    // log2(part) rounds of perfect shuffles.
    for (int64_t round = 1; round < part; round *= 2) {
      SmallVector<Value *> next;
      for (int64_t i = 0; i < part / 2; ++i)
        for (int64_t half : {0, 1}) {
          SmallVector<int> mixed;
          for (int64_t q = 0; q < lanes; q += part)
            for (int64_t l = 0; l < part / 2; ++l) {
              int64_t at = q + half * part / 2 + l;
              mixed.append({int(at), int(at + lanes)});
            }
          next.push_back(
              b.CreateShuffleVector(square[i], square[i + part / 2], mixed));
        }
      square = next;
    }
    rows.append(square);
  }
  for (int64_t l = 0; l < valid; ++l)
    store(rows[l], count, at(function->getArg(1), l * rowStride(first)));
  b.CreateRetVoid();
  return function;
}

void emitPack(llvm::IRBuilder<> &builder, llvm::Type *element,
              const Panel &source, ArrayRef<int64_t> extents, Value *from,
              Value *to, PanelLayout layout) {
  Packer packer(builder, element, source, extents, to, layout);
  bool unitLanes = source.lanes < 2 || source.offsets[1] == 1;
  if (!unitLanes && extents.size() == 1 && source.kSteps[0] == 1)
    packer.transpose(from);
  else if (layout.pairs)
    packer.copyPairs(from);
  else
    packer.copy(0, from, builder.getInt64(0));
}

} // namespace dl::cpu
