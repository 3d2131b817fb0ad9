#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Payload.h"
#include "dialects/graph/ops/convolution/ConvolutionShapes.h"

using namespace mlir;
using namespace dl::graph;

namespace {
/// The dims of one group's convolution as iteration dims, each in the place
/// where the operands have it.
struct Dims {
  explicit Dims(Operation *op) : op(op) {
    result = shapeOf(op->getResult(0));
    nest.extents.assign(result.begin(), result.end());
    nest.numParallel = result.size();
    nest.combine = Combine::Sum;
    nest.contraction = true;
  }

  AffineExpr parallel(unsigned i) const {
    return getAffineDimExpr(i, op->getContext());
  }
  AffineExpr sum(int64_t extent) {
    nest.extents.push_back(extent);
    return parallel(nest.extents.size() - 1);
  }
  void access(ArrayRef<AffineExpr> indices) { accesses.emplace_back(indices); }
  LoopNest finish() {
    for (ArrayRef<AffineExpr> indices : accesses)
      nest.accesses.push_back(
          {AffineMap::get(nest.extents.size(), 0, indices, op->getContext()),
           {},
           {}});
    return nest;
  }

  Operation *op;
  ArrayRef<int64_t> result;
  LoopNest nest;
  SmallVector<SmallVector<AffineExpr>, 2> accesses;
};
} // namespace

/// Inserts the dim of the groups, if there is one, behind `position` dims.
static SmallVector<AffineExpr> withGroup(AffineExpr group, size_t position,
                                         SmallVector<AffineExpr> indices) {
  if (group)
    indices.insert(indices.begin() + position, group);
  return indices;
}

// (b, [g,] o, y, x | c, ky, kx); depthwise: (b, o, y, x | ky, kx)
LoopNest Conv2dOp::getLoopNest() {
  Dims d(*this);
  ArrayRef<int64_t> stride = getStride(), dilation = getDilation(),
                    weight = shapeOf(getWeight());
  bool depthwise = isDepthwise(weight, getGroups());
  unsigned grouped = weight.size() == 5;
  AffineExpr group = grouped ? d.parallel(1) : AffineExpr();
  AffineExpr o = d.parallel(1 + grouped), y = d.parallel(2 + grouped),
             x = d.parallel(3 + grouped);
  AffineExpr c = depthwise ? o : d.sum(weight[1 + grouped]);
  AffineExpr ky = d.sum(weight[2 + grouped]), kx = d.sum(weight[3 + grouped]);
  AffineExpr zero = getAffineConstantExpr(0, getContext());
  d.access(withGroup(group, 1,
                     {d.parallel(0), c, y * stride[0] + ky * dilation[0],
                      x * stride[1] + kx * dilation[1]}));
  d.access(withGroup(group, 0, {o, depthwise ? zero : c, ky, kx}));
  return d.finish();
}

// (b, [g,] c, y, x | o, ky, kx): the weight is read backwards. Where dy does
// not include its padding, it is zero outside.
LoopNest Conv2dInputGradOp::getLoopNest() {
  Dims d(*this);
  ArrayRef<int64_t> dilation = getDilation(), weight = shapeOf(getWeight());
  bool depthwise = isDepthwise(weight, getGroups());
  unsigned grouped = weight.size() == 5;
  AffineExpr group = grouped ? d.parallel(1) : AffineExpr();
  AffineExpr c = d.parallel(1 + grouped), y = d.parallel(2 + grouped),
             x = d.parallel(3 + grouped);
  AffineExpr o = depthwise ? c : d.sum(weight[grouped]);
  AffineExpr ky = d.sum(weight[2 + grouped]), kx = d.sum(weight[3 + grouped]);
  AffineExpr zero = getAffineConstantExpr(0, getContext());
  int64_t rim[2];
  for (int i = 0; i < 2; ++i)
    rim[i] = dilation[i] * (weight[2 + grouped + i] - 1) - getPadding()[i];
  d.access(withGroup(group, 1,
                     {d.parallel(0), o, y + ky * dilation[0] - rim[0],
                      x + kx * dilation[1] - rim[1]}));
  d.access(
      withGroup(group, 0,
                {o, depthwise ? zero : c, ky * -1 + (weight[2 + grouped] - 1),
                 kx * -1 + (weight[3 + grouped] - 1)}));
  LoopNest nest = d.finish();
  if (rim[0] > 0 || rim[1] > 0)
    nest.accesses[0].outside = 0.0;
  return nest;
}

// ([g,] o, c, ky, kx | b, y, x)
LoopNest Conv2dWeightGradOp::getLoopNest() {
  Dims d(*this);
  ArrayRef<int64_t> stride = getStride(), dilation = getDilation(),
                    dy = shapeOf(getDy());
  bool depthwise = isDepthwise(d.result, getGroups());
  unsigned grouped = dy.size() == 5;
  AffineExpr group = grouped ? d.parallel(0) : AffineExpr();
  AffineExpr o = d.parallel(grouped), c = d.parallel(1 + grouped),
             ky = d.parallel(2 + grouped), kx = d.parallel(3 + grouped);
  AffineExpr b = d.sum(dy[0]), y = d.sum(dy[2 + grouped]),
             x = d.sum(dy[3 + grouped]);
  d.access(withGroup(group, 1,
                     {b, depthwise ? o : c, y * stride[0] + ky * dilation[0],
                      x * stride[1] + kx * dilation[1]}));
  d.access(withGroup(group, 1, {b, o, y, x}));
  return d.finish();
}

SmallVector<Value> Conv2dOp::buildBody(OpBuilder &builder, Location loc,
                                       ValueRange x, ValueRange) {
  return {arith::MulFOp::create(builder, loc, x[0], x[1])};
}

SmallVector<Value> Conv2dInputGradOp::buildBody(OpBuilder &builder,
                                                Location loc, ValueRange x,
                                                ValueRange) {
  return {arith::MulFOp::create(builder, loc, x[0], x[1])};
}

SmallVector<Value> Conv2dWeightGradOp::buildBody(OpBuilder &builder,
                                                 Location loc, ValueRange x,
                                                 ValueRange) {
  return {arith::MulFOp::create(builder, loc, x[0], x[1])};
}

/// One multiply-add for each element of the forward result and of a filter.
static int64_t convolutionFlops(Value output, ArrayRef<int64_t> weight) {
  SmallVector<int64_t> filter = mergedWeight(weight);
  return product({2, numElements(output), filter[1], filter[2], filter[3]});
}

int64_t Conv2dOp::getFlops() {
  return convolutionFlops(getResult(), shapeOf(getWeight()));
}

// Where dy includes its padding, zeros are multiplied too: what the nest does
// counts then, each pixel of the result times the filter.
int64_t Conv2dInputGradOp::getFlops() {
  ArrayRef<int64_t> weight = shapeOf(getWeight()), image = shapeOf(getResult());
  bool padded = true;
  for (int i = 0; i < 2; ++i)
    padded &= getStride()[i] == 1 &&
              getPadding()[i] ==
                  getDilation()[i] * (weight[weight.size() - 2 + i] - 1);
  if (!padded)
    return convolutionFlops(getDy(), weight);
  return product({2, image.front(), product(image.take_back(2)),
                  product(mergedWeight(weight))});
}

int64_t Conv2dWeightGradOp::getFlops() {
  return convolutionFlops(getDy(), shapeOf(getResult()));
}
