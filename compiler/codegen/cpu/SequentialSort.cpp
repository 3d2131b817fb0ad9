// Sorting: long rows by digits (RadixSort); of short ones, runs of 1, 2, 4, ...
// elements are merged, from one half of the scratch to the other. Where only
// the first few are wanted, k, those of the first 2k are kept, and what comes
// before the last of them is put in its place among them; of many, behind them,
// until there are 2k again. Which positions come out depends on the values
// alone.

#include "compiler/codegen/cpu/RadixSort.h"
#include "compiler/codegen/cpu/SequentialStage.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

/// So many are kept in order, for so many ns for each that is inserted.
static constexpr int64_t kMostInserted = 64, kInserted = 15;

/// The bytes of one list; one more element may be looked at.
static int64_t listBytes(int64_t count, int64_t elementBytes) {
  return llvm::alignTo((count + 1) * elementBytes, 64);
}

static int64_t keyBytes(mlir::Value x) {
  return graph::elementBytes(
      cast<RankedTensorType>(x.getType()).getElementType());
}

/// How many elements are merged at a time.
static int64_t lengthOf(const graph::LoopNest &nest) {
  return std::min(2 * nest.extents[nest.ordered->at],
                  nest.extents[nest.ordered->over]);
}

/// Whether passes over all digits take less time than comparing, in about ns on
/// a core of 2023.
static bool sortsByDigits(const graph::LoopNest &nest, int64_t keyBytes) {
  int64_t all = nest.extents[nest.ordered->over], length = lengthOf(nest);
  // The first k: how often a better one is met halves as more are seen.
  int64_t doublings = llvm::Log2_64_Ceil(all / length);
  int64_t merge = 9 * length * llvm::Log2_64_Ceil(length) / 2;
  int64_t comparing = merge;
  if (length < all)
    comparing += all / 4 + doublings * (length / 2 <= kMostInserted
                                            ? kInserted * length / 2
                                            : merge);
  return keyBytes * (all + 64) < comparing;
}

int64_t SequentialStage::scratchBytes(const TiledKernel &kernel,
                                      const Stage &stage) {
  const graph::LoopNest &nest = kernel.nest(stage.op);
  if (!nest.ordered)
    return 0;
  int64_t key = keyBytes(stage.op->getOperand(0));
  bool digits = sortsByDigits(nest, key);
  int64_t count = digits ? nest.extents[nest.ordered->over] : lengthOf(nest);
  return 2 * (listBytes(count, key) + listBytes(count, sizeof(int32_t))) +
         (digits ? RadixSort::histogramBytes(key) : 0);
}

Value *SequentialStage::slot(Value *list, llvm::Type *element, Value *index) {
  return b.CreateInBoundsGEP(element, list, index);
}

/// a comes before b whatever their positions are.
Value *SequentialStage::isLess(Value *x, Value *y) const {
  if (nest.ordered->descending)
    std::swap(x, y);
  if (x->getType()->isFPOrFPVectorTy())
    return b.CreateOr(
        b.CreateFCmpOLT(x, y),
        b.CreateAnd(b.CreateFCmpUNO(y, y), b.CreateFCmpORD(x, x)));
  return isUnsigned() ? b.CreateICmpULT(x, y) : b.CreateICmpSLT(x, y);
}

void SequentialStage::emitSort() {
  SmallVector<unsigned> rows(outer);
  llvm::append_range(rows, inner);
  int64_t key = keyBytes(stage.op->getOperand(0));
  bool digits = sortsByDigits(nest, key);
  int64_t length = digits ? nest.extents[over] : lengthOf(nest);
  int64_t keys = listBytes(length, key);
  int64_t places = listBytes(length, sizeof(int32_t));
  loopOver(rows, [&] {
    // Keys and positions to read, and where to put them; histograms.
    Values lists;
    for (int64_t offset :
         {int64_t(0), 2 * keys, keys, 2 * keys + places, 2 * keys + 2 * places})
      lists.push_back(e.scratchAt(e.kernel.packOffset() + offset));
    Value *histograms = lists.pop_back_val();
    Value *sorted = digits ? sortDigits(lists, histograms) : mergeFirst(lists);
    loopAlong(at, /*backwards=*/false, {}, [&](ArrayRef<Value *>) -> Values {
      Value *index = e.scope.scalar(dims[at]);
      Value *place =
          b.CreateLoad(b.getInt32Ty(), slot(sorted, b.getInt32Ty(), index));
      write(b.CreateVectorSplat(1, b.CreateZExt(place, b.getInt64Ty())));
      return {};
    });
  });
}

