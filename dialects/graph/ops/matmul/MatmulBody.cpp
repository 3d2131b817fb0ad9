#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Payload.h"

using namespace mlir;
using namespace dl::graph;

LoopNest MatmulOp::getLoopNest() {
  ArrayRef<int64_t> result = shapeOf(getResult());
  unsigned batch = result.size() - 2;
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, getContext()); };
  AffineExpr m = dim(batch), n = dim(batch + 1), k = dim(batch + 2);
  LoopNest nest;
  nest.extents.assign(result.begin(), result.end());
  nest.numParallel = result.size();
  ArrayRef<int64_t> a = shapeOf(getA());
  nest.extents.push_back(a[getTransposeA() ? batch : batch + 1]);
  auto access = [&](AffineExpr row, AffineExpr column, bool transposed) {
    SmallVector<AffineExpr> indices;
    if (batch)
      indices.push_back(dim(0));
    indices.push_back(transposed ? column : row);
    indices.push_back(transposed ? row : column);
    return Access{
        AffineMap::get(nest.extents.size(), 0, indices, getContext()), {}, {}};
  };
  nest.accesses.push_back(access(m, k, getTransposeA()));
  nest.accesses.push_back(access(k, n, getTransposeB()));
  nest.combine = Combine::Sum;
  nest.contraction = true;
  return nest;
}

SmallVector<Value> MatmulOp::buildBody(OpBuilder &builder, Location loc,
                                       ValueRange x, ValueRange) {
  return {arith::MulFOp::create(builder, loc, x[0], x[1])};
}

int64_t MatmulOp::getFlops() { return 2 * product(getLoopNest().extents); }

int64_t LinearOp::getFlops() {
  return 2 * numElements(getResult()) * shapeOf(getWeight())[1];
}

/// x as a matrix with one row for each vector of features.
static Value asRows(GraphBuilder &g, Value x) {
  int64_t columns = shapeOf(x).back();
  int64_t rows = product(shapeOf(x).drop_back());
  return g.reshape(x, {rows, columns});
}

FailureOr<SmallVector<Value>> LinearOp::decompose(OpBuilder &builder) {
  GraphBuilder g(builder, getLoc());
  Value rows = asRows(g, getX());
  Value result = g.make<MatmulOp>(rows, getWeight(), false, true);
  return SmallVector<Value>{g.reshape(result, shapeOf(getResult()))};
}
