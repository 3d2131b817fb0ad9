#include "passes/precision/StepPrecision.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/StepRole.h"

using namespace mlir;
using dl::graph::LoopNestOpInterface;

namespace dl::precision {

static bool isPlain(Operation *op) {
  return isa_and_nonnull<LoopNestOpInterface>(op) &&
         !isa<graph::AliasOpInterface, graph::CommunicationOpInterface>(op);
}

bool isMoved(Operation *op) {
  if (!isPlain(op) || op->getNumOperands() != 1)
    return false;
  graph::PayloadFacts facts =
      graph::payloadFacts(cast<LoopNestOpInterface>(op));
  return facts.isView || facts.isZeroPaddedView;
}

static bool isSum(Operation *op) {
  return isPlain(op) && cast<LoopNestOpInterface>(op).getLoopNest().combine ==
                            graph::Combine::Sum;
}

/// Adds up, or moves, what a gradient of a parameter is the sum of.
static bool isPartOfSum(Operation *op) {
  return isMoved(op) || isa<graph::AliasOpInterface, graph::CatOp>(op) ||
         (isPlain(op) &&
          graph::payloadFacts(cast<LoopNestOpInterface>(op)).isAddition) ||
         isa<graph::SumOp>(op);
}

StepPrecision::StepPrecision(graph::StepOp step,
                             const llvm::SetVector<Operation *> &products)
    : products(products) {
  Block &body = step.getBody().front();
  for (Operation &op : llvm::reverse(body))
    for (Value value : op.getResults())
      if (!value.use_empty() &&
          llvm::all_of(value.getUsers(), [&](Operation *user) {
            return isa<graph::GradientOp>(user) ||
                   user->hasTrait<OpTrait::IsTerminator>() ||
                   graph::roleOf(user->getLoc()) == graph::StepRole::Update ||
                   (isPartOfSum(user) &&
                    ofParameter.contains(user->getResult(0)));
          }))
        ofParameter.insert(value);
  for (BlockArgument argument : body.getArguments())
    if (isa<FloatType>(graph::elementOf(argument)))
      kinds[argument] = Kind::Wide;
  for (Operation &op : body)
    if (Kind kind = kindOf(&op); kind != Kind::Neutral)
      for (Value value : op.getResults())
        if (isa<FloatType>(graph::elementOf(value)))
          kinds[value] = kind;
  for (Operation &op : llvm::reverse(body))
    for (Value value : op.getResults())
      for (OpOperand &use : value.getUses())
        if (isCompared(use))
          leadToComparisons.insert(&op);
}

StepPrecision::Kind StepPrecision::kindOf(Operation *op) const {
  if (op->getNumResults() == 0 || op->getNumOperands() == 0)
    return Kind::Neutral;
  Value result = op->getResult(0);
  if (products.contains(op))
    return isOfParameter(result) ? Kind::Wide : Kind::Narrow;
  bool isPool = isa<graph::SumPool2dOp, graph::SumPool2dGradOp>(op);
  if ((!isPlain(op) && !isa<graph::AliasOpInterface>(op)) ||
      (isSum(op) && !isPool))
    return Kind::Wide;
  Kind large = Kind::Neutral, all = Kind::Neutral;
  bool anyLarge = false;
  for (Value operand : op->getOperands()) {
    Kind kind = kinds.lookup(operand);
    all = std::max(all, kind);
    if (2 * graph::numElements(operand) <= graph::numElements(result))
      continue;
    large = std::max(large, kind);
    anyLarge |= kind != Kind::Neutral;
  }
  return anyLarge ? large : all;
}

bool StepPrecision::comparesWithOther(OpOperand &use) const {
  Operation *user = use.getOwner();
  auto loops = dyn_cast<LoopNestOpInterface>(user);
  if (!loops || !graph::payloadFacts(loops).isComparison)
    return false;
  return kinds.lookup(user->getOperand(1 - use.getOperandNumber())) !=
         Kind::Neutral;
}

bool StepPrecision::isCompared(OpOperand &use) const {
  Operation *user = use.getOwner();
  return comparesWithOther(use) ||
         (!isSum(user) && leadToComparisons.contains(user));
}

} // namespace dl::precision
