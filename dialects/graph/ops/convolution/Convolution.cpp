#include "dialects/graph/ops/convolution/ConvolutionShapes.h"

using namespace mlir;
using namespace dl::graph;

namespace {
/// What is wrong with a convolution, and the extents of its windows.
struct Checker {
  OptionalLoc loc;
  StringRef op;
  ArrayRef<int64_t> stride, padding, dilation;
  int64_t groups;

  /// A float tensor [..4 dims], or with the groups as the dim `groupDim`.
  LogicalResult requireRank(StringRef what, Type tensor, int groupDim) const {
    if (failed(requireFloat(loc, op, tensor)))
      return failure();
    ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor).getShape();
    if (shape.size() == 4 || (shape.size() == 5 && shape[groupDim] == groups))
      return success();
    return emitOptionalError(loc, op, ": ", what, " has 4 dims, got ",
                             shapeText(tensor));
  }

  LogicalResult requireGroups(ArrayRef<int64_t> input,
                              ArrayRef<int64_t> weight) const {
    if (groups < 1)
      return emitOptionalError(loc, op, ": groups is ", groups,
                               ", must be at least 1");
    for (int64_t channels : {input[1], weight[0]})
      if (channels % groups)
        return emitOptionalError(loc, op, ": ", channels,
                                 " channels cannot be split into ", groups,
                                 " groups");
    return success();
  }

  /// Extents of the result, or an error where the kernel does not fit.
  FailureOr<SmallVector<int64_t>> windowCounts(ArrayRef<int64_t> input,
                                               ArrayRef<int64_t> weight) const {
    ArrayRef<int64_t> kernel = weight.drop_front(2);
    if (failed(requireWindow(
            loc, op,
            {input[0], std::max(input[1], weight[0]), input[2], input[3]},
            {kernel, stride, padding, dilation})))
      return failure();
    SmallVector<int64_t> counts;
    for (int i = 0; i < 2; ++i) {
      int64_t padded = input[2 + i] + 2 * padding[i];
      int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
      if (reach > padded) {
        std::string wide = dilation[0] * dilation[1] == 1
                               ? ""
                               : " with dilation " + shapeText(dilation);
        return emitOptionalError(loc, op, ": the kernel ", shapeText(kernel),
                                 wide, " is larger than the input ",
                                 shapeText(input), " with padding ",
                                 shapeText(padding));
      }
      counts.push_back((padded - reach) / stride[i] + 1);
    }
    return counts;
  }

  /// An error unless dy is what conv2d gives for these merged shapes.
  LogicalResult requireOutput(Type dy, ArrayRef<int64_t> input,
                              ArrayRef<int64_t> weight) const {
    FailureOr<SmallVector<int64_t>> counts = windowCounts(input, weight);
    if (failed(counts))
      return failure();
    SmallVector<int64_t> expected = {input[0], weight[0], (*counts)[0],
                                     (*counts)[1]};
    if (mergedImages(cast<RankedTensorType>(dy).getShape()) == expected)
      return success();
    return emitOptionalError(loc, op, ": the gradient ", shapeText(dy),
                             " does not have the result's shape ",
                             shapeText(expected));
  }

  /// An error unless both have the groups as a dim, or neither.
  LogicalResult requireSameRank(Type a, Type b) const {
    if (cast<RankedTensorType>(a).getRank() ==
        cast<RankedTensorType>(b).getRank())
      return success();
    return emitOptionalError(loc, op, ": ", shapeText(a), " and ", shapeText(b),
                             " differ in rank");
  }
};
} // namespace

template <typename Adaptor>
static Checker checker(OptionalLoc loc, StringRef op, Adaptor &adaptor) {
  return {loc,
          op,
          adaptor.getStride(),
          adaptor.getPadding(),
          adaptor.getDilation(),
          static_cast<int64_t>(adaptor.getGroups())};
}

/// [B,C,Y,X], or with the groups as a dim.
static SmallVector<int64_t> imageShape(bool grouped, int64_t groups,
                                       ArrayRef<int64_t> merged) {
  if (!grouped)
    return llvm::to_vector(merged);
  return {merged[0], groups, merged[1] / groups, merged[2], merged[3]};
}

