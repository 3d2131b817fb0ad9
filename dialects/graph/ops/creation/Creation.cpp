#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

LogicalResult FullOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type =
      requireTensor(loc, "full", adaptor.getType());
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

LogicalResult IotaOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type =
      requireTensor(loc, "iota", adaptor.getType());
  if (failed(type) || failed(requireDim(loc, "iota", adaptor.getDim(), *type)))
    return failure();
  if (type->getElementType().isInteger(1))
    return emitOptionalError(loc, "iota: needs numbers, got ", typeText(*type));
  types.push_back(*type);
  return success();
}
