#include "dialects/graph/StepScalars.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "passes/backward/ItemWays.h"
#include "passes/backward/Passes.h"
#include "passes/backward/StepValues.h"

namespace dl {
#define GEN_PASS_DEF_SEPARATEITEMS
#include "passes/backward/Passes.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;

namespace {

/// A step that is being written: its body, and what its arguments are.
struct NewStep {
  graph::StepOp step;
  OpBuilder body;
  SmallVector<graph::PortAttr> ports, resultPorts;
  SmallVector<Value> results;
  IRMapping known; // of values that items share, and of late ones

  NewStep(graph::StepOp from, StringRef suffix, OpBuilder &at)
      : step(graph::StepOp::create(at, from.getLoc(),
                                   (from.getSymName() + suffix).str())),
        body(OpBuilder::atBlockBegin(&step.getBody().front())) {
    step.setOfAttr(from.getOfAttr());
    if (Attribute predicts = from->getAttr(graph::kPredicts))
      step->setAttr(graph::kPredicts, predicts);
  }

  Value addArgument(Type type, Location loc, graph::PortAttr port) {
    ports.push_back(port);
    return step.getBody().addArgument(type, loc);
  }
  void addResult(Value value, graph::PortAttr port) {
    results.push_back(value);
    resultPorts.push_back(port);
  }
  void finish() {
    step.setArgPorts(ports);
    step.setResults(results, resultPorts);
  }

  /// What all items share, computed here again.
  Value bring(Value wanted) {
    computeAgain(wanted, body, known, [&](Value value) {
      return addArgument(value.getType(), value.getLoc(), graph::portOf(value));
    });
    return known.lookup(wanted);
  }
};

class ItemSeparator {
public:
  /// `step` is a copy of `original` without composite ops.
  ItemSeparator(graph::StepOp step, graph::StepOp original, ModuleOp module)
      : step(step), original(original), module(module),
        items(*original.getBatch()),
        predicts(original->hasAttr(graph::kPredicts)),
        ways(step, items, predicts) {}

  /// What keeps items from being run one by one, "" if nothing does.
  std::string run() {
    if (!ways.find())
      return ways.why;
    for (Operation &op : step.getOps()) // no attribute of its part
      op.removeAttr(graph::kBatchDim);
    OpBuilder at(original->getContext());
    at.setInsertionPointAfter(original);
    NewStep item(original, ".item", at);
    bool made = buildItem(item);
    item.finish();
    if (!made) {
      item.step.erase();
      for (graph::StateOp state : accumulators)
        state.erase();
      return ways.why;
    }
    if (!predicts)
      buildUpdate(at);
    return "";
  }

private:
  // The step for one item.

  bool buildItem(NewStep &item) {
    item.step->setAttr(graph::kForItem, item.body.getUnitAttr());
    item.step.setBatchAttr(item.body.getI64IntegerAttr(1));
    item.step.setDatasetAttr(original.getDatasetAttr());
    for (BlockArgument argument : step.getArguments())
      if (ways.of(argument).way == ItemWay::Split)
        local[argument] =
            item.addArgument(oneItemOf(argument.getType()), argument.getLoc(),
                             graph::portOf(argument));
    for (Operation &op : step.getOps())
      if (const ItemDivision *division = ways.divisionOf(&op))
        if (!buildDivided(&op, *division, item))
          return false;
    for (Value value : ways.combined())
      accumulate(value, item);
    for (OpOperand &returned : step.getReturn()->getOpOperands()) {
      Value value = returned.get();
      graph::PortAttr port = graph::portOf(returned);
      bool isHere =
          port.asError() ? ways.of(value).way != ItemWay::Late : predicts;
      if (isHere)
        item.addResult(ways.isShared(value) ? item.bring(value)
                                            : local.lookup(value),
                       port);
    }
    return true;
  }

  static Type oneItemOf(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    shape[0] = 1;
    return RankedTensorType::get(shape, tensor.getElementType());
  }

  bool buildDivided(Operation *op, const ItemDivision &division,
                    NewStep &item) {
    auto values = localOf(op, division, item);
    if (failed(values))
      return false;
    for (auto [result, value] : llvm::zip(op->getResults(), *values))
      local[result] = value;
    return true;
  }

