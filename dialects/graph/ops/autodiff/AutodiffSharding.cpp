#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

/// Sums and maxima pass through what leaves its operand as it is.
static ShardingRule sameValuesRule(Operation *op) {
  ShardingRule rule = pointwiseRule(op);
  rule.partials = {{{0}, Splitting::Sum}, {{0}, Splitting::Max}};
  return rule;
}

ShardingRule DetachOp::getShardingRule() { return sameValuesRule(*this); }

ShardingRule GradientOp::getShardingRule() { return sameValuesRule(*this); }
