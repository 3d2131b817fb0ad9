#include "dialects/graph/GraphBuilder.h"

using namespace mlir;
using namespace dl::graph;

/// x moved by one along `dim`, towards its end or its beginning; what comes in
/// is zero.
static Value moved(GraphBuilder &g, Value x, int64_t dim, bool toEnd) {
  SmallVector<int64_t> shape(shapeOf(x)), offsets(shape.size(), 0),
      ones(shape.size(), 1), low(shape.size(), 0), high(shape.size(), 0),
      interior(shape.size(), 0);
  if (shape[dim] == 0)
    return x;
  --shape[dim];
  (toEnd ? low : high)[dim] = 1;
  if (!toEnd)
    offsets[dim] = 1;
  Value part = g.make<SliceOp>(x, offsets, shape, ones);
  return g.make<PadOp>(part, low, high, interior, APFloat(0.0));
}

/// From g[t], the gradient of h[t] alone, the one of h[t] and all that is made
/// of it: d[t] = a[t+1] * d[t+1] + g[t], the recurrence the other way.
SmallVector<Value> LinearRecurrenceOp::buildGradient(OpBuilder &builder,
                                                     ValueRange grads,
                                                     ArrayRef<bool> needed) {
  GraphBuilder g(builder, getLoc());
  int64_t dim = getDim();
  bool reverse = getReverse();
  Value next = moved(g, getA(), dim, reverse);
  Value db = g.make<LinearRecurrenceOp>(next, grads[0], dim, !reverse);
  if (!needed[0])
    return {Value(), db};
  Value before = moved(g, getResult(), dim, !reverse);
  return {g.make<MulOp>(db, before), db};
}

/// An element is part of the sums from its own on.
SmallVector<Value> CumsumOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                           ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  return {g.make<CumsumOp>(grads[0], getDim(), !getReverse())};
}
