#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Payload.h"

using namespace mlir;
using namespace dl::graph;

/// A contraction over the given accesses; extents are the result's, then
/// `sums`.
static LoopNest contraction(Operation *op, ArrayRef<int64_t> sums,
                            ArrayRef<AffineExpr> first,
                            ArrayRef<AffineExpr> second) {
  ArrayRef<int64_t> result = shapeOf(op->getResult(0));
  LoopNest nest;
  nest.extents.assign(result.begin(), result.end());
  nest.numParallel = result.size();
  nest.extents.append(sums.begin(), sums.end());
  for (ArrayRef<AffineExpr> indices : {first, second})
    nest.accesses.push_back(
        {AffineMap::get(nest.extents.size(), 0, indices, op->getContext()),
         {},
         {}});
  nest.combine = Combine::Sum;
  nest.contraction = true;
  return nest;
}

/// Iteration dims 0..6.
static SmallVector<AffineExpr, 7> dims(MLIRContext *context) {
  SmallVector<AffineExpr, 7> result;
  for (unsigned i = 0; i < 7; ++i)
    result.push_back(getAffineDimExpr(i, context));
  return result;
}

// (b, o, y, x | c, ky, kx)
LoopNest Conv2dOp::getLoopNest() {
  auto d = dims(getContext());
  ArrayRef<int64_t> stride = getStride();
  return contraction(
      *this, shapeOf(getWeight()).drop_front(),
      {d[0], d[4], d[2] * stride[0] + d[5], d[3] * stride[1] + d[6]},
      {d[1], d[4], d[5], d[6]});
}

// (b, c, y, x | o, ky, kx): the weight is read backwards.
LoopNest Conv2dInputGradOp::getLoopNest() {
  auto d = dims(getContext());
  ArrayRef<int64_t> weight = shapeOf(getWeight());
  return contraction(
      *this, {weight[0], weight[2], weight[3]},
      {d[0], d[4], d[2] + d[5], d[3] + d[6]},
      {d[4], d[1], d[5] * -1 + (weight[2] - 1), d[6] * -1 + (weight[3] - 1)});
}

// (o, c, ky, kx | b, y, x)
LoopNest Conv2dWeightGradOp::getLoopNest() {
  auto d = dims(getContext());
  ArrayRef<int64_t> stride = getStride(), dy = shapeOf(getDy());
  return contraction(
      *this, {dy[0], dy[2], dy[3]},
      {d[4], d[1], d[5] * stride[0] + d[2], d[6] * stride[1] + d[3]},
      {d[4], d[0], d[5], d[6]});
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
  return 2 * numElements(output) * product(weight.drop_front());
}

int64_t Conv2dOp::getFlops() {
  return convolutionFlops(getResult(), shapeOf(getWeight()));
}

int64_t Conv2dInputGradOp::getFlops() {
  return convolutionFlops(getDy(), shapeOf(getWeight()));
}

int64_t Conv2dWeightGradOp::getFlops() {
  return convolutionFlops(getDy(), shapeOf(getResult()));
}
