#include "dialects/graph/Payload.h"

using namespace mlir;
using namespace dl::graph;

/// The dims of x, and `dim` once more, along which x is read.
static LoopNest alongNest(Value x, unsigned dim) {
  MLIRContext *context = x.getContext();
  ArrayRef<int64_t> shape = shapeOf(x);
  unsigned rank = shape.size();
  LoopNest nest;
  nest.extents.assign(shape.begin(), shape.end());
  nest.extents.push_back(shape[dim]);
  nest.numParallel = rank;
  SmallVector<AffineExpr> indices;
  for (unsigned i = 0; i < rank; ++i)
    indices.push_back(getAffineDimExpr(i == dim ? rank : i, context));
  nest.accesses.push_back(
      {AffineMap::get(rank + 1, 0, indices, context), {}, {}});
  return nest;
}

LoopNest CumsumOp::getLoopNest() {
  unsigned dim = getDim(), rank = shapeOf(getX()).size();
  LoopNest nest = alongNest(getX(), dim);
  nest.combine = Combine::Sum;
  nest.sparse = {getReverse() ? Sparse::Suffix : Sparse::Prefix, dim, rank, 0};
  return nest;
}

SmallVector<Value> CumsumOp::buildBody(OpBuilder &builder, Location loc,
                                       ValueRange x, ValueRange indices) {
  unsigned dim = getDim();
  auto counts =
      getReverse() ? arith::CmpIPredicate::uge : arith::CmpIPredicate::ule;
  Value here = indexToScalar(builder, loc, indices[dim], builder.getI64Type());
  Value read =
      indexToScalar(builder, loc, indices.back(), builder.getI64Type());
  Value isPart = arith::CmpIOp::create(builder, loc, counts, read, here);
  Value zero = scalarConstant(builder, loc, x[0].getType(), 0);
  return {arith::SelectOp::create(builder, loc, isPart, x[0], zero)};
}

LoopNest ArgsortOp::getLoopNest() {
  unsigned dim = getDim(), rank = shapeOf(getX()).size();
  LoopNest nest = alongNest(getX(), dim);
  nest.combine = Combine::Order;
  nest.ordered = {dim, rank, getDescending()};
  return nest;
}

SmallVector<Value> ArgsortOp::buildBody(OpBuilder &, Location, ValueRange x,
                                        ValueRange) {
  return {x[0]};
}

int64_t CumsumOp::getFlops() { return numElements(getX()); }
int64_t ArgsortOp::getFlops() { return 0; }
