// Padding and the stride of the backward ops become pads with zeros, so that
// the contractions that remain never leave their operands. Groups become a dim.

#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/StorageOrder.h"
#include "dialects/graph/ops/convolution/ConvolutionShapes.h"

using namespace mlir;
using namespace dl::graph;

using Pair = std::array<int64_t, 2>;

static Value padImages(GraphBuilder &g, Value x, Pair low, Pair high,
                       Pair interior) {
  size_t rank = shapeOf(x).size();
  auto onImages = [rank](Pair p) {
    SmallVector<int64_t> amounts(rank, 0);
    amounts[rank - 2] = p[0];
    amounts[rank - 1] = p[1];
    return amounts;
  };
  return g.make<PadOp>(x, onImages(low), onImages(high), onImages(interior),
                       APFloat(0.0));
}

static Value padEvenly(GraphBuilder &g, Value x, ArrayRef<int64_t> padding) {
  Pair around = {padding[0], padding[1]};
  return padImages(g, x, around, around, {0, 0});
}

static bool isZero(ArrayRef<int64_t> padding) {
  return padding[0] == 0 && padding[1] == 0;
}

/// The groups have to become a dim: [B,C,H,W] to [B,G,C/G,H,W].
static bool hidesGroups(ArrayRef<int64_t> weight, int64_t groups) {
  return groups > 1 && weight.size() == 4 && !isDepthwise(weight, groups);
}

static SmallVector<int64_t> splitDim(ArrayRef<int64_t> shape, size_t dim,
                                     int64_t groups) {
  SmallVector<int64_t> split(shape);
  split[dim] /= groups;
  split.insert(split.begin() + dim, groups);
  return split;
}

static Value splitImages(GraphBuilder &g, Value x, int64_t groups) {
  return g.reshape(x, splitDim(shapeOf(x), 1, groups));
}

static Value splitWeight(GraphBuilder &g, Value weight, int64_t groups) {
  return g.reshape(weight, splitDim(shapeOf(weight), 0, groups));
}

FailureOr<SmallVector<Value>> Conv2dOp::decompose(OpBuilder &builder) {
  GraphBuilder g(builder, getLoc());
  if (!isZero(getPadding())) {
    Value padded = padEvenly(g, getX(), getPadding());
    SmallVector<int64_t> none = {0, 0};
    return SmallVector<Value>{g.make<Conv2dOp>(
        padded, getWeight(), getStride(), none, getDilation(), getGroups())};
  }
  if (!hidesGroups(shapeOf(getWeight()), getGroups()))
    return failure();
  Value x = splitImages(g, getX(), getGroups());
  Value weight = splitWeight(g, getWeight(), getGroups());
  Value result = g.make<Conv2dOp>(x, weight, getStride(), getPadding(),
                                  getDilation(), getGroups());
  return SmallVector<Value>{g.reshape(result, shapeOf(getResult()))};
}

FailureOr<SmallVector<Value>>
Conv2dWeightGradOp::decompose(OpBuilder &builder) {
  GraphBuilder g(builder, getLoc());
  if (!isZero(getPadding())) {
    Value padded = padEvenly(g, getX(), getPadding());
    SmallVector<int64_t> none = {0, 0};
    return SmallVector<Value>{
        g.make<Conv2dWeightGradOp>(padded, getDy(), getStride(), none,
                                   getKernel(), getDilation(), getGroups())};
  }
  if (!hidesGroups(shapeOf(getResult()), getGroups()))
    return failure();
  Value x = splitImages(g, getX(), getGroups());
  Value dy = splitImages(g, getDy(), getGroups());
  Value result =
      g.make<Conv2dWeightGradOp>(x, dy, getStride(), getPadding(), getKernel(),
                                 getDilation(), getGroups());
  return SmallVector<Value>{g.reshape(result, shapeOf(getResult()))};
}

FailureOr<SmallVector<Value>> Conv2dInputGradOp::decompose(OpBuilder &builder) {
  ArrayRef<int64_t> weight = shapeOf(getWeight()), dy = shapeOf(getDy());
  size_t rank = dy.size();
  bool simple = true, cropped = false;
  // Padding beyond the kernel's reach reads zeros only: compute the gradient of
  // an input that includes this rim, and cut it off.
  SmallVector<int64_t> rim(rank, 0), ones(rank, 1);
  SmallVector<int64_t> extents(getInputShape()), full;
  bool unit = true;
  Pair low, high, interior;
  for (int i = 0; i < 2; ++i) {
    size_t dim = rank - 2 + i;
    int64_t stride = getStride()[i], padding = getPadding()[i];
    full.push_back(getDilation()[i] * (weight[dim] - 1));
    unit &= stride == 1;
    simple &= stride == 1 && padding == full[i];
    rim[dim] = std::max<int64_t>(padding - full[i], 0);
    cropped |= rim[dim] > 0;
    extents[dim] += 2 * rim[dim];
    low[i] = full[i] - (padding - rim[dim]);
    interior[i] = stride - 1;
    int64_t spread = (dy[dim] - 1) * stride + 1;
    high[i] = extents[dim] + full[i] - low[i] - spread;
  }
  GraphBuilder g(builder, getLoc());
  // Where vectors run along the images, the zeros around them are left out.
  simple |= unit && dy[0] >= kLeastInnerBatch;
  if (!simple) {
    Value padded = padImages(g, getDy(), low, high, interior);
    SmallVector<int64_t> unit = {1, 1};
    Value result = g.make<Conv2dInputGradOp>(
        padded, getWeight(), unit, full, extents, getDilation(), getGroups());
    if (cropped)
      result = g.make<SliceOp>(result, rim, getInputShape(), ones);
    return SmallVector<Value>{result};
  }
  if (!hidesGroups(weight, getGroups()))
    return failure();
  Value split = splitImages(g, getDy(), getGroups());
  Value filter = splitWeight(g, getWeight(), getGroups());
  Value result = g.make<Conv2dInputGradOp>(
      split, filter, getStride(), getPadding(),
      splitDim(getInputShape(), 1, getGroups()), getDilation(), getGroups());
  return SmallVector<Value>{g.reshape(result, shapeOf(getResult()))};
}
