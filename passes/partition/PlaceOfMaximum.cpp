#include "passes/partition/PlaceOfMaximum.h"
#include "dialects/graph/GraphBuilder.h"

using namespace mlir;

namespace dl::partition {

std::optional<int64_t> dimOfPlace(Operation *op) {
  if (auto max = dyn_cast<graph::MaxOp>(op))
    return max.getDim();
  if (auto argmax = dyn_cast<graph::ArgmaxOp>(op))
    return argmax.getDim();
  return std::nullopt;
}

SmallVector<Value> placeByMaxima(Operation *op, OpBuilder &builder) {
  graph::GraphBuilder g(builder, op->getLoc());
  Value x = op->getOperand(0);
  ArrayRef<int64_t> shape = graph::shapeOf(x);
  int64_t dim = *dimOfPlace(op);
  SmallVector<int64_t> dims = {dim};
  Value most = g.make<graph::AmaxOp>(x, dims, /*keepdim=*/true);
  Value everywhere = g.expand(most, shape);
  Value isThere = g.make<graph::EqOp>(x, everywhere);
  if (isa<FloatType>(graph::elementOf(x))) { // the first NaN, if there is one
    Value isNaN = g.make<graph::NeOp>(x, x);
    isThere = g.make<graph::LogicalOrOp>(isThere, isNaN);
  }
  Value indices = op->getResults().back();
  Value index = g.iota(shape, dim, graph::elementOf(indices));
  Value before = g.make<graph::NegOp>(index);
  Value nowhere = g.fullLike(before, -static_cast<double>(shape[dim]));
  Value candidates = g.make<graph::SelectOp>(isThere, before, nowhere);
  Value first = g.make<graph::AmaxOp>(candidates, dims, /*keepdim=*/true);
  Value place = g.make<graph::NegOp>(first);
  SmallVector<Value> results;
  if (op->getNumResults() == 2)
    results.push_back(g.reshape(most, graph::shapeOf(op->getResult(0))));
  results.push_back(g.reshape(place, graph::shapeOf(indices)));
  return results;
}

} // namespace dl::partition