Value *SequentialStage::sortDigits(ArrayRef<Value *> lists, Value *histograms) {
  RadixSort radix{b, b.getIntNTy(8 * keyBytes(stage.op->getOperand(0))),
                  nest.extents[over]};
  radix.clear(histograms);
  loopAlong(over, /*backwards=*/false, {}, [&](ArrayRef<Value *>) -> Values {
    Value *key =
        radix.keyOf(elementHere(), !isUnsigned(), nest.ordered->descending);
    keep(lists, key, e.scope.scalar(dims[over]));
    radix.add(histograms, key);
    return {};
  });
  return radix.sort(histograms, lists);
}

/// Returns the positions in order, the first ones at least.
Value *SequentialStage::mergeFirst(ArrayRef<Value *> lists) {
  int64_t length = lengthOf(nest);
  loopBetween(over, 0, length, /*backwards=*/false, {},
              [&](ArrayRef<Value *>) -> Values {
                keep(lists, elementHere(), e.scope.scalar(dims[over]));
                return {};
              });
  Value *count = b.getInt64(length);
  if (length < nest.extents[over] && length / 2 <= kMostInserted) {
    insertFirst(lists);
    return lists[1];
  }
  if (length < nest.extents[over])
    count = selectFirst(lists);
  return mergeSort(count, lists)[1];
}

/// As it is in memory: a bool is a byte.
Value *SequentialStage::elementHere() {
  llvm::Type *type = e.memoryType(stage.op->getOperand(0));
  Value *content = b.CreateExtractElement(read(0), uint64_t(0));
  return content->getType() == type ? content : b.CreateZExt(content, type);
}

bool SequentialStage::isUnsigned() const {
  Type element = cast<RankedTensorType>(stage.op->getOperand(0).getType())
                     .getElementType();
  return element.isUnsignedInteger() || element.isInteger(1);
}

/// A key and the current index, as number `to`.
void SequentialStage::keep(ArrayRef<Value *> lists, Value *key, Value *to) {
  b.CreateStore(key, slot(lists[0], key->getType(), to));
  b.CreateStore(b.CreateTrunc(e.scope.scalar(dims[over]), b.getInt32Ty()),
                slot(lists[1], b.getInt32Ty(), to));
}

/// Calls add(key, position, carried) for each of the elements behind those that
/// are in the lists that comes before number k of them.
Value *SequentialStage::addBetter(
    ArrayRef<Value *> lists, Value *carried,
    llvm::function_ref<Value *(Value *, Value *, Value *)> add) {
  int64_t length = lengthOf(nest), k = length / 2, all = nest.extents[over];
  int64_t width = e.kernel.lanes();
  llvm::Type *key = e.memoryType(stage.op->getOperand(0));
  // Few do, so a vector of them is compared at a time.
  auto addLane = [&](Value *keys, Value *from,
                     ArrayRef<Value *> now) -> Values {
    Value *lane =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, now[0], b.getTrue());
    Value *place = b.CreateTrunc(b.CreateAdd(from, lane), b.getInt32Ty());
    Value *others = b.CreateAnd(now[0], b.CreateSub(now[0], b.getInt64(1)));
    return {others, add(b.CreateExtractElement(keys, lane), place, now[1])};
  };
  return emitLoop(
      b, b.getInt64(length), b.getInt64(all), width, {carried},
      [&](Value *from, ArrayRef<Value *> state) -> Values {
        Value *keys = elementsFrom(from);
        Value *worst =
            b.CreateLoad(key, slot(lists[0], key, b.getInt64(k - 1)));
        Value *better = b.CreateAnd(
            lanesBefore(b, width, b.CreateSub(b.getInt64(all), from)),
            isLess(keys, b.CreateVectorSplat(width, worst)));
        Value *bits = b.CreateZExt(b.CreateBitCast(better, b.getIntNTy(width)),
                                   b.getInt64Ty());
        Value *many = b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits);
        return {emitLoop(b, b.getInt64(0), many, 1, {bits, state[0]},
                         [&](Value *, ArrayRef<Value *> now) {
                           return addLane(keys, from, now);
                         })[1]};
      })[0];
}

