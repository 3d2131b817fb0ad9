#include "dialects/graph/GraphBuilder.h"

using namespace mlir;
using namespace dl::graph;

/// An element is part of the sums from its own on.
SmallVector<Value> CumsumOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                           ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  return {g.make<CumsumOp>(grads[0], getDim(), !getReverse())};
}
