#include "dialects/graph/GraphBuilder.h"

using namespace mlir;
using namespace dl::graph;

SmallVector<Value> MatmulOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                           ArrayRef<bool> needed) {
  GraphBuilder g(builder, getLoc());
  SmallVector<Value> result(2);
  Value dy = grads[0], a = getA(), b = getB();
  bool ta = getTransposeA(), tb = getTransposeB();
  if (needed[0])
    result[0] = ta ? g.make<MatmulOp>(b, dy, tb, true)
                   : g.make<MatmulOp>(dy, b, false, !tb);
  if (needed[1])
    result[1] = tb ? g.make<MatmulOp>(dy, a, true, ta)
                   : g.make<MatmulOp>(a, dy, !ta, false);
  return result;
}

SmallVector<Value> LinearOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                           ArrayRef<bool> needed) {
  GraphBuilder g(builder, getLoc());
  SmallVector<Value> result(2);
  ArrayRef<int64_t> weight = shapeOf(getWeight());
  int64_t rows = product(shapeOf(getX()).drop_back());
  Value dy = g.reshape(grads[0], {rows, weight[0]});
  if (needed[0]) {
    Value dx = g.make<MatmulOp>(dy, getWeight(), false, false);
    result[0] = g.reshape(dx, shapeOf(getX()));
  }
  if (needed[1]) {
    Value x = g.reshape(getX(), {rows, weight[1]});
    result[1] = g.make<MatmulOp>(dy, x, true, false);
  }
  return result;
}
