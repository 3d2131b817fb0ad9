// Padding becomes a pad with zeros, and the stride of an input's gradient
// phases of their own, so that the contractions that remain read neighbours.
// Groups become a dim.

#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/StorageOrder.h"
#include "dialects/graph/ops/convolution/ConvolutionShapes.h"

using namespace mlir;
using namespace dl::graph;

using Pair = std::array<int64_t, 2>;

/// That have convolutions of their own.
static constexpr int64_t kMostPhases = 9;

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

/// The first `extents` rows and columns, zeros where there are fewer.
static Value fitImages(GraphBuilder &g, Value x, Pair extents) {
  SmallVector<int64_t> sizes(shapeOf(x));
  size_t rank = sizes.size();
  Pair missing = {0, 0};
  for (int i = 0; i < 2; ++i) {
    int64_t &size = sizes[rank - 2 + i];
    missing[i] = std::max<int64_t>(extents[i] - size, 0);
    size = std::min(size, extents[i]);
  }
  if (ArrayRef(sizes) != shapeOf(x))
    x = g.make<SliceOp>(x, SmallVector<int64_t>(rank, 0), sizes,
                        SmallVector<int64_t>(rank, 1));
  return missing == Pair{0, 0} ? x : padImages(g, x, {0, 0}, missing, {0, 0});
}

/// With stride s, inputs y = s*t + r of one phase r meet the taps k0 + s*j
/// alone: dx[s*t + r] = sum over j of dy[t + p - j] * w[k0 + s*j], which is the
/// gradient of a convolution with stride 1. Spreading dy instead would multiply
/// s*s - 1 zeros for each of its elements. (Sub-pixel convolution, read
/// backwards: Shi et al., "Real-Time Single Image and Video Super-Resolution",
/// 2016.)
static Value inputGradByPhases(GraphBuilder &g, Conv2dInputGradOp op) {
  ArrayRef<int64_t> weight = shapeOf(op.getWeight());
  ArrayRef<int64_t> input = op.getInputShape(), stride = op.getStride();
  size_t rank = weight.size();
  Value sum;
  for (int64_t phase = 0; phase < stride[0] * stride[1]; ++phase) {
    Pair at = {phase / stride[1], phase % stride[1]};
    SmallVector<int64_t> extents(input), covered(input), taps(weight),
        first(rank, 0), steps(rank, 1), padding;
    Pair dyExtents, high, interior;
    bool any = true;
    for (int i = 0; i < 2; ++i) {
      size_t dim = rank - 2 + i;
      int64_t s = stride[i], reach = at[i] + op.getPadding()[i];
      first[dim] = reach % s;
      steps[dim] = s;
      taps[dim] = (weight[dim] - first[dim] + s - 1) / s;
      extents[dim] = (input[dim] - at[i] + s - 1) / s;
      padding.push_back(reach / s);
      // A phase's padding is not the same on both sides: what the last rows of
      // dy give to rows behind the input's is cut off.
      int64_t met =
          std::min(shapeOf(op.getDy())[dim], extents[dim] + reach / s);
      covered[dim] =
          std::max(extents[dim], met - 2 * padding[i] + taps[dim] - 1);
      dyExtents[i] = covered[dim] + 2 * padding[i] - taps[dim] + 1;
      high[i] = input[dim] - at[i] - ((extents[dim] - 1) * s + 1);
      interior[i] = s - 1;
      any &= taps[dim] > 0 && extents[dim] > 0;
    }
    if (!any) // no tap meets these inputs
      continue;
    Value filter = g.make<SliceOp>(op.getWeight(), first, taps, steps);
    Value dy = fitImages(g, op.getDy(), dyExtents);
    SmallVector<int64_t> unit = {1, 1};
    Value part = g.make<Conv2dInputGradOp>(dy, filter, unit, padding, covered,
                                           op.getDilation(), op.getGroups());
    if (covered != extents)
      part = g.make<SliceOp>(part, SmallVector<int64_t>(rank, 0), extents,
                             SmallVector<int64_t>(rank, 1));
    Value spread = padImages(g, part, at, high, interior);
    sum = sum ? g.make<AddOp>(sum, spread) : spread;
  }
  return sum;
}

/// The same, with the phases as channels of one convolution, where they are
/// many: taps to [Co, C, sh, sw, jh, jw], and of each pixel t the s inputs that
/// begin at s*t.
static Value inputGradByChannels(GraphBuilder &g, Conv2dInputGradOp op) {
  ArrayRef<int64_t> weight = shapeOf(op.getWeight()), dy = shapeOf(op.getDy());
  ArrayRef<int64_t> input = op.getInputShape(), stride = op.getStride(),
                    padding = op.getPadding();
  Pair taps, pixels, lacking;
  for (int i = 0; i < 2; ++i) {
    taps[i] = (weight[2 + i] + stride[i] - 1) / stride[i];
    lacking[i] = taps[i] * stride[i] - weight[2 + i];
    pixels[i] = dy[2 + i] + taps[i] - 1;
  }
  int64_t phases = stride[0] * stride[1];
  Value filter = padImages(g, op.getWeight(), /*low=*/{0, 0}, lacking,
                           /*interior=*/{0, 0});
  filter = g.reshape(
      filter, {weight[0], weight[1], taps[0], stride[0], taps[1], stride[1]});
  filter = g.transpose(filter, {0, 1, 3, 5, 2, 4});
  filter = g.reshape(filter, {weight[0], weight[1] * phases, taps[0], taps[1]});
  SmallVector<int64_t> unit = {1, 1}, none = {0, 0};
  Value dx = g.make<Conv2dInputGradOp>(
      op.getDy(), filter, unit, none,
      SmallVector<int64_t>{dy[0], input[1] * phases, pixels[0], pixels[1]},
      unit, op.getGroups());
  dx = g.reshape(dx,
                 {dy[0], input[1], stride[0], stride[1], pixels[0], pixels[1]});
  dx = g.transpose(dx, {0, 1, 4, 2, 5, 3});
  dx = g.reshape(
      dx, {dy[0], input[1], pixels[0] * stride[0], pixels[1] * stride[1]});
  dx = fitImages(g, dx, {padding[0] + input[2], padding[1] + input[3]});
  return g.make<SliceOp>(dx, SmallVector<int64_t>{0, 0, padding[0], padding[1]},
                         SmallVector<int64_t>(input),
                         SmallVector<int64_t>(4, 1));
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
  ArrayRef<int64_t> stride = getStride(), dilation = getDilation();
  if (!unit && dilation[0] == 1 && dilation[1] == 1) {
    if (stride[0] * stride[1] > kMostPhases && rank == 4)
      return SmallVector<Value>{inputGradByChannels(g, *this)};
    if (Value sum = inputGradByPhases(g, *this))
      return SmallVector<Value>{sum};
  }
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
