#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

LogicalResult GradientsOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto lossType = cast<RankedTensorType>(adaptor.getLoss().getType());
  if (failed(requireFloat(loc, "backward", lossType)))
    return failure();
  if (lossType.getNumElements() != 1)
    return emitOptionalError(loc, "backward: the loss must be a scalar, got ",
                             shapeText(lossType), "; use .sum() or .mean()");
  for (Value param : adaptor.getParams()) {
    if (failed(requireFloat(loc, "backward", param.getType())))
      return failure();
    types.push_back(param.getType());
  }
  return success();
}

LogicalResult GradientOp::inferReturnTypes(MLIRContext *, OptionalLoc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

SmallVector<Value> GradientOp::buildGradient(OpBuilder &, ValueRange grads,
                                             ArrayRef<bool>) {
  return {grads[0]};
}

SmallVector<HostTensor> GradientOp::evaluate(ArrayRef<HostTensor> operands) {
  return {operands[0]};
}

int64_t GradientOp::getFlops() { return 0; }

LogicalResult DetachOp::inferReturnTypes(MLIRContext *, OptionalLoc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

SmallVector<HostTensor> DetachOp::evaluate(ArrayRef<HostTensor> operands) {
  return {operands[0]};
}

int64_t DetachOp::getFlops() { return 0; }
