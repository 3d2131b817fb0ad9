// Sorting: runs of 1, 2, 4, ... elements are merged, from one half of the
// scratch to the other. Which positions come out depends on the values alone.

#include "compiler/codegen/cpu/SequentialStage.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

/// The bytes of one list; one more element may be looked at.
static int64_t listBytes(int64_t count, int64_t elementBytes) {
  return llvm::alignTo((count + 1) * elementBytes, 64);
}

static int64_t keyBytes(mlir::Value x) {
  return graph::elementBytes(
      cast<RankedTensorType>(x.getType()).getElementType());
}

int64_t SequentialStage::scratchBytes(const TiledKernel &kernel,
                                      const Stage &stage) {
  const graph::LoopNest &nest = kernel.nest(stage.op);
  if (!nest.ordered)
    return 0;
  int64_t count = nest.extents[nest.ordered->at];
  return 2 * (listBytes(count, keyBytes(stage.op->getOperand(0))) +
              listBytes(count, sizeof(int32_t)));
}

Value *SequentialStage::slot(Value *list, llvm::Type *element, Value *index) {
  return b.CreateInBoundsGEP(element, list, index);
}

/// a comes before b whatever their positions are.
Value *SequentialStage::isLess(Value *x, Value *y) const {
  if (nest.ordered->descending)
    std::swap(x, y);
  if (x->getType()->isFloatingPointTy())
    return b.CreateOr(
        b.CreateFCmpOLT(x, y),
        b.CreateAnd(b.CreateFCmpUNO(y, y), b.CreateFCmpORD(x, x)));
  Type element = cast<RankedTensorType>(stage.op->getOperand(0).getType())
                     .getElementType();
  return element.isUnsignedInteger() || element.isInteger(1)
             ? b.CreateICmpULT(x, y)
             : b.CreateICmpSLT(x, y);
}

void SequentialStage::emitSort() {
  SmallVector<unsigned> rows(outer);
  llvm::append_range(rows, inner);
  int64_t count = nest.extents[at];
  int64_t keys = listBytes(count, keyBytes(stage.op->getOperand(0)));
  int64_t places = listBytes(count, sizeof(int32_t));
  loopOver(rows, [&] {
    // Keys and positions to read, and where to put them.
    Values lists;
    for (int64_t offset : {int64_t(0), 2 * keys, keys, 2 * keys + places})
      lists.push_back(e.scratchAt(e.kernel.packOffset() + offset));
    llvm::Type *key = e.memoryType(stage.op->getOperand(0));
    loopAlong(over, /*backwards=*/false, {}, [&](ArrayRef<Value *>) -> Values {
      Value *index = e.scope.scalar(dims[over]);
      Value *content = b.CreateExtractElement(read(0), uint64_t(0));
      if (content->getType() != key) // a bool
        content = b.CreateZExt(content, key);
      b.CreateStore(content, slot(lists[0], key, index));
      b.CreateStore(b.CreateTrunc(index, b.getInt32Ty()),
                    slot(lists[1], b.getInt32Ty(), index));
      return {};
    });
    Values state{b.getInt64(1)};
    state.append(lists.begin(), lists.end());
    state = emitLoop(
        b, b.getInt64(0), b.getInt64(llvm::Log2_64_Ceil(count)), 1, state,
        [&](Value *, ArrayRef<Value *> now) -> Values {
          Value *width = now[0], *end = b.getInt64(count);
          auto pairs = now.drop_front();
          Value *twice = b.CreateShl(width, 1);
          Value *steps = b.CreateUDiv(
              b.CreateAdd(end, b.CreateSub(twice, b.getInt64(1))), twice);
          emitLoop(b, b.getInt64(0), steps, 1, [&](Value *step) {
            auto atMost = [&](Value *index) {
              return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, index, end);
            };
            Value *first = b.CreateMul(step, twice);
            mergeRuns(first, atMost(b.CreateAdd(first, width)),
                      atMost(b.CreateAdd(first, twice)), pairs);
          });
          return {twice, now[3], now[4], now[1], now[2]};
        });
    loopAlong(at, /*backwards=*/false, {}, [&](ArrayRef<Value *>) -> Values {
      Value *index = e.scope.scalar(dims[at]);
      Value *place =
          b.CreateLoad(b.getInt32Ty(), slot(state[2], b.getInt32Ty(), index));
      write(b.CreateVectorSplat(1, b.CreateZExt(place, b.getInt64Ty())));
      return {};
    });
  });
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
