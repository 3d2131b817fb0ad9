#include "passes/decode/PositionDemand.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/Step.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dl::decode {

PositionDemand::PositionDemand(graph::StepOp step, int64_t positions)
    : step(step), positions(positions) {}

const graph::ShardingRule &PositionDemand::rule(Operation *op) {
  auto found = rules.find(op);
  if (found == rules.end())
    found = rules.try_emplace(op, graph::shardingRule(op)).first;
  return found->second;
}

bool PositionDemand::isCached(Value value) const {
  return isWhole(value) && dependsOnTokens(value) &&
         !value.getDefiningOp<graph::ExpandOp>();
}

bool PositionDemand::run() {
  findPlaces();
  if (!startFromResults())
    return false;
  for (Operation &op : llvm::reverse(step.getBody().front()))
    if (!isa<graph::ReturnOp>(op) && !demandOperands(&op))
      return false;
  if (isWhole(step.getArgument(0))) {
    why = "all tokens of the window are read at once";
    where = step.getLoc();
    return false;
  }
  return true;
}

/// From the tokens on: which values depend on them, and where in these
/// positions lie.
void PositionDemand::findPlaces() {
  for (BlockArgument argument : step.getArguments())
    if (graph::portOf(argument).asInput()) {
      dependent.insert(argument);
      if (argument.getArgNumber() == 0)
        places[argument] = {1};
    }
  for (Operation &op : step.getOps()) {
    if (llvm::none_of(op.getOperands(),
                      [&](Value v) { return dependent.contains(v); }))
      continue;
    for (Value result : op.getResults())
      dependent.insert(result);
    if (op.getNumResults() == 1)
      places[op.getResult(0)] = placesOfResult(&op);
  }
}

/// A slice that begins with the first position.
static bool keepsPositions(graph::SliceOp slice, unsigned dim) {
  return slice.getOffsets()[dim] == 0 && slice.getStrides()[dim] == 1;
}

/// From the first position on, each made of the one before it.
static bool scansPositions(Operation *op, unsigned dim) {
  if (auto sum = dyn_cast<graph::CumsumOp>(op))
    return sum.getDim() == dim && !sum.getReverse();
  if (auto linear = dyn_cast<graph::LinearRecurrenceOp>(op))
    return linear.getDim() == dim && !linear.getReverse();
  return false;
}

graph::PadOp zerosInFront(Operation *op) {
  auto conv = dyn_cast<graph::Conv2dOp>(op);
  if (!conv)
    return nullptr;
  Value x = conv.getX(); // of groups, or of three dims and four
  for (auto view = x.getDefiningOp<graph::ReshapeOp>();
       view && graph::shapeOf(view.getX()).back() == graph::shapeOf(x).back();
       view = x.getDefiningOp<graph::ReshapeOp>())
    x = view.getX();
  auto pad = x.getDefiningOp<graph::PadOp>();
  if (!pad || conv.getStride()[1] != 1 || conv.getPadding()[1] != 0 ||
      !pad.getValue().isZero())
    return nullptr;
  int64_t taps = graph::shapeOf(conv.getWeight()).back();
  bool fits = pad.getLow().back() == conv.getDilation()[1] * (taps - 1) &&
              pad.getInterior().back() == 0;
  for (size_t i = 0; i + 1 < pad.getLow().size(); ++i)
    fits &= pad.getLow()[i] == 0 && pad.getHigh()[i] == 0 &&
            pad.getInterior()[i] == 0;
  return fits ? pad : nullptr;
}

/// Scores of attention have positions of queries and of keys; what is made of
/// them and the values has those of queries again.
SmallVector<unsigned, 1> PositionDemand::placesOfResult(Operation *op) {
  SmallVector<unsigned, 1> found;
  if (auto slice = dyn_cast<graph::SliceOp>(op))
    for (unsigned dim : placesOf(slice.getX()))
      if (keepsPositions(slice, dim) && slice.getSizes()[dim] >= positions)
        found.push_back(dim);
  for (unsigned dim : placesOf(op->getOperand(0)))
    if (scansPositions(op, dim))
      found.push_back(dim);
  if (isConvolved(op))
    found.push_back(graph::shapeOf(op->getResult(0)).size() - 1);
  const graph::ShardingRule &how = rule(op);
  llvm::SmallDenseSet<unsigned> factors;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    for (unsigned dim : placesOf(operand))
      factors.insert(how.operands[i][dim].begin(), how.operands[i][dim].end());
  for (auto [d, own] : llvm::enumerate(how.results[0]))
    if (own.size() == 1 && factors.contains(own.front()) &&
        how.factors[own.front()].size >= positions &&
        !llvm::is_contained(found, d))
      found.push_back(d);
  return found;
}

/// Positions are those of the convolution's sequences.
bool PositionDemand::isConvolved(Operation *op) const {
  graph::PadOp pad = zerosInFront(op);
  return pad && !dependent.contains(op->getOperand(1)) &&
         llvm::is_contained(placesOf(pad.getX()), pad.getLow().size() - 1);
}

/// Operands have as many positions where they have the factor: of the reshape
/// [16] -> [8,2] each is made of two.
static bool isAlone(const graph::ShardingRule &rule, unsigned factor) {
  for (const graph::TensorFactors &operand : rule.operands)
    for (const graph::DimFactors &dim : operand)
      if (dim.size() > 1 && llvm::is_contained(dim, factor))
        return false;
  return true;
}