/// Goes on from the first 2k elements with all others; returns how many are in
/// the lists, the first k among them.
Value *SequentialStage::selectFirst(ArrayRef<Value *> lists) {
  int64_t length = lengthOf(nest), k = length / 2;
  llvm::Type *key = e.memoryType(stage.op->getOperand(0));
  keepFirst(lists);
  return addBetter(lists, b.getInt64(k),
                   [&](Value *content, Value *place, Value *count) -> Value * {
                     b.CreateStore(content, slot(lists[0], key, count));
                     b.CreateStore(place,
                                   slot(lists[1], b.getInt32Ty(), count));
                     count = b.CreateAdd(count, b.getInt64(1));
                     Value *isFull = b.CreateICmpEQ(count, b.getInt64(length));
                     emitIf(b, isFull, [&] { keepFirst(lists); });
                     return b.CreateSelect(isFull, b.getInt64(k), count);
                   });
}

/// The same for few: each has its place among the first k at once.
void SequentialStage::insertFirst(ArrayRef<Value *> lists) {
  int64_t k = lengthOf(nest) / 2, width = e.kernel.lanes();
  llvm::Type *key = e.memoryType(stage.op->getOperand(0));
  llvm::Type *place = b.getInt32Ty();
  keepFirst(lists);
  addBetter(
      lists, b.getInt64(0),
      [&](Value *content, Value *position, Value *nothing) -> Value * {
        Value *to = b.getInt64(k);
        // Those behind it move by one, the last ones first.
        for (int64_t first = (k - 1) / width * width; first >= 0;
             first -= width) {
          auto from = [&](unsigned list, llvm::Type *type, int64_t by) {
            return slot(lists[list], type, b.getInt64(first + by));
          };
          auto load = [&](unsigned list, llvm::Type *type) {
            return b.CreateAlignedLoad(llvm::FixedVectorType::get(type, width),
                                       from(list, type, 0), llvm::Align(1));
          };
          Value *keys = load(0, key), *places = load(1, place);
          Value *moves =
              b.CreateAnd(firstLanes(b, width, std::min(width, k - first)),
                          isLess(b.CreateVectorSplat(width, content), keys));
          b.CreateMaskedStore(keys, from(0, key, 1), llvm::Align(1), moves);
          b.CreateMaskedStore(places, from(1, place, 1), llvm::Align(1), moves);
          Value *many = b.CreateUnaryIntrinsic(
              llvm::Intrinsic::ctpop,
              b.CreateBitCast(moves, b.getIntNTy(width)));
          to = b.CreateSub(to, b.CreateZExt(many, b.getInt64Ty()));
        }
        b.CreateStore(content, slot(lists[0], key, to));
        b.CreateStore(position, slot(lists[1], place, to));
        return nothing;
      });
}

