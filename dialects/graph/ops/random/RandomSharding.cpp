// A draw belongs to an element of the whole tensor: a part knows where it lies
// in it, and draws the same.

#include "dialects/graph/ops/random/Random.h"

using namespace mlir;
using namespace dl::graph;

static ShardingRule drawRule(Operation *op, Value scalars) {
  ShardingRule rule = pointwiseRule(op);
  for (Factor &factor : rule.factors)
    factor.isPlaced = true;
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == scalars) {
      unsigned all =
          rule.addBlocked(numElements(scalars), BlockReason::Skipped);
      rule.operands[operand.getOperandNumber()] = {{all}};
    }
  rule.partials = derivePartialRules(op);
  return rule;
}

template <typename Op>
static void setPlace(Op op, const Shard &shard, NamedAttrList &attributes) {
  DrawPlace place = drawPlaceOf(op);
  Box box = shard.result(0);
  for (size_t i = 0; i < box.offsets.size(); ++i)
    place.offset[i] += box.offsets[i];
  Builder builder(op.getContext());
  attributes.set("offset", builder.getDenseI64ArrayAttr(place.offset));
  attributes.set("extents", builder.getDenseI64ArrayAttr(place.extents));
}

template <typename Op>
static void setPlaceAndType(Op op, const Shard &shard,
                            NamedAttrList &attributes) {
  setPlace(op, shard, attributes);
  auto type =
      RankedTensorType::get(shard.result(0).sizes, elementOf(op.getResult()));
  attributes.set("type", TypeAttr::get(type));
}

ShardingRule UniformOp::getShardingRule() {
  return drawRule(*this, getScalars());
}
ShardingRule NormalOp::getShardingRule() {
  return drawRule(*this, getScalars());
}
ShardingRule DropoutOp::getShardingRule() {
  return drawRule(*this, getScalars());
}

void UniformOp::localizeAttributes(const Shard &shard,
                                   NamedAttrList &attributes) {
  setPlaceAndType(*this, shard, attributes);
}
void NormalOp::localizeAttributes(const Shard &shard,
                                  NamedAttrList &attributes) {
  setPlaceAndType(*this, shard, attributes);
}
void DropoutOp::localizeAttributes(const Shard &shard,
                                   NamedAttrList &attributes) {
  setPlace(*this, shard, attributes);
}
