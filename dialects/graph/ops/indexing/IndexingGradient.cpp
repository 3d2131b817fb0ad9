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
