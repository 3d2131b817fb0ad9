#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

static SmallVector<int64_t> reducedShape(Type tensor, ArrayRef<int64_t> dims,
                                         bool keepdim) {
  SmallVector<int64_t> shape;
  auto type = cast<RankedTensorType>(tensor);
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!llvm::is_contained(dims, i))
      shape.push_back(type.getDimSize(i));
    else if (keepdim)
      shape.push_back(1);
  }
  return shape;
}

static LogicalResult requireDims(OptionalLoc loc, StringRef op,
                                 ArrayRef<int64_t> dims, Type tensor) {
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (failed(requireDim(loc, op, dim, tensor)))
      return failure();
    if (i > 0 && dims[i - 1] >= dim)
      return emitOptionalError(loc, op, ": the dims ", shapeText(dims),
                               " must be sorted and different");
  }
  return success();
}

/// A maximum needs elements and an order.
static LogicalResult requireOrdered(OptionalLoc loc, StringRef op, Type tensor,
                                    ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(tensor);
  // (Kernels compare integers as signed ones.)
  if (type.getElementType().isInteger(1) ||
      type.getElementType().isUnsignedInteger(8))
    return emitOptionalError(loc, op, ": needs numbers, got ", typeText(tensor),
                             "; use .to(dl::kInt64)");
  for (int64_t dim : dims)
    if (type.getDimSize(dim) == 0)
      return emitOptionalError(loc, op, ": dim ", dim, " of ",
                               shapeText(tensor), " has no elements");
  return success();
}

LogicalResult SumOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  if (failed(requireDims(loc, "sum", adaptor.getDims(), x)))
    return failure();
  Type element = x.getElementType();
  if (element.isInteger(1) || element.isUnsignedInteger(8))
    return emitOptionalError(loc, "sum: needs f32, f64, i64 or i32, got ",
                             typeText(x),
                             "; use .to(dl::kInt64) or .to(dl::kFloat)");
  types.push_back(RankedTensorType::get(
      reducedShape(x, adaptor.getDims(), adaptor.getKeepdim()), element));
  return success();
}

LogicalResult AmaxOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  if (failed(requireDims(loc, "amax", adaptor.getDims(), x)) ||
      failed(requireOrdered(loc, "amax", x, adaptor.getDims())))
    return failure();
  types.push_back(RankedTensorType::get(
      reducedShape(x, adaptor.getDims(), adaptor.getKeepdim()),
      x.getElementType()));
  return success();
}

static FailureOr<SmallVector<int64_t>> inferAlong(OptionalLoc loc, StringRef op,
                                                  RankedTensorType x,
                                                  int64_t dim, bool keepdim) {
  if (failed(requireDim(loc, op, dim, x)) ||
      failed(requireOrdered(loc, op, x, dim)))
    return failure();
  return reducedShape(x, dim, keepdim);
}

LogicalResult MaxOp::inferReturnTypes(MLIRContext *context, OptionalLoc loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  FailureOr<SmallVector<int64_t>> shape =
      inferAlong(loc, "max", x, adaptor.getDim(), adaptor.getKeepdim());
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, x.getElementType()));
  types.push_back(RankedTensorType::get(*shape, IntegerType::get(context, 64)));
  return success();
}

LogicalResult ArgmaxOp::inferReturnTypes(MLIRContext *context, OptionalLoc loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  FailureOr<SmallVector<int64_t>> shape =
      inferAlong(loc, "argmax", x, adaptor.getDim(), adaptor.getKeepdim());
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, IntegerType::get(context, 64)));
  return success();
}
