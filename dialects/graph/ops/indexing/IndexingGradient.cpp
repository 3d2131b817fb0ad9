#include "dialects/graph/GraphBuilder.h"

using namespace mlir;
using namespace dl::graph;

SmallVector<Value> GatherOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                           ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  int64_t dim = getDim();
  Value dx =
      g.make<ScatterAddOp>(getIndex(), grads[0], dim, shapeOf(getX())[dim]);
  return {dx, Value()};
}

SmallVector<Value> ScatterAddOp::buildGradient(OpBuilder &builder,
                                               ValueRange grads,
                                               ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  return {Value(), g.make<GatherOp>(grads[0], getIndex(), getDim())};
}

SmallVector<Value> ScatterAmaxOp::buildGradient(OpBuilder &builder,
                                                ValueRange grads,
                                                ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  int64_t dim = getDim();
  Value maximum = g.make<GatherOp>(getResult(), getIndex(), dim);
  Value isMaximum = g.make<EqOp>(getX(), maximum);
  Value ones = g.cast(isMaximum, elementOf(getX()));
  // Not divided there, where nothing was put and the count is 0.
  Value count = g.make<GatherOp>(
      g.make<ScatterAddOp>(getIndex(), ones, dim, getSize()), getIndex(), dim);
  Value dy = g.make<GatherOp>(grads[0], getIndex(), dim);
  Value share = g.make<DivOp>(dy, count);
  Value zero = g.constant(getX(), 0);
  return {Value(), g.make<SelectOp>(isMaximum, share, zero)};
}
