// Padding and the stride of the backward ops become pads with zeros, so that
// the contractions that remain never leave their operands.

#include "dialects/graph/GraphBuilder.h"

using namespace mlir;
using namespace dl::graph;

using Pair = std::array<int64_t, 2>;

static Value padImages(GraphBuilder &g, Value x, Pair low, Pair high,
                       Pair interior) {
  auto onImages = [](Pair p) { return SmallVector<int64_t>{0, 0, p[0], p[1]}; };
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

FailureOr<SmallVector<Value>> Conv2dOp::decompose(OpBuilder &builder) {
  if (isZero(getPadding()))
    return failure();
  GraphBuilder g(builder, getLoc());
  Value padded = padEvenly(g, getX(), getPadding());
  SmallVector<int64_t> none = {0, 0};
  return SmallVector<Value>{
      g.make<Conv2dOp>(padded, getWeight(), getStride(), none)};
}

FailureOr<SmallVector<Value>>
Conv2dWeightGradOp::decompose(OpBuilder &builder) {
  if (isZero(getPadding()))
    return failure();
  GraphBuilder g(builder, getLoc());
  Value padded = padEvenly(g, getX(), getPadding());
  SmallVector<int64_t> none = {0, 0};
  return SmallVector<Value>{g.make<Conv2dWeightGradOp>(
      padded, getDy(), getStride(), none, getKernel())};
}

FailureOr<SmallVector<Value>> Conv2dInputGradOp::decompose(OpBuilder &builder) {
  ArrayRef<int64_t> weight = shapeOf(getWeight()), dy = shapeOf(getDy());
  Pair kernel = {weight[2], weight[3]};
  bool simple = true, cropped = false;
  // Padding beyond kernel - 1 reads zeros only: compute the gradient of an
  // input that includes this rim, and cut it off.
  SmallVector<int64_t> rim = {0, 0, 0, 0}, ones = {1, 1, 1, 1};
  SmallVector<int64_t> extents(getInputShape()), full;
  Pair low, high, interior;
  for (int i = 0; i < 2; ++i) {
    int64_t stride = getStride()[i], padding = getPadding()[i];
    full.push_back(kernel[i] - 1);
    simple &= stride == 1 && padding == full[i];
    rim[2 + i] = std::max<int64_t>(padding - full[i], 0);
    cropped |= rim[2 + i] > 0;
    extents[2 + i] += 2 * rim[2 + i];
    low[i] = full[i] - (padding - rim[2 + i]);
    interior[i] = stride - 1;
    int64_t spread = (dy[2 + i] - 1) * stride + 1;
    high[i] = extents[2 + i] + full[i] - low[i] - spread;
  }
  if (simple)
    return failure();
  GraphBuilder g(builder, getLoc());
  Value padded = padImages(g, getDy(), low, high, interior);
  SmallVector<int64_t> unit = {1, 1};
  Value result =
      g.make<Conv2dInputGradOp>(padded, getWeight(), unit, full, extents);
  if (cropped)
    result = g.make<SliceOp>(result, rim, getInputShape(), ones);
  return SmallVector<Value>{result};
}
