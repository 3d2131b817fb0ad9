#include "dialects/graph/Windows.h"

using namespace mlir;
using namespace dl::graph;

/// The type of positions within a window.
static Type positionType(MLIRContext *context, ArrayRef<int64_t> kernel) {
  if (product(kernel) <= 256)
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  return IntegerType::get(context, 32);
}

/// One element for each window, or an error where windows do not fit.
static FailureOr<SmallVector<int64_t>>
pooledShape(OptionalLoc loc, StringRef op, ArrayRef<int64_t> input,
            ArrayRef<int64_t> kernel, ArrayRef<int64_t> stride,
            ArrayRef<int64_t> padding, bool ceilMode = false) {
  if (failed(requireWindow(loc, op, input, {kernel, stride, padding})))
    return failure();
  SmallVector<int64_t> shape = {input[0], input[1]};
  for (int i = 0; i < 2; ++i) {
    if (2 * padding[i] > kernel[i])
      return emitOptionalError(loc, op, ": padding ", shapeText(padding),
                               " is more than half of the kernel ",
                               shapeText(kernel));
    int64_t padded = input[2 + i] + 2 * padding[i];
    if (kernel[i] > padded)
      return emitOptionalError(loc, op, ": the kernel ", shapeText(kernel),
                               " is larger than the input ", shapeText(input),
                               " with padding ", shapeText(padding));
    int64_t rest = (padded - kernel[i]) % stride[i];
    int64_t count = (padded - kernel[i]) / stride[i] + 1;
    // One more, unless it would begin behind the input.
    if (ceilMode && rest && count * stride[i] < input[2 + i] + padding[i])
      ++count;
    shape.push_back(count);
  }
  return shape;
}

static LogicalResult requireImages(OptionalLoc loc, StringRef op, Type x) {
  if (cast<RankedTensorType>(x).getRank() == 4)
    return success();
  return emitOptionalError(loc, op, ": the input is [batch,channels,h,w], got ",
                           shapeText(x));
}

LogicalResult MaxPool2dOp::inferReturnTypes(MLIRContext *context,
                                            OptionalLoc loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  if (failed(requireFloat(loc, "max_pool2d", x)))
    return failure();
  if (failed(requireImages(loc, "max_pool2d", x)))
    return failure();
  FailureOr<SmallVector<int64_t>> shape =
      pooledShape(loc, "max_pool2d", x.getShape(), adaptor.getKernel(),
                  adaptor.getStride(), adaptor.getPadding());
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, x.getElementType()));
  types.push_back(RankedTensorType::get(
      *shape, positionType(context, adaptor.getKernel())));
  return success();
}

LogicalResult MaxPool2dGradOp::inferReturnTypes(MLIRContext *context,
                                                OptionalLoc loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  StringRef name = "max_pool2d_grad";
  auto dy = cast<RankedTensorType>(adaptor.getDy().getType());
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  ArrayRef<int64_t> input = adaptor.getInputShape();
  if (failed(requireFloat(loc, name, dy)) ||
      failed(requireCount(loc, name, "input_shape", input, 4, 0)))
    return failure();
  FailureOr<SmallVector<int64_t>> shape =
      pooledShape(loc, name, input, adaptor.getKernel(), adaptor.getStride(),
                  adaptor.getPadding());
  if (failed(shape))
    return failure();
  if (dy.getShape() != ArrayRef<int64_t>(*shape) ||
      indices.getShape() != ArrayRef<int64_t>(*shape))
    return emitOptionalError(loc, name, ": the gradient ", shapeText(dy),
                             " and the indices ", shapeText(indices),
                             " must have the windows' shape ",
                             shapeText(*shape));
  if (indices.getElementType() != positionType(context, adaptor.getKernel()))
    return emitOptionalError(loc, name, ": the indices are not those of ",
                             "max_pool2d: ", typeText(indices));
  types.push_back(RankedTensorType::get(input, dy.getElementType()));
  return success();
}

LogicalResult SumPool2dOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  StringRef name = "avg_pool2d"; // the only use
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  if (failed(requireFloat(loc, name, x)) || failed(requireImages(loc, name, x)))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = pooledShape(
      loc, name, x.getShape(), adaptor.getKernel(), adaptor.getStride(),
      adaptor.getPadding(), adaptor.getCeilMode());
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, x.getElementType()));
  return success();
}

LogicalResult SumPool2dGradOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  StringRef name = "sum_pool2d_grad";
  auto dy = cast<RankedTensorType>(adaptor.getDy().getType());
  ArrayRef<int64_t> input = adaptor.getInputShape();
  if (failed(requireFloat(loc, name, dy)) ||
      failed(requireCount(loc, name, "input_shape", input, 4, 0)))
    return failure();
  FailureOr<SmallVector<int64_t>> shape =
      pooledShape(loc, name, input, adaptor.getKernel(), adaptor.getStride(),
                  adaptor.getPadding(), adaptor.getCeilMode());
  if (failed(shape))
    return failure();
  if (dy.getShape() != ArrayRef<int64_t>(*shape))
    return emitOptionalError(loc, name, ": the gradient ", shapeText(dy),
                             " must have the windows' shape ",
                             shapeText(*shape));
  types.push_back(RankedTensorType::get(input, dy.getElementType()));
  return success();
}
