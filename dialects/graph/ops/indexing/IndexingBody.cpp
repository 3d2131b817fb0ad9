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
template <class Op> static LoopNest scatterNest(Op op, Combine combine) {
  unsigned dim = op.getDim(), rank = shapeOf(op.getX()).size();
  LoopNest nest;
  nest.extents.assign(shapeOf(op.getResult()).begin(),
                      shapeOf(op.getResult()).end());
  nest.extents.push_back(shapeOf(op.getX())[dim]);
  nest.numParallel = rank;
  nest.combine = combine;
  nest.scatter = {dim, rank, 1};
  SmallVector<AffineExpr> dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(getAffineDimExpr(i == dim ? rank : i, op.getContext()));
  nest.accesses.push_back(indexAccess(op.getIndex(), dims, rank + 1));
  nest.accesses.push_back(
      {AffineMap::get(rank + 1, 0, dims, op.getContext()), {}, {}});
  return nest;
}

/// The second operand where the first one is the index of `dim`.
static SmallVector<Value> scatterBody(OpBuilder &builder, Location loc,
                                      unsigned dim, double elsewhere,
                                      ValueRange x, ValueRange indices) {
  Value here = indexToScalar(builder, loc, indices[dim], builder.getI64Type());
  Value isHere =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, x[0], here);
  Value none = scalarConstant(builder, loc, x[1].getType(), elsewhere);
  return {arith::SelectOp::create(builder, loc, isHere, x[1], none)};
}

LoopNest ScatterAddOp::getLoopNest() {
  return scatterNest(*this, Combine::Sum);
}
LoopNest ScatterAmaxOp::getLoopNest() {
  return scatterNest(*this, Combine::Max);
}

SmallVector<Value> ScatterAddOp::buildBody(OpBuilder &builder, Location loc,
                                           ValueRange x, ValueRange indices) {
  return scatterBody(builder, loc, getDim(), 0, x, indices);
}
SmallVector<Value> ScatterAmaxOp::buildBody(OpBuilder &builder, Location loc,
                                            ValueRange x, ValueRange indices) {
  return scatterBody(builder, loc, getDim(),
                     identityOf(Combine::Max, elementOf(getX())), x, indices);
}

int64_t GatherOp::getFlops() { return 0; }
int64_t ScatterAddOp::getFlops() { return numElements(getX()); }
int64_t ScatterAmaxOp::getFlops() { return numElements(getX()); }

LoopNest UpdateSliceOp::getLoopNest() {
  MLIRContext *context = getContext();
  unsigned rank = shapeOf(getX()).size();
  LoopNest nest;
  nest.extents.assign(shapeOf(getX()).begin(), shapeOf(getX()).end());
  nest.numParallel = rank;
  nest.replace = {unsigned(getDim())};
  SmallVector<AffineExpr> zeros(shapeOf(getIndex()).size(),
                                getAffineConstantExpr(0, context)),
      dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(getAffineDimExpr(i, context));
  Access x{AffineMap::get(rank, 0, dims, context), {}, {}};
  dims[getDim()] = getAffineConstantExpr(0, context);
  nest.accesses = {{AffineMap::get(rank, 0, zeros, context), {}, {}},
                   {AffineMap::get(rank, 0, dims, context), {}, {}},
                   x};
  return nest;
}

SmallVector<Value> UpdateSliceOp::buildBody(OpBuilder &builder, Location loc,
                                            ValueRange x, ValueRange indices) {
  Value here =
      indexToScalar(builder, loc, indices[getDim()], builder.getI64Type());
  Value isHere =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, x[0], here);
  return {arith::SelectOp::create(builder, loc, isHere, x[1], x[2])};
}

int64_t UpdateSliceOp::getFlops() { return 0; }