/// Sorts the first 2k, of which k stay.
void SequentialStage::keepFirst(ArrayRef<Value *> lists) {
  int64_t length = lengthOf(nest);
  llvm::Type *key = e.memoryType(stage.op->getOperand(0));
  Values sorted = mergeSort(b.getInt64(length), lists);
  emitLoop(b, b.getInt64(0), b.getInt64(length / 2), 1, [&](Value *index) {
    for (auto [list, type] :
         {std::pair(0, key),
          std::pair(1, static_cast<llvm::Type *>(b.getInt32Ty()))})
      b.CreateStore(b.CreateLoad(type, slot(sorted[list], type, index)),
                    slot(lists[list], type, index));
  });
}

/// A vector of them, of which those behind the last one are anything.
Value *SequentialStage::elementsFrom(Value *index) {
  int64_t width = e.kernel.lanes(), extent = nest.extents[over];
  llvm::SaveAndRestore<bool> lanes(hasLanes, true);
  llvm::SaveAndRestore<Value *> tail(
      e.tail, lanesBefore(b, width, b.CreateSub(b.getInt64(extent), index)));
  unsigned size = e.scope.size();
  e.enterBody();
  dims[over] =
      e.scope.addLaneGroup(guarded ? hidden(b, index) : index, {extent}, 1)
          .front();
  Value *contents = read(0);
  e.enterBody();
  e.scope.endLaneGroup();
  e.scope.truncate(size);
  llvm::Type *type =
      llvm::FixedVectorType::get(e.memoryType(stage.op->getOperand(0)), width);
  return contents->getType() == type ? contents : b.CreateZExt(contents, type);
}

/// Returns the lists with the keys and the positions in order.
Values SequentialStage::mergeSort(Value *count, ArrayRef<Value *> lists) {
  Values state{b.getInt64(1)};
  state.append(lists.begin(), lists.end());
  state = emitLoop(
      b, b.getInt64(0), b.getInt64(llvm::Log2_64_Ceil(lengthOf(nest))), 1,
      state, [&](Value *, ArrayRef<Value *> now) -> Values {
        Value *width = now[0];
        auto pairs = now.drop_front();
        Value *twice = b.CreateShl(width, 1);
        Value *steps = b.CreateUDiv(
            b.CreateAdd(count, b.CreateSub(twice, b.getInt64(1))), twice);
        emitLoop(b, b.getInt64(0), steps, 1, [&](Value *step) {
          auto atMost = [&](Value *index) {
            return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, index, count);
          };
          Value *first = b.CreateMul(step, twice);
          mergeRuns(first, atMost(b.CreateAdd(first, width)),
                    atMost(b.CreateAdd(first, twice)), pairs);
        });
        return {twice, now[3], now[4], now[1], now[2]};
      });
  return {state[1], state[2]};
}

/// The left run goes first where keys are equal.
void SequentialStage::mergeRuns(Value *begin, Value *middle, Value *end,
                                ArrayRef<Value *> lists) {
  llvm::Type *key = e.memoryType(stage.op->getOperand(0));
  llvm::Type *place = b.getInt32Ty();
  emitLoop(b, begin, end, 1, {begin, middle},
           [&](Value *to, ArrayRef<Value *> from) -> Values {
             Value *left = from[0], *right = from[1];
             Value *keyLeft = b.CreateLoad(key, slot(lists[0], key, left));
             Value *keyRight = b.CreateLoad(key, slot(lists[0], key, right));
             Value *takeRight =
                 b.CreateAnd(b.CreateICmpULT(right, end),
                             b.CreateOr(b.CreateICmpUGE(left, middle),
                                        isLess(keyRight, keyLeft)));
             Value *chosen = b.CreateSelect(takeRight, right, left);
             b.CreateStore(b.CreateSelect(takeRight, keyRight, keyLeft),
                           slot(lists[2], key, to));
             b.CreateStore(b.CreateLoad(place, slot(lists[1], place, chosen)),
                           slot(lists[3], place, to));
             Value *step = b.CreateZExt(takeRight, b.getInt64Ty());
             return {b.CreateAdd(left, b.CreateSub(b.getInt64(1), step)),
                     b.CreateAdd(right, step)};
           });
}

} // namespace dl::cpu
