// Who has a part of the dim that is indexed works on the indices that fall into
// it: a lookup gives zeros for all others, so that parts add up, and a sum at
// indices leaves them out. As in Megatron's VocabParallelEmbedding (Shoeybi et
// al., "Megatron-LM", 2019, section 3).

#include "dialects/graph/GraphBuilder.h"

using namespace mlir;
using namespace dl::graph;

namespace {
/// Indices counted from the beginning of a part.
struct LocalIndices {
  Value inside; ///< whether it is one of the part's
  Value index;  ///< 0 where it is not
};
} // namespace

static LocalIndices localIndices(GraphBuilder &g, Value index, int64_t begin,
                                 int64_t size) {
  SmallVector<int64_t> one(shapeOf(index).size(), 1);
  Type element = elementOf(index);
  auto type = RankedTensorType::get(one, element);
  Value first = g.make<IotaOp>(/*dim=*/0, type, ArrayRef{begin});
  Value local = g.make<SubOp>(index, first);
  Value zero = g.constant(element, 0);
  Value end = g.constant(element, static_cast<double>(size));
  Value from = g.make<GeOp>(local, zero);
  Value below = g.make<LtOp>(local, end);
  Value inside = g.make<LogicalAndOp>(from, below);
  return {inside, g.make<SelectOp>(inside, local, zero)};
}

/// All dims but the indexed one are parallel, and so are the indices along it.
ShardingRule GatherOp::getShardingRule() {
  ShardingRule rule;
  Type element = elementOf(getX());
  bool addsUp = !element.isInteger(1) && !element.isUnsignedInteger();
  TensorFactors x, index, result;
  for (auto [i, size] : llvm::enumerate(shapeOf(getResult()))) {
    int64_t whole = shapeOf(getX())[i];
    DimFactors factors, own;
    if (size != 1)
      factors.push_back(rule.add(size));
    if (i != getDim())
      own = factors;
    else if (whole != 1)
      own.push_back(addsUp
                        ? rule.addPlaced(whole, Splitting::Sum)
                        : rule.addBlocked(whole, BlockReason::IndexInPayload));
    x.push_back(own);
    index.push_back(shapeOf(getIndex())[i] == 1 ? DimFactors() : factors);
    result.push_back(factors);
  }
  rule.operands = {x, index};
  rule.results = {result};
  rule.partials = derivePartialRules(*this);
  return rule;
}

FailureOr<SmallVector<Value>> GatherOp::buildLocal(const Shard &shard,
                                                   OpBuilder &builder,
                                                   ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  Box part = shard.operand(0);
  int64_t dim = getDim(), size = part.sizes[dim];
  NamedAttrList attributes((*this)->getAttrs());
  if (size == shapeOf(getX())[dim])
    return localizeByCloning(*this, builder, operands, attributes);
  auto [inside, index] = localIndices(g, operands[1], part.offsets[dim], size);
  auto found =
      localizeByCloning(*this, builder, {operands[0], index}, attributes);
  if (failed(found))
    return failure();
  Value zero = g.constant(found->front(), 0);
  return SmallVector<Value>{g.make<SelectOp>(inside, found->front(), zero)};
}

/// The indexed dim is parallel, too: each part takes what belongs to it.
template <class Op> static ShardingRule scatterRule(Op op) {
  ShardingRule rule = deriveShardingRule(op);
  for (unsigned factor : rule.results.front()[op.getDim()])
    rule.factors[factor] = {rule.factors[factor].size, Splitting::Parallel,
                            BlockReason::None, /*isPlaced=*/true};
  return rule;
}

template <class Op>
static FailureOr<SmallVector<Value>>
localScatter(Op op, Combine combine, const Shard &shard, OpBuilder &builder,
             ValueRange operands) {
  GraphBuilder g(builder, op.getLoc());
  Box part = shard.result(0);
  int64_t dim = op.getDim(), size = part.sizes[dim];
  NamedAttrList attributes(op->getAttrs());
  attributes.set("size", builder.getI64IntegerAttr(size));
  if (size == static_cast<int64_t>(op.getSize()))
    return localizeByCloning(op, builder, operands, attributes);
  auto [inside, index] = localIndices(g, operands[0], part.offsets[dim], size);
  Value x = operands[1];
  Value none = g.constant(x, identityOf(combine, elementOf(x)));
  FailureOr<Operation *> taken =
      createInferred(builder, op.getLoc(), SelectOp::getOperationName(),
                     {inside, x, none}, {});
  if (failed(taken))
    return failure();
  return localizeByCloning(op, builder, {index, (*taken)->getResult(0)},
                           attributes);
}

ShardingRule ScatterAddOp::getShardingRule() { return scatterRule(*this); }
ShardingRule ScatterAmaxOp::getShardingRule() { return scatterRule(*this); }

FailureOr<SmallVector<Value>> ScatterAddOp::buildLocal(const Shard &shard,
                                                       OpBuilder &builder,
                                                       ValueRange operands) {
  return localScatter(*this, Combine::Sum, shard, builder, operands);
}
FailureOr<SmallVector<Value>> ScatterAmaxOp::buildLocal(const Shard &shard,
                                                        OpBuilder &builder,
                                                        ValueRange operands) {
  return localScatter(*this, Combine::Max, shard, builder, operands);
}

/// Who has a part of the updated dim would have to know where it begins.
ShardingRule UpdateSliceOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors slice, x;
  for (auto [i, size] : llvm::enumerate(shapeOf(getX()))) {
    DimFactors factors;
    if (i == getDim() && size != 1)
      factors.push_back(rule.addBlocked(size, BlockReason::IndexInPayload));
    else if (size != 1)
      factors.push_back(rule.add(size));
    slice.push_back(i == getDim() ? DimFactors() : factors);
    x.push_back(factors);
  }
  rule.operands = {TensorFactors(shapeOf(getIndex()).size()), slice, x};
  rule.results = {x};
  rule.partials = {{{1, 2}, Splitting::Sum}, {{1, 2}, Splitting::Max}};
  return rule;
}
