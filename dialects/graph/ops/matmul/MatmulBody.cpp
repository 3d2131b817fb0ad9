#include "dialects/graph/Inference.h"
#include "dialects/graph/ops/matmul/MatmulSpec.h"

using namespace mlir;
using namespace dl::graph;

/// The operand's index: a dim that no loop runs along has one element.
static Access accessOf(StringRef labels, StringRef loops,
                       MLIRContext *context) {
  SmallVector<AffineExpr> indices;
  for (char label : labels) {
    size_t loop = loops.find(label);
    indices.push_back(loop == StringRef::npos
                          ? getAffineConstantExpr(0, context)
                          : getAffineDimExpr(loop, context));
  }
  return {AffineMap::get(loops.size(), 0, indices, context), {}, {}};
}

LoopNest MatmulOp::getLoopNest() {
  MatmulSpec spec = *MatmulSpec::parse(getSpec());
  std::string summed = spec.summed(), loops = spec.result.str() + summed;
  ArrayRef<int64_t> result = shapeOf(getResult()), a = shapeOf(getA());
  LoopNest nest;
  nest.extents.assign(result.begin(), result.end());
  nest.numParallel = result.size();
  for (char label : summed)
    nest.extents.push_back(a[spec.a.find(label)]);
  nest.accesses.push_back(accessOf(spec.a, loops, getContext()));
  nest.accesses.push_back(accessOf(spec.b, loops, getContext()));
  nest.combine = summed.empty() ? Combine::None : Combine::Sum;
  // Without rows and columns nothing is read twice: a sum like any other.
  nest.contraction =
      !summed.empty() && llvm::any_of(spec.result, [&](char label) {
        return spec.a.contains(label) != spec.b.contains(label);
      });
  return nest;
}

SmallVector<Value> MatmulOp::buildBody(OpBuilder &builder, Location loc,
                                       ValueRange x, ValueRange) {
  return {arith::MulFOp::create(builder, loc, x[0], x[1])};
}

int64_t MatmulOp::getFlops() {
  LoopNest nest = getLoopNest();
  return (nest.combine == Combine::Sum ? 2 : 1) * product(nest.extents);
}
