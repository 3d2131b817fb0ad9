#include "passes/backward/ItemWays.h"
#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/SourceLine.h"

using namespace mlir;
using namespace dl;

bool ItemWays::refuse(Operation *op, const Twine &what) {
  std::string line = graph::sourceLineOf(op->getLoc()).lineText();
  why = "`" + op->getName().stripDialect().str() + "`" +
        (line.empty() ? "" : " at " + line) + " " + what.str();
  return false;
}

bool ItemWays::find() {
  for (BlockArgument argument : step.getArguments())
    if (graph::portOf(argument).asInput())
      places[argument] = {ItemWay::Split, 0};
  for (Operation &op : step.getOps())
    if (!isa<graph::ReturnOp>(op) && !classify(&op))
      return false;
  return checkResults();
}

bool ItemWays::classify(Operation *op) {
  if (isa<graph::GradientsOp>(op))
    return refuse(op, "is of all items of a batch together");
  auto grows = op->getAttrOfType<IntegerAttr>(graph::kBatchDim);
  if (grows && grows.getInt() == graph::kNotByItem)
    return refuse(op, "pairs items of a batch, or depends on how many it has");
  bool isLate = false, isSplit = grows != nullptr;
  for (Value operand : op->getOperands()) {
    ItemWay way = of(operand).way;
    isLate |= way != ItemWay::Shared && way != ItemWay::Split;
    isSplit |= way == ItemWay::Split;
  }
  if (isLate && isSplit)
    return refuse(op, "needs all items of a batch to compute each of them");
  if (isLate)
    for (Value result : op->getResults())
      places[result] = {ItemWay::Late, 0};
  if (isLate || !isSplit)
    return true;
  if (!divide(op))
    return false;
  // What else were as long as the batch would be as long as a full one.
  bool fits = !grows || llvm::any_of(op->getResults(), [&](Value result) {
    ItemPlace place = of(result);
    return place.way == ItemWay::Split && place.dim == grows.getInt();
  });
  return fits || refuse(op, "repeats items as often as a batch has them");
}

/// The factor of the rule that runs through the items.
std::optional<unsigned>
ItemWays::itemFactor(Operation *op, const graph::ShardingRule &rule) const {
  std::optional<unsigned> factor;
  auto agree = [&](const graph::DimFactors &dim) {
    bool fits = !dim.empty() && (!factor || *factor == dim.front());
    if (fits)
      factor = dim.front();
    return fits;
  };
  for (OpOperand &operand : op->getOpOperands())
    if (ItemPlace place = of(operand.get()); place.way == ItemWay::Split)
      if (!agree(rule.operands[operand.getOperandNumber()][place.dim]))
        return std::nullopt;
  if (auto dim = op->getAttrOfType<IntegerAttr>(graph::kBatchDim);
      dim && !factor && !agree(rule.results[0][dim.getInt()]))
    return std::nullopt;
  return factor;
}

bool ItemWays::canDivide(Operation *op, const graph::ShardingRule &rule,
                         unsigned factor) {
  if (whyNotSplit(rule, {{factor, items, 0}}) == graph::BlockReason::None)
    return true;
  return refuse(op, "brings items of a batch together");
}

bool ItemWays::divide(Operation *op) {
  graph::ShardingRule rule = graph::shardingRule(op);
  std::optional<unsigned> factor = itemFactor(op, rule);
  if (!factor)
    return refuse(op, "brings items of a batch together");
  if (!canDivide(op, rule, *factor))
    return false;
  graph::Splitting splitting = rule.factors[*factor].splitting;
  for (OpResult result : op->getResults()) {
    const graph::TensorFactors &dims = rule.results[result.getResultNumber()];
    auto dim = llvm::find_if(dims, [&](const graph::DimFactors &factors) {
      return llvm::is_contained(factors, *factor);
    });
    if (dim != dims.end())
      places[result] = {ItemWay::Split,
                        static_cast<unsigned>(dim - dims.begin())};
    else if (splitting == graph::Splitting::Sum ||
             splitting == graph::Splitting::Max)
      places[result] = {
          splitting == graph::Splitting::Sum ? ItemWay::Sum : ItemWay::Max, 0};
    else
      return refuse(op, "brings items of a batch together");
  }
  divisions.insert({op, {std::move(rule), *factor}});
  return true;
}

/// An evaluation returns what is made of sums, a prediction rows.
bool ItemWays::checkResult(OpOperand &returned) {
  graph::PortAttr port = graph::portOf(returned);
  ItemPlace place = of(returned.get());
  Operation *maker = returned.get().getDefiningOp();
  if (!maker)
    maker = step;
  if (port.asState())
    return refuse(maker, "assigns a state");
  bool isRow = place.way == ItemWay::Split && place.dim == 0;
  if (port.asMetric() && predicts != isRow)
    return refuse(maker, predicts ? "is not made item by item"
                                  : "gives a tensor, not a number");
  if (port.asMetric() && isCombined(returned.get()))
    return combine(returned.get(), maker);
  if (port.asError() && place.way == ItemWay::Late && predicts)
    return refuse(maker, "is not made item by item");
  return true;
}

bool ItemWays::checkResults() {
  for (OpOperand &returned : step.getReturn()->getOpOperands())
    if (!checkResult(returned))
      return false;
  for (Operation &op : step.getOps())
    for (Value operand : op.getOperands())
      if (!isa<graph::ReturnOp>(op) && isCombined(operand) &&
          !combine(operand, &op))
        return false;
  return true;
}

/// Notes that the update needs it.
bool ItemWays::combine(Value value, Operation *op) {
  Type element = graph::elementOf(value);
  if (predicts || !(isa<FloatType>(element) || element.isSignlessInteger(32) ||
                    element.isSignlessInteger(64)))
    return refuse(op, "is not made item by item");
  sums.insert(value);
  return true;
}
