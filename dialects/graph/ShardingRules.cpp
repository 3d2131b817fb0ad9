// Where an op's sharding rule comes from, and the op on a part of its operands.

#include "dialects/graph/GraphBuilder.h"

using namespace mlir;

namespace dl::graph {

/// One factor for each dim.
static TensorFactors blockedDims(ShardingRule &rule, Value tensor) {
  TensorFactors dims;
  for (int64_t size : shapeOf(tensor)) {
    dims.emplace_back();
    if (size != 1)
      dims.back().push_back(rule.addBlocked(size, BlockReason::Composite));
  }
  return dims;
}

static ShardingRule blockedRule(Operation *op) {
  ShardingRule rule;
  for (Value operand : op->getOperands())
    rule.operands.push_back(blockedDims(rule, operand));
  for (Value result : op->getResults())
    rule.results.push_back(blockedDims(rule, result));
  return rule;
}

ShardingRule pointwiseRule(Operation *op) {
  ShardingRule rule;
  TensorFactors dims;
  for (int64_t size : shapeOf(op->getResult(0))) {
    dims.emplace_back();
    if (size != 1)
      dims.back().push_back(rule.add(size));
  }
  for (Value operand : op->getOperands())
    rule.operands.push_back(shapeOf(operand).empty() ? TensorFactors() : dims);
  rule.results.assign(op->getNumResults(), dims);
  return rule;
}

bool isComposite(Operation *op) {
  if (!isa<DecomposableOpInterface>(op))
    return false;
  Block scratch;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&scratch);
  auto copy = cast<DecomposableOpInterface>(builder.clone(*op));
  bool decomposed = succeeded(copy.decompose(builder));
  while (!scratch.empty()) {
    scratch.back().dropAllUses();
    scratch.back().erase();
  }
  return decomposed;
}

/// Without what is said of factors that share a dim.
static ShardingRule ruleOf(Operation *op) {
  if (auto sharding = dyn_cast<ShardingOpInterface>(op))
    return sharding.getShardingRule();
  if (isa<OptimizerOpInterface>(op))
    return pointwiseRule(op);
  if (isa<LoopNestOpInterface>(op) && !isComposite(op))
    return deriveShardingRule(op);
  return blockedRule(op);
}

ShardingRule shardingRule(Operation *op) {
  ShardingRule rule = ruleOf(op);
  if (rule.isReshape)
    return rule;
  for (const auto &tensors : {rule.operands, rule.results})
    for (const TensorFactors &tensor : tensors)
      for (const DimFactors &dim : tensor)
        for (unsigned factor : dim)
          rule.factors[factor].isPlaced |= dim.size() > 1;
  return rule;
}

/// What an empty part adds to a sum or a maximum.
static Value identityOf(GraphBuilder &g, RankedTensorType type,
                        Splitting kind) {
  Combine combine = kind == Splitting::Max ? Combine::Max : Combine::Sum;
  return g.make<FullOp>(APFloat(identityOf(combine, type.getElementType())),
                        type);
}

FailureOr<SmallVector<Value>>
localizeByCloning(Operation *op, OpBuilder &builder, ValueRange operands,
                  const NamedAttrList &attributes) {
  FailureOr<Operation *> local =
      createInferred(builder, op->getLoc(), op->getName().getStringRef(),
                     operands, attributes);
  if (failed(local))
    return failure();
  return SmallVector<Value>((*local)->getResults());
}

static RankedTensorType localType(Type whole, const Box &box) {
  return RankedTensorType::get(box.sizes,
                               cast<RankedTensorType>(whole).getElementType());
}

static LogicalResult checkTypes(Operation *op, StringRef what,
                                TypeRange expected, ValueRange values) {
  for (auto [i, type] : llvm::enumerate(expected))
    if (i >= values.size() || values[i].getType() != type)
      return op->emitError()
             << "localize: " << what << " " << i << " is " << typeText(type)
             << " by the sharding rule, not "
             << (i < values.size() ? typeText(values[i].getType()) : "missing")
             << "; does the op need ShardingOpInterface::localizeAttributes?";
  return success();
}

FailureOr<SmallVector<Value>> localize(Operation *op, const Shard &shard,
                                       OpBuilder &builder,
                                       ValueRange operands) {
  SmallVector<Type> operandTypes, resultTypes;
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    operandTypes.push_back(localType(type, shard.operand(i)));
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    resultTypes.push_back(localType(type, shard.result(i)));
  if (failed(checkTypes(op, "operand", operandTypes, operands)))
    return failure();
  if (shard.isEmpty()) {
    GraphBuilder g(builder, op->getLoc());
    SmallVector<Value> results;
    for (Type type : resultTypes)
      results.push_back(
          identityOf(g, cast<RankedTensorType>(type), shard.combination()));
    return results;
  }
  DictionaryAttr noted = op->getDiscardableAttrDictionary();
  op->setDiscardableAttrs(DictionaryAttr::get(op->getContext()));
  auto sharding = dyn_cast<ShardingOpInterface>(op);
  FailureOr<SmallVector<Value>> results =
      sharding ? sharding.buildLocal(shard, builder, operands)
               : localizeByCloning(op, builder, operands, op->getAttrs());
  op->setDiscardableAttrs(noted);
  if (failed(results) ||
      failed(checkTypes(op, "result", resultTypes, *results)))
    return failure();
  return results;
}

} // namespace dl::graph
