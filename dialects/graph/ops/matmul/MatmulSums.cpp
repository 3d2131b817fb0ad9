#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/ops/matmul/MatmulSpec.h"

using namespace mlir;
using namespace dl::graph;

namespace {
struct SplitOperand {
  Value value;
  std::string labels;

  /// A dim becomes two. What is bf16 in memory is widened behind that, as
  /// products want it.
  void split(GraphBuilder &g, char label, char outer, int64_t parts) {
    size_t dim = labels.find(label);
    SmallVector<int64_t> shape(shapeOf(value));
    shape[dim] /= parts;
    shape.insert(shape.begin() + dim, parts);
    auto cast = value.getDefiningOp<CastOp>();
    if (cast && payloadFacts(cast).isWidening)
      value = g.cast(g.reshape(cast.getX(), shape), elementOf(value));
    else
      value = g.reshape(value, shape);
    labels.insert(dim, 1, outer);
  }
};
} // namespace

/// Along a dim that is summed, if joining the factors copies less than the sums
/// of the products would read and write.
Value MatmulOp::buildJointSum(OpBuilder &builder, ValueRange alike) {
  MatmulSpec spec = *MatmulSpec::parse(getSpec());
  std::string summed = spec.summed();
  auto elements = [](Value x) {
    return cast<RankedTensorType>(x.getType()).getNumElements();
  };
  if (summed.empty() ||
      elements(getA()) + elements(getB()) > elements(getResult()))
    return {};
  SmallVector<Value> a, b;
  for (Value value : alike) {
    auto op = value.getDefiningOp<MatmulOp>();
    a.push_back(op.getA());
    b.push_back(op.getB());
  }
  GraphBuilder g(builder, getLoc());
  char label = summed.back();
  Value allOfA = g.make<CatOp>(a, static_cast<int64_t>(spec.a.find(label)));
  Value allOfB = g.make<CatOp>(b, static_cast<int64_t>(spec.b.find(label)));
  return g.make<MatmulOp>(allOfA, allOfB, getSpec(), getFullPrecision());
}

Value MatmulOp::buildTransposed(OpBuilder &builder, ValueRange operands,
                                ArrayRef<bool> transposed) {
  MatmulSpec spec = *MatmulSpec::parse(getSpec());
  auto labels = [&](StringRef of, bool isTransposed) {
    std::string text = of.str();
    if (isTransposed)
      std::swap(text.end()[-1], text.end()[-2]);
    return text;
  };
  GraphBuilder g(builder, getLoc());
  return g.make<MatmulOp>(operands[0], operands[1],
                          labels(spec.a, transposed[0]) + "," +
                              labels(spec.b, transposed[1]) + "->" +
                              labels(spec.result, transposed[2]),
                          getFullPrecision());
}

/// "abcmk,abcmn->abCkn" of operand 0 is "abcmk,abcmn->abckn".
Value MatmulOp::buildUnsummed(OpBuilder &builder, unsigned operand) {
  MatmulSpec spec = *MatmulSpec::parse(getSpec());
  if (spec.result.size() < 2)
    return {};
  StringRef leading = (operand == 0 ? spec.a : spec.b).drop_back(2),
            own = spec.result.take_back(2);
  size_t last = 0;
  for (char label : spec.result.drop_back(2)) {
    bool isOne = !spec.a.contains(label) && !spec.b.contains(label);
    size_t at = leading.find(label, last);
    if (at == StringRef::npos && !isOne)
      return {};
    last = isOne ? last : at;
  }
  if (leading.find_first_of(own) != StringRef::npos)
    return {};
  GraphBuilder g(builder, getLoc());
  return g.make<MatmulOp>(getA(), getB(),
                          spec.a.str() + "," + spec.b.str() + "->" +
                              leading.str() + own.str(),
                          getFullPrecision());
}

/// Dims that are summed, from the first on, become batches, the last of them in
/// part: "amk,amn->kn" in 8 parts of 4 and 1024 terms is "aAmk,aAmn->aAkn" with
/// 4, 2 and 512.
Value MatmulOp::buildSplitSum(OpBuilder &builder, int64_t parts) {
  MatmulSpec spec = *MatmulSpec::parse(getSpec());
  SplitOperand a{getA(), spec.a.str()}, b{getB(), spec.b.str()};
  GraphBuilder g(builder, getLoc());
  std::string batches;
  int64_t left = parts;
  for (char label : spec.summed()) {
    if (left == 1)
      break;
    int64_t terms = shapeOf(getA())[spec.a.find(label)];
    if (left % terms == 0) {
      batches += label;
      left /= terms;
      continue;
    }
    char outer = 'A';
    while (outer <= 'Z' && getSpec().contains(outer))
      ++outer;
    if (terms % left != 0 || outer > 'Z')
      return {};
    for (SplitOperand *x : {&a, &b})
      x->split(g, label, outer, left);
    batches += outer;
    left = 1;
  }
  if (left != 1)
    return {};
  SmallVector<int64_t> shape{parts};
  llvm::append_range(shape, shapeOf(getResult()));
  Value sums = g.make<MatmulOp>(a.value, b.value,
                                a.labels + "," + b.labels + "->" + batches +
                                    spec.result.str(),
                                getFullPrecision());
  return g.reshape(sums, shape);
}
