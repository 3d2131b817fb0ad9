#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

static LogicalResult requireImages(OptionalLoc loc, StringRef op,
                                   StringRef what, Type tensor) {
  if (failed(requireFloat(loc, op, tensor)))
    return failure();
  if (cast<RankedTensorType>(tensor).getRank() == 4)
    return success();
  return emitOptionalError(loc, op, ": ", what, " has 4 dims, got ",
                           shapeText(tensor));
}

/// Extents of the result, or an error where the kernel does not fit.
static FailureOr<SmallVector<int64_t>>
windowCounts(OptionalLoc loc, StringRef op, ArrayRef<int64_t> input,
             ArrayRef<int64_t> kernel, ArrayRef<int64_t> stride,
             ArrayRef<int64_t> padding) {
  if (failed(requireCount(loc, op, "kernel_size", kernel, 2, 1)) ||
      failed(requireCount(loc, op, "stride", stride, 2, 1)) ||
      failed(requireCount(loc, op, "padding", padding, 2, 0)))
    return failure();
  SmallVector<int64_t> counts;
  for (int i = 0; i < 2; ++i) {
    int64_t padded = input[2 + i] + 2 * padding[i];
    if (kernel[i] > padded)
      return emitOptionalError(loc, op, ": the kernel ", shapeText(kernel),
                               " is larger than the input ", shapeText(input),
                               " with padding ", shapeText(padding));
    counts.push_back((padded - kernel[i]) / stride[i] + 1);
  }
  return counts;
}

LogicalResult Conv2dOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  auto weight = cast<RankedTensorType>(adaptor.getWeight().getType());
  if (failed(
          requireImages(loc, "conv2d", "the input [batch,channels,h,w]", x)) ||
      failed(
          requireImages(loc, "conv2d", "the weight [out,in,kh,kw]", weight)) ||
      failed(requireSameElement(loc, "conv2d", {x, weight})))
    return failure();
  if (x.getDimSize(1) != weight.getDimSize(1))
    return emitOptionalError(loc, "conv2d: input ", shapeText(x), " has ",
                             x.getDimSize(1), " channels, the layer expects ",
                             weight.getDimSize(1), " (weight ",
                             shapeText(weight), ")");
  FailureOr<SmallVector<int64_t>> counts =
      windowCounts(loc, "conv2d", x.getShape(), weight.getShape().drop_front(2),
                   adaptor.getStride(), adaptor.getPadding());
  if (failed(counts))
    return failure();
  types.push_back(RankedTensorType::get(
      {x.getDimSize(0), weight.getDimSize(0), (*counts)[0], (*counts)[1]},
      x.getElementType()));
  return success();
}

/// An error unless dy is what conv2d gives for these shapes.
static LogicalResult requireOutput(OptionalLoc loc, StringRef op, Type dy,
                                   ArrayRef<int64_t> input,
                                   ArrayRef<int64_t> weight,
                                   ArrayRef<int64_t> stride,
                                   ArrayRef<int64_t> padding) {
  FailureOr<SmallVector<int64_t>> counts =
      windowCounts(loc, op, input, weight.drop_front(2), stride, padding);
  if (failed(counts))
    return failure();
  SmallVector<int64_t> expected = {input[0], weight[0], (*counts)[0],
                                   (*counts)[1]};
  if (cast<RankedTensorType>(dy).getShape() == ArrayRef<int64_t>(expected))
    return success();
  return emitOptionalError(loc, op, ": the gradient ", shapeText(dy),
                           " does not have the result's shape ",
                           shapeText(expected));
}

LogicalResult
Conv2dInputGradOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  StringRef name = "conv2d_input_grad";
  auto dy = cast<RankedTensorType>(adaptor.getDy().getType());
  auto weight = cast<RankedTensorType>(adaptor.getWeight().getType());
  ArrayRef<int64_t> input = adaptor.getInputShape();
  if (failed(requireImages(loc, name, "the gradient", dy)) ||
      failed(requireImages(loc, name, "the weight", weight)) ||
      failed(requireSameElement(loc, name, {dy, weight})) ||
      failed(requireCount(loc, name, "input_shape", input, 4, 0)) ||
      failed(requireOutput(loc, name, dy, input, weight.getShape(),
                           adaptor.getStride(), adaptor.getPadding())))
    return failure();
  if (input[1] != weight.getDimSize(1))
    return emitOptionalError(loc, name, ": input_shape ", shapeText(input),
                             " does not have the channels of the weight ",
                             shapeText(weight));
  types.push_back(RankedTensorType::get(input, dy.getElementType()));
  return success();
}

LogicalResult
Conv2dWeightGradOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  StringRef name = "conv2d_weight_grad";
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  auto dy = cast<RankedTensorType>(adaptor.getDy().getType());
  ArrayRef<int64_t> kernel = adaptor.getKernel();
  if (failed(requireImages(loc, name, "the input", x)) ||
      failed(requireImages(loc, name, "the gradient", dy)) ||
      failed(requireSameElement(loc, name, {x, dy})) ||
      failed(requireCount(loc, name, "kernel", kernel, 2, 1)))
    return failure();
  SmallVector<int64_t> weight = {dy.getDimSize(1), x.getDimSize(1), kernel[0],
                                 kernel[1]};
  if (failed(requireOutput(loc, name, dy, x.getShape(), weight,
                           adaptor.getStride(), adaptor.getPadding())))
    return failure();
  types.push_back(RankedTensorType::get(weight, x.getElementType()));
  return success();
}
