#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

/// ([..., k], [j, k]) -> ([..., j])
ShardingRule LinearOp::getShardingRule() {
  ShardingRule rule;
  auto factor = [&](int64_t size, Splitting splitting) {
    return size == 1 ? DimFactors() : DimFactors{rule.add(size, splitting)};
  };
  TensorFactors rows;
  for (int64_t size : shapeOf(getX()).drop_back())
    rows.push_back(factor(size, Splitting::Parallel));
  DimFactors out = factor(shapeOf(getWeight())[0], Splitting::Parallel);
  DimFactors in = factor(shapeOf(getWeight())[1], Splitting::Sum);
  TensorFactors x = rows, result = rows;
  x.push_back(in);
  result.push_back(out);
  rule.operands = {x, {out, in}};
  rule.results.push_back(result);
  rule.partials = {{{0}, Splitting::Sum}, {{1}, Splitting::Sum}};
  return rule;
}
