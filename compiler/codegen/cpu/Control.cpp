#include "compiler/codegen/cpu/Control.h"
#include "llvm/IR/InlineAsm.h"

using llvm::BasicBlock;
using llvm::Value;

namespace dl::cpu {

Values
emitLoop(llvm::IRBuilder<> &b, Value *lo, Value *hi, int64_t step,
         llvm::ArrayRef<Value *> init,
         llvm::function_ref<Values(Value *, llvm::ArrayRef<Value *>)> body) {
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto block = [&](const char *name) {
    return BasicBlock::Create(b.getContext(), name, function);
  };
  BasicBlock *before = b.GetInsertBlock(), *loop = block("loop"),
             *done = block("done");
  auto *low = llvm::dyn_cast<llvm::ConstantInt>(lo);
  auto *high = llvm::dyn_cast<llvm::ConstantInt>(hi);
  if (low && high && low->getSExtValue() >= high->getSExtValue()) {
    loop->eraseFromParent(), done->eraseFromParent();
    return Values(init.begin(), init.end());
  }
  if (low && high)
    b.CreateBr(loop);
  else
    b.CreateCondBr(b.CreateICmpSLT(lo, hi), loop, done);

  b.SetInsertPoint(loop);
  llvm::PHINode *index = b.CreatePHI(b.getInt64Ty(), 2);
  index->addIncoming(lo, before);
  llvm::SmallVector<llvm::PHINode *> phis;
  Values carried;
  for (Value *value : init) {
    phis.push_back(b.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
    carried.push_back(phis.back());
  }
  Values next = body(index, carried);
  Value *following = b.CreateAdd(index, b.getInt64(step), "", true, true);
  BasicBlock *latch = b.GetInsertBlock();
  index->addIncoming(following, latch);
  for (auto [phi, value] : llvm::zip(phis, next))
    phi->addIncoming(value, latch);
  b.CreateCondBr(b.CreateICmpSLT(following, hi), loop, done);

  b.SetInsertPoint(done);
  Values results;
  for (auto [value, from] : llvm::zip(next, init)) {
    llvm::PHINode *phi = b.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, latch);
    if (!(low && high))
      phi->addIncoming(from, before);
    results.push_back(phi);
  }
  return results;
}

void emitLoop(llvm::IRBuilder<> &b, Value *lo, Value *hi, int64_t step,
              llvm::function_ref<void(Value *)> body) {
  emitLoop(b, lo, hi, step, {},
           [&](Value *index, llvm::ArrayRef<Value *>) -> Values {
             body(index);
             return {};
           });
}

void emitIf(llvm::IRBuilder<> &b, Value *condition,
            llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise) {
  if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (known->isOne())
      then();
    else if (otherwise)
      otherwise();
    return;
  }
  llvm::Function *function = b.GetInsertBlock()->getParent();
  BasicBlock *yes = BasicBlock::Create(b.getContext(), "then", function);
  BasicBlock *no = BasicBlock::Create(b.getContext(), "else", function);
  BasicBlock *done = BasicBlock::Create(b.getContext(), "endif", function);
  b.CreateCondBr(condition, yes, no);
  b.SetInsertPoint(yes);
  then();
  b.CreateBr(done);
  b.SetInsertPoint(no);
  if (otherwise)
    otherwise();
  b.CreateBr(done);
  b.SetInsertPoint(done);
}

Value *hidden(llvm::IRBuilder<> &b, Value *number) {
  auto *type = llvm::FunctionType::get(b.getInt64Ty(), {b.getInt64Ty()}, false);
  auto *barrier =
      llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/false);
  return b.CreateCall(barrier, {number});
}

Value *lanesBefore(llvm::IRBuilder<> &b, unsigned lanes, Value *count) {
  llvm::SmallVector<llvm::Constant *> steps;
  for (unsigned l = 0; l < lanes; ++l)
    steps.push_back(b.getInt64(l));
  return b.CreateICmpSLT(llvm::ConstantVector::get(steps),
                         b.CreateVectorSplat(lanes, count));
}

llvm::Constant *firstLanes(llvm::IRBuilderBase &b, int64_t lanes,
                           int64_t count) {
  llvm::SmallVector<llvm::Constant *> bits;
  for (int64_t l = 0; l < lanes; ++l)
    bits.push_back(b.getInt1(l < count));
  return llvm::ConstantVector::get(bits);
}

void emitFetch(llvm::IRBuilderBase &b, Value *from, int locality) {
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::prefetch,
                    {from, b.getInt32(0), b.getInt32(locality), b.getInt32(1)});
}

} // namespace dl::cpu
