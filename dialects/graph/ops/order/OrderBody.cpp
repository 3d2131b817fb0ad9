#include "dialects/graph/Payload.h"

using namespace mlir;
using namespace dl::graph;

/// The dims of the operands, all of one shape, and `dim` once more, along which
/// they are read.
static LoopNest alongNest(ValueRange operands, unsigned dim) {
  MLIRContext *context = operands[0].getContext();
  ArrayRef<int64_t> shape = shapeOf(operands[0]);
  unsigned rank = shape.size();
  LoopNest nest;
  nest.extents.assign(shape.begin(), shape.end());
  nest.extents.push_back(shape[dim]);
  nest.numParallel = rank;
  SmallVector<AffineExpr> indices;
  for (unsigned i = 0; i < rank; ++i)
    indices.push_back(getAffineDimExpr(i == dim ? rank : i, context));
  nest.accesses.assign(operands.size(),
                       {AffineMap::get(rank + 1, 0, indices, context), {}, {}});
  return nest;
}

static LoopNest scanNest(Operation *op, Scan::Kind kind, unsigned dim,
                         bool reverse) {
  LoopNest nest = alongNest(op->getOperands(), dim);
  nest.combine = Combine::Scan;
  nest.scan = {kind, dim, nest.numParallel, reverse};
  return nest;
}

LoopNest CumsumOp::getLoopNest() {
  return scanNest(*this, Scan::Sum, getDim(), getReverse());
}
LoopNest LinearRecurrenceOp::getLoopNest() {
  return scanNest(*this, Scan::Linear, getDim(), getReverse());
}
LoopNest ArgcummaxOp::getLoopNest() {
  return scanNest(*this, Scan::Argmax, getDim(), /*reverse=*/false);
}

SmallVector<Value> CumsumOp::buildBody(OpBuilder &, Location, ValueRange x,
                                       ValueRange) {
  return {x[0]};
}
SmallVector<Value> LinearRecurrenceOp::buildBody(OpBuilder &, Location,
                                                 ValueRange x, ValueRange) {
  return {x[1]};
}
SmallVector<Value> ArgcummaxOp::buildBody(OpBuilder &, Location, ValueRange x,
                                          ValueRange) {
  return {x[0]};
}

LoopNest ArgsortOp::getLoopNest() {
  unsigned dim = getDim(), rank = shapeOf(getX()).size();
  LoopNest nest = alongNest(getX(), dim);
  nest.extents[dim] = getType().getShape()[dim];
  nest.combine = Combine::Order;
  nest.ordered = {dim, rank, getDescending()};
  return nest;
}

SmallVector<Value> ArgsortOp::buildBody(OpBuilder &, Location, ValueRange x,
                                        ValueRange) {
  return {x[0]};
}

int64_t CumsumOp::getFlops() { return numElements(getX()); }
int64_t LinearRecurrenceOp::getFlops() { return 2 * numElements(getA()); }
int64_t ArgcummaxOp::getFlops() { return numElements(getX()); }
int64_t ArgsortOp::getFlops() { return 0; }
