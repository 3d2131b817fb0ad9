#include "dialects/graph/GraphBuilder.h"

using namespace mlir;
using namespace dl::graph;

/// The shape of x with size 1 in the reduced dims.
static SmallVector<int64_t> keptShape(Value x, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape(shapeOf(x));
  for (int64_t dim : dims)
    shape[dim] = 1;
  return shape;
}

SmallVector<Value> SumOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                        ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  Value kept = g.reshape(grads[0], keptShape(getX(), getDims()));
  return {g.expand(kept, shapeOf(getX()))};
}

Value SumOp::buildJointSum(OpBuilder &builder, ValueRange alike) {
  if (getDims().empty())
    return {};
  GraphBuilder g(builder, getLoc());
  SmallVector<Value> inputs;
  for (Value value : alike)
    inputs.push_back(value.getDefiningOp<SumOp>().getX());
  Value all = g.make<CatOp>(inputs, getDims().front());
  return g.make<SumOp>(all, getDims(), getKeepdim());
}

SmallVector<Value> AmaxOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                         ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  SmallVector<int64_t> kept = keptShape(getX(), getDims());
  Value maximum = g.reshape(getResult(), kept);
  Value dy = g.reshape(grads[0], kept);
  Value isMaximum = g.make<EqOp>(getX(), maximum);
  Value ones = g.cast(isMaximum, elementOf(getX()));
  Value count = g.sum(ones, getDims(), /*keepdim=*/true);
  Value share = g.make<DivOp>(dy, count);
  Value zero = g.constant(getX(), 0);
  return {g.make<SelectOp>(isMaximum, share, zero)};
}

SmallVector<Value> MaxOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                        ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  if (!grads[0])
    return {Value()};
  int64_t dim = getDim();
  SmallVector<int64_t> kept = keptShape(getX(), dim);
  SmallVector<int64_t> along(kept.size(), 1);
  along[dim] = shapeOf(getX())[dim];
  Value positions = g.iota(along, dim, elementOf(getIndices()));
  Value chosen = g.reshape(getIndices(), kept);
  Value isMaximum = g.make<EqOp>(positions, chosen);
  Value dy = g.reshape(grads[0], kept);
  Value zero = g.constant(getX(), 0);
  return {g.make<SelectOp>(isMaximum, dy, zero)};
}
