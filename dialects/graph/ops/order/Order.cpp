#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

LogicalResult CumsumOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  if (failed(requireDim(loc, "cumsum", adaptor.getDim(), x)))
    return failure();
  Type element = x.getElementType();
  if (element.isInteger(1) || element.isUnsignedInteger(8))
    return emitOptionalError(loc, "cumsum: needs f32, f64, i64 or i32, got ",
                             typeText(x),
                             "; use .to(dl::kInt64) or .to(dl::kFloat)");
  types.push_back(x);
  return success();
}

LogicalResult ArgsortOp::inferReturnTypes(MLIRContext *context, OptionalLoc loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  if (failed(requireDim(loc, "argsort", adaptor.getDim(), x)))
    return failure();
  types.push_back(
      RankedTensorType::get(x.getShape(), IntegerType::get(context, 64)));
  return success();
}
