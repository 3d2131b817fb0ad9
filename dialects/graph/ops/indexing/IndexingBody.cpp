#include "dialects/graph/Payload.h"

using namespace mlir;
using namespace dl::graph;

/// What the indices are at an iteration whose dims have these indices in x.
static Access indexAccess(Value index, ArrayRef<AffineExpr> at,
                          unsigned numLoops) {
  MLIRContext *context = index.getContext();
  SmallVector<AffineExpr> indices(at);
  for (auto [i, size] : llvm::enumerate(shapeOf(index)))
    if (size == 1)
      indices[i] = getAffineConstantExpr(0, context);
  return {AffineMap::get(numLoops, 0, indices, context), {}, {}};
}

LoopNest GatherOp::getLoopNest() {
  unsigned dim = getDim(), rank = shapeOf(getX()).size();
  LoopNest nest;
  nest.extents.assign(shapeOf(getResult()).begin(), shapeOf(getResult()).end());
  nest.numParallel = rank;
  SmallVector<AffineExpr> dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(getAffineDimExpr(i, getContext()));
  Access index = indexAccess(getIndex(), dims, rank);
  // Some function of what the index depends on. (A dim that is divided by up to
  // 4 would be walked in phases.)
  AffineExpr unknown = getAffineConstantExpr(0, getContext());
  for (AffineExpr expr : index.map.getResults())
    unknown = unknown + expr;
  dims[dim] = unknown % std::max<int64_t>(shapeOf(getX())[dim], 5);
  Access x{AffineMap::get(rank, 0, dims, getContext()), {}, {}};
  x.indirect = {dim, 1};
  nest.accesses = {x, index};
  return nest;
}

SmallVector<Value> GatherOp::buildBody(OpBuilder &, Location, ValueRange x,
                                       ValueRange) {
  return {x[0]};
}

/// The dims of the result, then x along `dim`.
LoopNest ScatterAddOp::getLoopNest() {
  unsigned dim = getDim(), rank = shapeOf(getX()).size();
  LoopNest nest;
  nest.extents.assign(shapeOf(getResult()).begin(), shapeOf(getResult()).end());
  nest.extents.push_back(shapeOf(getX())[dim]);
  nest.numParallel = rank;
  nest.combine = Combine::Sum;
  nest.sparse = {Sparse::Scatter, dim, rank, 1};
  SmallVector<AffineExpr> dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(getAffineDimExpr(i == dim ? rank : i, getContext()));
  nest.accesses.push_back(indexAccess(getIndex(), dims, rank + 1));
  nest.accesses.push_back(
      {AffineMap::get(rank + 1, 0, dims, getContext()), {}, {}});
  return nest;
}

SmallVector<Value> ScatterAddOp::buildBody(OpBuilder &builder, Location loc,
                                           ValueRange x, ValueRange indices) {
  unsigned dim = getDim();
  Value here = indexToScalar(builder, loc, indices[dim], builder.getI64Type());
  Value isHere =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, x[0], here);
  Value zero = scalarConstant(builder, loc, x[1].getType(), 0);
  return {arith::SelectOp::create(builder, loc, isHere, x[1], zero)};
}

int64_t GatherOp::getFlops() { return 0; }
int64_t ScatterAddOp::getFlops() { return numElements(getX()); }
