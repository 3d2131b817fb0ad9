#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

/// Each slice along `dim` is on its own.
static ShardingRule sliceRule(Operation *op, int64_t dim) {
  ShardingRule rule = pointwiseRule(op);
  for (unsigned factor : rule.results[0][dim])
    rule.block(factor, BlockReason::Normalised);
  return rule;
}

ShardingRule SoftmaxOp::getShardingRule() { return sliceRule(*this, getDim()); }
ShardingRule LogSoftmaxOp::getShardingRule() {
  return sliceRule(*this, getDim());
}
