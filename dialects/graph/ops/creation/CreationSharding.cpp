#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

static void setLocalType(const Shard &shard, Value result,
                         NamedAttrList &attributes) {
  auto type = RankedTensorType::get(shard.result(0).sizes, elementOf(result));
  attributes.set("type", TypeAttr::get(type));
}

void FullOp::localizeAttributes(const Shard &shard, NamedAttrList &attributes) {
  setLocalType(shard, getResult(), attributes);
}

/// An index is the same wherever it is counted from.
ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule = pointwiseRule(*this);
  for (unsigned factor : rule.results.front()[getDim()])
    rule.factors[factor].isPlaced = true;
  return rule;
}

void IotaOp::localizeAttributes(const Shard &shard, NamedAttrList &attributes) {
  setLocalType(shard, getResult(), attributes);
  int64_t start = getStart().empty() ? 0 : getStart()[0];
  start += shard.result(0).offsets[getDim()];
  attributes.set("start", Builder(getContext()).getDenseI64ArrayAttr({start}));
}