  /// The op for one item, from the item's part of each operand.
  FailureOr<SmallVector<Value>>
  localOf(Operation *op, const ItemDivision &division, NewStep &item) {
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      const graph::TensorFactors &dims =
          division.rule.operands[operand.getOperandNumber()];
      auto dim = llvm::find_if(dims, [&](const graph::DimFactors &factors) {
        return !factors.empty() && factors.front() == division.factor;
      });
      Value value = !ways.isShared(operand.get()) ? local.lookup(operand.get())
                    : dim == dims.end()
                        ? item.bring(operand.get())
                        : partOf(operand.get(), dim - dims.begin(), item);
      if (!value)
        return failure();
      operands.push_back(value);
    }
    auto made = localize(op, division, 0, item.body, operands);
    if (failed(made) || !isSameForEach(op, division, *made, operands)) {
      ways.refuse(op, "depends on the places of items in their batch");
      return failure();
    }
    return made;
  }

  FailureOr<SmallVector<Value>> localize(Operation *op,
                                         const ItemDivision &division,
                                         int64_t index, OpBuilder &builder,
                                         ValueRange operands) {
    graph::Shard shard(division.rule, {{division.factor, items, index}});
    return graph::localize(op, shard, builder, operands);
  }

  /// Whether the next item would be computed alike. Random numbers go with the
  /// launch; and what only says which item was wrong may say another one.
  bool isSameForEach(Operation *op, const ItemDivision &division,
                     ValueRange made, ValueRange operands) {
    bool draws = llvm::is_contained(op->getOperands(), step.getScalars());
    bool saysWhere = llvm::all_of(op->getUses(), [](OpOperand &use) {
      return isa<graph::ReturnOp>(use.getOwner()) &&
             graph::portOf(use).asError();
    });
    if (draws || saysWhere)
      return true;
    Block scratch;
    OpBuilder beside(op->getContext());
    beside.setInsertionPointToEnd(&scratch);
    auto other = localize(op, division, 1, beside, operands);
    bool same = succeeded(other);
    for (auto [value, next] :
         llvm::zip(made, same ? *other : SmallVector<Value>())) {
      Operation *a = value.getDefiningOp(), *b = next.getDefiningOp();
      same &= a && b && a->getName() == b->getName() &&
              a->getAttrDictionary() == b->getAttrDictionary() &&
              llvm::equal(a->getOperands(), b->getOperands());
    }
    while (!scratch.empty())
      scratch.back().erase();
    return same;
  }

  /// An item's part of what depends on no item.
  Value partOf(Value value, unsigned dim, NewStep &item) {
    Value &known = parts[{value, dim}];
    if (known)
      return known;
    auto result = dyn_cast<OpResult>(value);
    if (!result) {
      ways.refuse(step, "has a parameter for each item of a batch");
      return {};
    }
    Operation *op = result.getOwner();
    graph::ShardingRule rule = graph::shardingRule(op);
    unsigned factor = rule.results[result.getResultNumber()][dim].front();
    if (!ways.canDivide(op, rule, factor))
      return {};
    auto made = localOf(op, {std::move(rule), factor}, item);
    if (failed(made))
      return {};
    return parts[{value, dim}] = (*made)[result.getResultNumber()];
  }

  /// The first item's value, later added to what is there.
  void accumulate(Value value, NewStep &item) {
    OpBuilder atStates = OpBuilder::atBlockBegin(module.getBody());
    for (auto state : module.getOps<graph::StateOp>())
      atStates.setInsertionPointAfter(state);
    std::string name = ("items." + original.getOf().value_or("") + "." +
                        Twine(accumulators.size()))
                           .str();
    auto kind = atStates.getNamedAttr("kind", atStates.getStringAttr("zero"));
    accumulators.push_back(graph::StateOp::create(
        atStates, value.getLoc(), name, value.getType(), "accumulator",
        atStates.getStringAttr("value"), /*aliases=*/nullptr,
        atStates.getDictionaryAttr(kind), /*layout=*/nullptr,
        /*sharding=*/nullptr, /*whole=*/nullptr));
    auto port = graph::PortAttr::state(module.getContext(), name);
    Value before = item.addArgument(value.getType(), value.getLoc(), port);
    Value own = local.lookup(value), scalars = item.bring(step.getScalars());
    graph::GraphBuilder g(item.body, value.getLoc());
    Value place = readScalar(g, scalars, graph::itemPlace, own);
    Value zero = g.constant(place, 0);
    Value first = g.make<graph::EqOp>(place, zero);
    Value both = ways.of(value).way == ItemWay::Sum
                     ? g.make<graph::AddOp>(before, own)
                     : g.make<graph::MaximumOp>(before, own);
    item.addResult(g.make<graph::SelectOp>(first, own, both), port);
  }

