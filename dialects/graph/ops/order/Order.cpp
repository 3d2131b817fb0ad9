#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

/// An error unless x has the dim and is of signed numbers.
static LogicalResult requireNumbers(OptionalLoc loc, StringRef op,
                                    RankedTensorType x, int64_t dim) {
  if (failed(requireDim(loc, op, dim, x)))
    return failure();
  Type element = x.getElementType();
  if (element.isInteger(1) || element.isUnsignedInteger(8))
    return emitOptionalError(loc, op, ": needs f32, f64, i64 or i32, got ",
                             typeText(x),
                             "; use .to(dl::kInt64) or .to(dl::kFloat)");
  return success();
}

LogicalResult CumsumOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  types.push_back(x);
  return requireNumbers(loc, "cumsum", x, adaptor.getDim());
}

LogicalResult
LinearRecurrenceOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  auto a = cast<RankedTensorType>(adaptor.getA().getType());
  auto b = cast<RankedTensorType>(adaptor.getB().getType());
  if (a != b)
    return emitOptionalError(
        loc, "linear_recurrence: needs two tensors of one type, got ",
        typeText(a), " and ", typeText(b));
  types.push_back(a);
  return requireNumbers(loc, "linear_recurrence", a, adaptor.getDim());
}

LogicalResult ArgcummaxOp::inferReturnTypes(MLIRContext *context,
                                            OptionalLoc loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  types.push_back(
      RankedTensorType::get(x.getShape(), IntegerType::get(context, 64)));
  return requireNumbers(loc, "argcummax", x, adaptor.getDim());
}

LogicalResult ArgsortOp::inferReturnTypes(MLIRContext *context, OptionalLoc loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  if (failed(requireDim(loc, "argsort", adaptor.getDim(), x)))
    return failure();
  SmallVector<int64_t> shape(x.getShape());
  int64_t &count = shape[adaptor.getDim()];
  int64_t wanted = adaptor.getCount();
  if (wanted < -1 || wanted > count)
    return emitOptionalError(loc, "argsort: the first ", wanted, " of ", count,
                             " elements are wanted");
  if (wanted != -1)
    count = wanted;
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}
