#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

ShardingRule DetachOp::getShardingRule() {
  ShardingRule rule = pointwiseRule(*this);
  rule.partials = {{{0}, Splitting::Sum}, {{0}, Splitting::Max}};
  return rule;
}