  // What is made of all items.

  void buildUpdate(OpBuilder &at) {
    NewStep update(original, ".update", at);
    update.step.setPart(graph::Part::Update);
    for (auto [value, state] : llvm::zip(ways.combined(), accumulators)) {
      auto port =
          graph::PortAttr::state(module.getContext(), state.getSymName());
      update.known.map(
          value, update.addArgument(value.getType(), value.getLoc(), port));
    }
    for (OpOperand &returned : step.getReturn()->getOpOperands()) {
      graph::PortAttr port = graph::portOf(returned);
      if (port.asMetric() || ways.of(returned.get()).way == ItemWay::Late)
        update.addResult(update.bring(returned.get()), port);
    }
    update.finish();
  }

  graph::StepOp step, original;
  ModuleOp module;
  const int64_t items; // of a batch
  const bool predicts;
  ItemWays ways;
  /// In which items add up what is combined.
  SmallVector<graph::StateOp> accumulators;
  llvm::DenseMap<Value, Value> local; // an item's part
  llvm::DenseMap<std::pair<Value, unsigned>, Value> parts;
};

/// Numbers that go with the size of the batch are computed from how many items
/// there are.
void followBatch(graph::StepOp step, int64_t items) {
  for (auto full : llvm::make_early_inc_range(step.getOps<graph::FullOp>())) {
    auto power = full->getAttrOfType<IntegerAttr>(graph::kBatchPower);
    if (!power)
      continue;
    OpBuilder builder(full);
    graph::GraphBuilder g(builder, full.getLoc());
    Type f64 = builder.getF64Type();
    double number = full.getValue().convertToDouble();
    double batch = static_cast<double>(items);
    Value scalar = g.constant(f64, 0);
    Value read =
        readScalar(g, step.getScalars(), graph::StepScalar::GroupItems, scalar);
    Value count = g.cast(read, f64);
    Value value;
    if (power.getInt() > 0) {
      Value each = g.constant(f64, number / batch);
      value = g.make<graph::MulOp>(count, each);
    } else {
      Value all = g.constant(f64, number * batch);
      value = g.make<graph::DivOp>(all, count);
    }
    value = g.cast(value, graph::elementOf(full.getResult()));
    ArrayRef<int64_t> shape = graph::shapeOf(full.getResult());
    value = g.expand(value, shape);
    if (Attribute dim = full->getAttr(graph::kBatchDim);
        dim && value.getDefiningOp<graph::ExpandOp>())
      value.getDefiningOp()->setAttr(graph::kBatchDim, dim);
    full.getResult().replaceAllUsesWith(value);
    full.erase();
  }
}

struct SeparateItems : dl::impl::SeparateItemsBase<SeparateItems> {
  void runOnOperation() override {
    SmallVector<graph::StepOp> steps(getOperation().getOps<graph::StepOp>());
    for (graph::StepOp step : steps)
      if (step->removeAttr(graph::kBatchMarked) && failed(separate(step)))
        return signalPassFailure();
  }

private:
  LogicalResult separate(graph::StepOp step) {
    OpBuilder builder(step);
    graph::StepOp copy = cast<graph::StepOp>(builder.clone(*step));
    copy.setSymName((step.getSymName() + ".copy").str());
    for (Operation &op : step.getOps()) {
      op.removeAttr(graph::kBatchDim);
      op.removeAttr(graph::kBatchPower);
    }
    followBatch(copy, *step.getBatch());
    OpPassManager passes(graph::StepOp::getOperationName());
    passes.addPass(createDecompose());
    if (failed(runPipeline(passes, copy)))
      return failure();
    if (std::string why = ItemSeparator(copy, step, getOperation()).run();
        !why.empty())
      step->setAttr(graph::kMixes, builder.getStringAttr(why));
    copy.erase();
    return success();
  }
};

} // namespace
