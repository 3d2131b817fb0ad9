#include "compiler/codegen/cpu/Combiner.h"

using llvm::Value;

namespace dl::cpu {

Combiner::Combiner(llvm::IRBuilder<> &builder, const graph::LoopNest &nest,
                   llvm::Type *valueType)
    : builder(builder), nest(nest), type(valueType),
      lanes(llvm::cast<llvm::FixedVectorType>(valueType)->getNumElements()),
      isMax(nest.combine == graph::Combine::Max) {}

Values Combiner::init() const {
  if (!isMax)
    return {llvm::Constant::getNullValue(type)};
  Value *lowest =
      type->isFPOrFPVectorTy()
          ? llvm::ConstantFP::getInfinity(type, /*Negative=*/true)
          : llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(
                                             type->getScalarSizeInBits()));
  return {lowest, llvm::Constant::getNullValue(
                      llvm::FixedVectorType::get(builder.getInt64Ty(), lanes))};
}

/// The first maximum in order of position; a NaN beats every number.
Value *Combiner::better(Value *value, Value *position, Value *best,
                        Value *bestPosition) const {
  llvm::IRBuilder<> &b = builder;
  if (!type->isFPOrFPVectorTy()) {
    Value *greater = b.CreateICmpSGT(value, best);
    if (!bestPosition)
      return greater;
    Value *earlier = b.CreateAnd(b.CreateICmpEQ(value, best),
                                 b.CreateICmpULT(position, bestPosition));
    return b.CreateOr(greater, earlier);
  }
  // Greater, or one of them is a NaN; then not the best.
  Value *greater =
      b.CreateAnd(b.CreateFCmpUGT(value, best), b.CreateFCmpORD(best, best));
  if (!bestPosition)
    return greater;
  Value *isNaN = b.CreateFCmpUNO(value, value);
  Value *bestIsNaN = b.CreateFCmpUNO(best, best);
  Value *equal =
      b.CreateOr(b.CreateFCmpOEQ(value, best), b.CreateAnd(isNaN, bestIsNaN));
  return b.CreateOr(
      greater, b.CreateAnd(equal, b.CreateICmpULT(position, bestPosition)));
}

Values Combiner::step(llvm::ArrayRef<Value *> state, Value *value,
                      Value *position, Value *mask) const {
  llvm::IRBuilder<> &b = builder;
  if (!isMax) {
    Value *sum = type->isFPOrFPVectorTy() ? b.CreateFAdd(state[0], value)
                                          : b.CreateAdd(state[0], value);
    return {mask ? b.CreateSelect(mask, sum, state[0]) : sum};
  }
  // Positions grow within a lane, so an equal value never replaces.
  Value *take = better(value, position, state[0], nullptr);
  if (mask)
    take = b.CreateAnd(take, mask);
  return {b.CreateSelect(take, value, state[0]),
          nest.yieldsIndex ? b.CreateSelect(take, position, state[1])
                           : state[1]};
}

Values Combiner::merge(llvm::ArrayRef<Value *> a,
                       llvm::ArrayRef<Value *> b) const {
  return {type->isFPOrFPVectorTy() ? builder.CreateFAdd(a[0], b[0])
                                   : builder.CreateAdd(a[0], b[0])};
}

Values Combiner::acrossLanes(llvm::ArrayRef<Value *> state) const {
  llvm::IRBuilder<> &b = builder;
  Values result(state.begin(), state.end());
  for (unsigned half = lanes / 2; half > 0; half /= 2) {
    llvm::SmallVector<int> order;
    for (unsigned l = 0; l < lanes; ++l)
      order.push_back(l < half ? int(l + half) : int(l));
    Values other;
    for (Value *value : result)
      other.push_back(b.CreateShuffleVector(value, order));
    if (!isMax) {
      result[0] = type->isFPOrFPVectorTy() ? b.CreateFAdd(result[0], other[0])
                                           : b.CreateAdd(result[0], other[0]);
      continue;
    }
    Value *take = better(other[0], other[1], result[0], result[1]);
    result[0] = b.CreateSelect(take, other[0], result[0]);
    result[1] = b.CreateSelect(take, other[1], result[1]);
  }
  return result;
}

Values Combiner::results(llvm::ArrayRef<Value *> state,
                         llvm::ArrayRef<llvm::Type *> types) const {
  if (!isMax)
    return {state[0]};
  Values results;
  if (nest.yieldsValue)
    results.push_back(state[0]);
  if (nest.yieldsIndex)
    results.push_back(
        builder.CreateZExtOrTrunc(state[1], types[results.size()]));
  return results;
}

} // namespace dl::cpu
