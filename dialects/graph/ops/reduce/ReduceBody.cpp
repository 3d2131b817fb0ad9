#include "dialects/graph/Payload.h"

using namespace mlir;
using namespace dl::graph;

/// The dims of the result, then those of x that are reduced.
static LoopNest reductionNest(Value x, ArrayRef<int64_t> dims, bool keepdim,
                              Combine combine) {
  MLIRContext *context = x.getContext();
  ArrayRef<int64_t> shape = shapeOf(x);
  LoopNest nest;
  nest.combine = combine;
  SmallVector<AffineExpr> indices(shape.size());
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool reduced = llvm::is_contained(dims, static_cast<int64_t>(i));
    if (reduced && !keepdim)
      continue;
    if (!reduced)
      indices[i] = getAffineDimExpr(nest.extents.size(), context);
    nest.extents.push_back(reduced ? 1 : size);
  }
  nest.numParallel = nest.extents.size();
  for (int64_t dim : dims) {
    indices[dim] = getAffineDimExpr(nest.extents.size(), context);
    nest.extents.push_back(shape[dim]);
  }
  AffineMap map = AffineMap::get(nest.extents.size(), 0, indices, context);
  nest.accesses.push_back({map, {}, {}});
  return nest;
}

LoopNest SumOp::getLoopNest() {
  return reductionNest(getX(), getDims(), getKeepdim(), Combine::Sum);
}

LoopNest AmaxOp::getLoopNest() {
  return reductionNest(getX(), getDims(), getKeepdim(), Combine::Max);
}

LoopNest MaxOp::getLoopNest() {
  int64_t dim = getDim();
  LoopNest nest = reductionNest(getX(), dim, getKeepdim(), Combine::Max);
  nest.yieldsIndex = true;
  return nest;
}

LoopNest ArgmaxOp::getLoopNest() {
  int64_t dim = getDim();
  LoopNest nest = reductionNest(getX(), dim, getKeepdim(), Combine::Max);
  nest.yieldsValue = false;
  nest.yieldsIndex = true;
  return nest;
}

SmallVector<Value> SumOp::buildBody(OpBuilder &, Location, ValueRange x,
                                    ValueRange) {
  return {x[0]};
}

SmallVector<Value> AmaxOp::buildBody(OpBuilder &, Location, ValueRange x,
                                     ValueRange) {
  return {x[0]};
}

SmallVector<Value> MaxOp::buildBody(OpBuilder &, Location, ValueRange x,
                                    ValueRange) {
  return {x[0]};
}

SmallVector<Value> ArgmaxOp::buildBody(OpBuilder &, Location, ValueRange x,
                                       ValueRange) {
  return {x[0]};
}

int64_t SumOp::getFlops() { return numElements(getX()); }
int64_t AmaxOp::getFlops() { return numElements(getX()); }
int64_t MaxOp::getFlops() { return numElements(getX()); }
int64_t ArgmaxOp::getFlops() { return numElements(getX()); }