/// Whether local ops at one position give one position of the result, wherever
/// that is.
bool PositionDemand::mayBeSplit(Operation *op, unsigned factor) {
  const graph::ShardingRule &how = rule(op);
  const graph::Factor &facts = how.factors[factor];
  return facts.size >= positions && !facts.isPlaced &&
         graph::whyNotSplit(how, {{factor, facts.size, 0}}) ==
             graph::BlockReason::None;
}

std::optional<unsigned> PositionDemand::dimOf(const graph::ShardingRule &rule,
                                              unsigned i,
                                              unsigned factor) const {
  for (auto [d, factors] : llvm::enumerate(rule.operands[i]))
    if (llvm::is_contained(factors, factor))
      return d;
  return std::nullopt;
}

std::optional<RowWay> PositionDemand::wayOf(Operation *op, unsigned dim) {
  if (auto iota = dyn_cast<graph::IotaOp>(op); iota && iota.getDim() == dim)
    return RowWay{RowWay::Counted};
  if (auto slice = dyn_cast<graph::SliceOp>(op);
      slice && keepsPositions(slice, dim))
    return RowWay{RowWay::Sliced};
  if (dependent.contains(op->getResult(0)) && scansPositions(op, dim) &&
      llvm::is_contained(placesOf(op->getOperand(0)), dim))
    return RowWay{RowWay::Scanned};
  if (isConvolved(op) && dim + 1 == graph::shapeOf(op->getResult(0)).size())
    return RowWay{RowWay::Convolved};
  const graph::ShardingRule &how = rule(op);
  const graph::DimFactors &factors = how.results[0][dim];
  if (factors.size() == 1 && mayBeSplit(op, factors.front()) &&
      isAlone(how, factors.front()) &&
      how.factors[factors.front()].splitting == graph::Splitting::Parallel)
    return RowWay{RowWay::Local, factors.front()};
  if (!dependent.contains(op->getResult(0)))
    return RowWay{RowWay::LookedUp};
  return std::nullopt;
}

std::optional<unsigned> PositionDemand::partFactor(Operation *op) {
  const graph::ShardingRule &how = rule(op);
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    for (unsigned dim : placesOf(operand))
      if (how.operands[i][dim].size() == 1)
        if (unsigned factor = how.operands[i][dim].front();
            mayBeSplit(op, factor) && isAlone(how, factor) &&
            how.factors[factor].splitting == graph::Splitting::Max)
          return factor;
  return std::nullopt;
}

/// One position of the logits. An error is one of the token at hand.
bool PositionDemand::startFromResults() {
  for (OpOperand &returned : step.getReturn()->getOpOperands()) {
    graph::PortAttr port = graph::portOf(returned);
    Value value = returned.get();
    if (port.asMetric()) {
      addRow(value, 1);
    } else if (!port.asError()) {
      return fail(value.getDefiningOp() ? value.getDefiningOp() : step,
                  "it changes a buffer");
    } else if (dependent.contains(value)) {
      parts.insert(value);
      demands.try_emplace(value);
    } else {
      addWhole(value);
    }
  }
  return true;
}

bool PositionDemand::fail(Operation *op, const std::string &what) {
  why = what;
  where = op->getLoc();
  return false;
}

void PositionDemand::addRow(Value value, unsigned dim) {
  auto &rows = demands[value].rows;
  if (!llvm::is_contained(rows, dim))
    rows.push_back(dim);
}

bool PositionDemand::demandOperands(Operation *op) {
  if (llvm::none_of(op->getResults(),
                    [&](Value v) { return demands.contains(v); }))
    return true;
  auto name = [&] { return op->getName().stripDialect().str(); };
  if (op->getNumResults() != 1)
    return fail(op, "'" + name() + "' has several results");
  Value result = op->getResult(0);
  if (parts.contains(result)) {
    auto factor = partFactor(op);
    if (!factor)
      return fail(op, "what '" + name() +
                          "' finds of all positions is not a maximum over "
                          "them");
    demandSplit(op, *factor);
  }
  for (unsigned dim : SmallVector<unsigned>(rows(result)))
    if (!demandRow(op, dim))
      return fail(op,
                  "one position of '" + name() + "' is made of several ones");
  if (!isWhole(result))
    return true;
  if (isCached(result)) {
    auto own = place(result);
    if (!own)
      return fail(op, "'" + name() +
                          "' is needed as a whole, and has no one dim of "
                          "positions");
    bool isNew = !llvm::is_contained(rows(result), *own);
    addRow(result, *own);
    if (isNew && !demandRow(op, *own))
      return fail(op,
                  "one position of '" + name() + "' is made of several ones");
    return true;
  }
  for (Value operand : op->getOperands())
    addWhole(operand);
  return true;
}

bool PositionDemand::demandRow(Operation *op, unsigned dim) {
  auto way = wayOf(op, dim);
  if (!way)
    return false;
  switch (way->kind) {
  case RowWay::Counted:
    break;
  case RowWay::Sliced:
    addRow(op->getOperand(0), dim);
    break;
  case RowWay::Scanned:
    addWhole(op->getResult(0));
    for (Value operand : op->getOperands())
      addRow(operand, dim);
    break;
  case RowWay::Convolved:
    addWhole(zerosInFront(op).getX());
    addWhole(op->getOperand(1));
    break;
  case RowWay::LookedUp:
    addWhole(op->getResult(0));
    break;
  case RowWay::Local:
    demandSplit(op, way->factor);
    break;
  }
  return true;
}

void PositionDemand::demandSplit(Operation *op, unsigned factor) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (auto dim = dimOf(rule(op), i, factor))
      addRow(operand, *dim);
    else
      addWhole(operand);
}

} // namespace dl::decode