LogicalResult Conv2dOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  auto weight = cast<RankedTensorType>(adaptor.getWeight().getType());
  Checker check = checker(loc, "conv2d", adaptor);
  if (failed(check.requireRank("the input [batch,channels,h,w]", x, 1)) ||
      failed(check.requireRank("the weight [out,in,kh,kw]", weight, 0)) ||
      failed(check.requireSameRank(x, weight)) ||
      failed(requireSameElement(loc, "conv2d", {x, weight})))
    return failure();
  SmallVector<int64_t> input = mergedImages(x.getShape()),
                       filter = mergedWeight(weight.getShape());
  if (failed(check.requireGroups(input, filter)))
    return failure();
  if (input[1] != filter[1] * check.groups) {
    std::string inGroups =
        check.groups == 1 ? ""
                          : " in " + std::to_string(check.groups) + " groups";
    return emitOptionalError(loc, "conv2d: input ", shapeText(x), " has ",
                             input[1], " channels, the layer expects ",
                             filter[1] * check.groups, inGroups, " (weight ",
                             shapeText(weight), ")");
  }
  FailureOr<SmallVector<int64_t>> counts = check.windowCounts(input, filter);
  if (failed(counts))
    return failure();
  types.push_back(RankedTensorType::get(
      imageShape(x.getRank() == 5, check.groups,
                 {input[0], filter[0], (*counts)[0], (*counts)[1]}),
      x.getElementType()));
  return success();
}

LogicalResult
Conv2dInputGradOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  StringRef name = "conv2d_input_grad";
  auto dy = cast<RankedTensorType>(adaptor.getDy().getType());
  auto weight = cast<RankedTensorType>(adaptor.getWeight().getType());
  Checker check = checker(loc, name, adaptor);
  ArrayRef<int64_t> shape = adaptor.getInputShape();
  if (failed(check.requireRank("the gradient", dy, 1)) ||
      failed(check.requireRank("the weight", weight, 0)) ||
      failed(check.requireSameRank(dy, weight)) ||
      failed(requireSameElement(loc, name, {dy, weight})) ||
      failed(requireCount(loc, name, "input_shape", shape, dy.getRank(), 0)))
    return failure();
  SmallVector<int64_t> input = mergedImages(shape),
                       filter = mergedWeight(weight.getShape());
  if (failed(check.requireGroups(input, filter)) ||
      failed(check.requireOutput(dy, input, filter)))
    return failure();
  if (input[1] != filter[1] * check.groups)
    return emitOptionalError(loc, name, ": input_shape ", shapeText(shape),
                             " does not have the channels of the weight ",
                             shapeText(weight));
  types.push_back(RankedTensorType::get(shape, dy.getElementType()));
  return success();
}

LogicalResult
Conv2dWeightGradOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  StringRef name = "conv2d_weight_grad";
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  auto dy = cast<RankedTensorType>(adaptor.getDy().getType());
  Checker check = checker(loc, name, adaptor);
  ArrayRef<int64_t> kernel = adaptor.getKernel();
  if (failed(check.requireRank("the input", x, 1)) ||
      failed(check.requireRank("the gradient", dy, 1)) ||
      failed(check.requireSameRank(x, dy)) ||
      failed(requireSameElement(loc, name, {x, dy})) ||
      failed(requireCount(loc, name, "kernel", kernel, 2, 1)))
    return failure();
  SmallVector<int64_t> input = mergedImages(x.getShape());
  SmallVector<int64_t> weight = {mergedImages(dy.getShape())[1], input[1],
                                 kernel[0], kernel[1]};
  if (failed(check.requireGroups(input, weight)))
    return failure();
  weight[1] /= check.groups;
  if (failed(check.requireOutput(dy, input, weight)))
    return failure();
  if (x.getRank() == 5) {
    weight[0] /= check.groups;
    weight.insert(weight.begin(), check.groups);
  }
  types.push_back(RankedTensorType::get(weight, x.getElementType()));
  return success();
}
