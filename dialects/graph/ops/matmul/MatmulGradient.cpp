#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/ops/matmul/MatmulSpec.h"

using namespace mlir;
using namespace dl::graph;

namespace {
struct Labelled {
  Value value;
  StringRef labels;
};
} // namespace

/// The first operand is the one with the rows, which come before columns.
static Value contract(GraphBuilder &g, Labelled a, Labelled b, StringRef result,
                      bool fullPrecision) {
  for (char label : result)
    if (bool inA = a.labels.contains(label); inA != b.labels.contains(label)) {
      if (!inA)
        std::swap(a, b);
      break;
    }
  return g.make<MatmulOp>(a.value, b.value,
                          (a.labels + "," + b.labels + "->" + result).str(),
                          fullPrecision);
}

/// With its labels each of the three is a contraction of the other two: what
/// was a row of one of them is summed, and the other way round.
SmallVector<Value> MatmulOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                           ArrayRef<bool> needed) {
  GraphBuilder g(builder, getLoc());
  MatmulSpec spec = *MatmulSpec::parse(getSpec());
  Labelled dy{grads[0], spec.result}, a{getA(), spec.a}, b{getB(), spec.b};
  SmallVector<Value> result(2);
  if (needed[0])
    result[0] = contract(g, dy, b, spec.a, getFullPrecision());
  if (needed[1])
    result[1] = contract(g, dy, a, spec.b, getFullPrecision());
  return result;
}
