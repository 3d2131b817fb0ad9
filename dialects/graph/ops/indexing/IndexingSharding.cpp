#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

/// The indexed dim is needed whole, by all; the indices along it are parallel,
/// and so are all other dims.
ShardingRule GatherOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors x, index, result;
  for (auto [i, size] : llvm::enumerate(shapeOf(getResult()))) {
    int64_t whole = shapeOf(getX())[i];
    DimFactors factors, own;
    if (size != 1)
      factors.push_back(rule.add(size));
    if (i != getDim())
      own = factors;
    else if (whole != 1)
      own.push_back(rule.addBlocked(whole, BlockReason::IndexInPayload));
    x.push_back(own);
    index.push_back(shapeOf(getIndex())[i] == 1 ? DimFactors() : factors);
    result.push_back(factors);
  }
  rule.operands = {x, index};
  rule.results = {result};
  rule.partials = derivePartialRules(*this);
  return rule;
}
