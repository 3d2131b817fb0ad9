#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

/// Targets are parallel, or summed. A mean divides by how many of all targets
/// count, and a target names a class of the whole: both may be split once the
/// loss is decomposed.
ShardingRule NllLossOp::getShardingRule() {
  bool isMean = getReduction() == "mean";
  Splitting splitting =
      getReduction() == "none" ? Splitting::Parallel : Splitting::Sum;
  ShardingRule rule;
  TensorFactors logprob, target;
  for (auto [i, size] : llvm::enumerate(shapeOf(getLogprob()))) {
    DimFactors factors;
    if (size != 1 && i == 1)
      factors.push_back(rule.addBlocked(size, BlockReason::IndexInPayload));
    else if (size != 1)
      factors.push_back(isMean ? rule.addBlocked(size, BlockReason::Normalised)
                               : rule.add(size, splitting));
    logprob.push_back(factors);
    if (i != 1)
      target.push_back(factors);
  }
  rule.operands = {logprob, target};
  rule.results.push_back(getReduction() == "none" ? target : TensorFactors());
  rule.partials.push_back({{0}, Splitting::Sum});
  return rule;
}

/// A part knows where its items are among all.
ShardingRule IndexCheckOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.emplace_back();
  for (int64_t size : shapeOf(getTarget())) {
    rule.operands[0].emplace_back();
    if (size != 1)
      rule.operands[0].back().push_back(rule.add(size, Splitting::Max));
  }
  if (!getStart().empty())
    for (unsigned factor : rule.operands[0].front())
      rule.factors[factor].isPlaced = true;
  rule.results.emplace_back();
  return rule;
}

void IndexCheckOp::localizeAttributes(const Shard &shard,
                                      NamedAttrList &attributes) {
  if (getStart().empty())
    return;
  int64_t start = getStart()[0] + shard.operand(0).offsets[0];
  attributes.set("start", Builder(getContext()).getDenseI64ArrayAttr({start}));
}
