#include "dialects/graph/Sharding.h"
#include "dialects/graph/SourceLine.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepScalars.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "passes/backward/Passes.h"
#include "passes/backward/StepValues.h"
#include "llvm/ADT/MapVector.h"

namespace dl {
#define GEN_PASS_DEF_SEPARATEITEMS
#include "passes/backward/Passes.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;

namespace {

/// What a value of a batch has to do with the batch's items.
enum class Way {
  Shared, ///< nothing
  Split,  ///< each item has its part of a dim
  Sum,    ///< the sum of what items have
  Max,    ///< the maximum of it
  Late,   ///< made of such sums
};

struct Place {
  Way way = Way::Shared;
  unsigned dim = 0; // where it is split
};

/// How an op is divided: one item each.
struct Division {
  graph::ShardingRule rule;
  unsigned factor;
};

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
        predicts(original->hasAttr(graph::kPredicts)) {}

  /// What keeps items from being run one by one, "" if nothing does.
  std::string run() {
    for (BlockArgument argument : step.getArguments())
      if (graph::portOf(argument).asInput())
        places[argument] = {Way::Split, 0};
    for (Operation &op : step.getOps())
      if (!isa<graph::ReturnOp>(op) && !classify(&op))
        return why;
    if (!checkResults())
      return why;
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
      return why;
    }
    if (!predicts)
      buildUpdate(at);
    return "";
  }

private:
  Place of(Value value) const { return places.lookup(value); }
  bool isCombined(Value value) const {
    Way way = of(value).way;
    return way == Way::Sum || way == Way::Max;
  }

  /// Keeps the reason; false.
  bool refuse(Operation *op, const Twine &what) {
    std::string line = graph::sourceLineOf(op->getLoc()).lineText();
    why = "`" + op->getName().stripDialect().str() + "`" +
          (line.empty() ? "" : " at " + line) + " " + what.str();
    return false;
  }

  //===--- what depends on what
  //---------------------------------------------===//

  bool classify(Operation *op) {
    auto grows = op->getAttrOfType<IntegerAttr>(graph::kBatchDim);
    if (grows && grows.getInt() == graph::kNotByItem)
      return refuse(op,
                    "pairs items of a batch, or depends on how many it has");
    bool isLate = false, isSplit = grows != nullptr;
    for (Value operand : op->getOperands()) {
      Way way = of(operand).way;
      isLate |= way != Way::Shared && way != Way::Split;
      isSplit |= way == Way::Split;
    }
    if (isLate && isSplit)
      return refuse(op, "needs all items of a batch to compute each of them");
    if (isLate)
      for (Value result : op->getResults())
        places[result] = {Way::Late, 0};
    if (isLate || !isSplit)
      return true;
    if (!divide(op))
      return false;
    // What else were as long as the batch would be as long as a full one.
    bool fits = !grows || llvm::any_of(op->getResults(), [&](Value result) {
      Place place = of(result);
      return place.way == Way::Split && place.dim == grows.getInt();
    });
    return fits || refuse(op, "repeats items as often as a batch has them");
  }

  /// The factor of the rule that runs through the items.
  std::optional<unsigned> itemFactor(Operation *op,
                                     const graph::ShardingRule &rule) {
    std::optional<unsigned> factor;
    auto agree = [&](const graph::DimFactors &dim) {
      bool fits = !dim.empty() && (!factor || *factor == dim.front());
      if (fits)
        factor = dim.front();
      return fits;
    };
    for (OpOperand &operand : op->getOpOperands())
      if (Place place = of(operand.get()); place.way == Way::Split)
        if (!agree(rule.operands[operand.getOperandNumber()][place.dim]))
          return std::nullopt;
    if (auto dim = op->getAttrOfType<IntegerAttr>(graph::kBatchDim);
        dim && !factor && !agree(rule.results[0][dim.getInt()]))
      return std::nullopt;
    return factor;
  }

  bool canDivide(Operation *op, const graph::ShardingRule &rule,
                 unsigned factor) {
    if (whyNotSplit(rule, {{factor, items, 0}}) == graph::BlockReason::None)
      return true;
    return refuse(op, "brings items of a batch together");
  }

  bool divide(Operation *op) {
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
        places[result] = {Way::Split,
                          static_cast<unsigned>(dim - dims.begin())};
      else if (splitting == graph::Splitting::Sum ||
               splitting == graph::Splitting::Max)
        places[result] = {
            splitting == graph::Splitting::Sum ? Way::Sum : Way::Max, 0};
      else
        return refuse(op, "brings items of a batch together");
    }
    divisions.insert({op, {std::move(rule), *factor}});
    return true;
  }

  /// An evaluation returns what is made of sums, a prediction rows.
  bool checkResults() {
    for (OpOperand &returned : step.getReturn()->getOpOperands()) {
      graph::PortAttr port = graph::portOf(returned);
      Place place = of(returned.get());
      Operation *maker = returned.get().getDefiningOp();
      if (!maker)
        maker = step;
      if (port.asState())
        return refuse(maker, "assigns a state");
      bool isRow = place.way == Way::Split && place.dim == 0;
      if (port.asMetric() && predicts != isRow)
        return refuse(maker, predicts ? "is not made item by item"
                                      : "gives a tensor, not a number");
      if (port.asMetric() && isCombined(returned.get()) &&
          !sumOf(returned.get(), maker))
        return false;
      if (port.asError() && place.way == Way::Late && predicts)
        return refuse(maker, "is not made item by item");
    }
    for (Operation &op : step.getOps())
      for (Value operand : op.getOperands())
        if (!isa<graph::ReturnOp>(op) && isCombined(operand) &&
            !sumOf(operand, &op))
          return false;
    return true;
  }

  /// Notes that the update needs it.
  bool sumOf(Value value, Operation *op) {
    Type element = graph::elementOf(value);
    if (predicts ||
        !(isa<FloatType>(element) || element.isSignlessInteger(32) ||
          element.isSignlessInteger(64)))
      return refuse(op, "is not made item by item");
    sums.insert({value, {}});
    return true;
  }

  // The step for one item.

  bool buildItem(NewStep &item) {
    item.step->setAttr(graph::kForItem, item.body.getUnitAttr());
    item.step.setBatchAttr(item.body.getI64IntegerAttr(1));
    item.step.setDatasetAttr(original.getDatasetAttr());
    for (BlockArgument argument : step.getArguments())
      if (of(argument).way == Way::Split)
        local[argument] =
            item.addArgument(oneItemOf(argument.getType()), argument.getLoc(),
                             graph::portOf(argument));
    for (Operation &op : step.getOps())
      if (auto it = divisions.find(&op); it != divisions.end())
        if (!buildDivided(&op, it->second, item))
          return false;
    for (auto &[value, name] : sums)
      accumulate(value, name, item);
    for (OpOperand &returned : step.getReturn()->getOpOperands()) {
      Value value = returned.get();
      graph::PortAttr port = graph::portOf(returned);
      bool isHere = port.asError() ? of(value).way != Way::Late : predicts;
      if (isHere)
        item.addResult(of(value).way == Way::Shared ? item.bring(value)
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

  bool buildDivided(Operation *op, const Division &division, NewStep &item) {
    auto values = localOf(op, division, item);
    if (failed(values))
      return false;
    for (auto [result, value] : llvm::zip(op->getResults(), *values))
      local[result] = value;
    return true;
  }

  /// The op for one item, from the item's part of each operand.
  FailureOr<SmallVector<Value>> localOf(Operation *op, const Division &division,
                                        NewStep &item) {
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      const graph::TensorFactors &dims =
          division.rule.operands[operand.getOperandNumber()];
      auto dim = llvm::find_if(dims, [&](const graph::DimFactors &factors) {
        return !factors.empty() && factors.front() == division.factor;
      });
      Value value =
          of(operand.get()).way != Way::Shared ? local.lookup(operand.get())
          : dim == dims.end() ? item.bring(operand.get())
                              : partOf(operand.get(), dim - dims.begin(), item);
      if (!value)
        return failure();
      operands.push_back(value);
    }
    auto made = localize(op, division, 0, item.body, operands);
    if (failed(made) || !isSameForEach(op, division, *made, operands)) {
      refuse(op, "depends on the places of items in their batch");
      return failure();
    }
    return made;
  }

  FailureOr<SmallVector<Value>> localize(Operation *op,
                                         const Division &division,
                                         int64_t index, OpBuilder &builder,
                                         ValueRange operands) {
    graph::Shard shard(division.rule, {{division.factor, items, index}});
    return graph::localize(op, shard, builder, operands);
  }

  /// Whether the next item would be computed alike. Random numbers go with the
  /// launch; and what only says which item was wrong may say another one.
  bool isSameForEach(Operation *op, const Division &division, ValueRange made,
                     ValueRange operands) {
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
      refuse(step, "has a parameter for each item of a batch");
      return {};
    }
    Operation *op = result.getOwner();
    graph::ShardingRule rule = graph::shardingRule(op);
    unsigned factor = rule.results[result.getResultNumber()][dim].front();
    if (!canDivide(op, rule, factor))
      return {};
    auto made = localOf(op, {std::move(rule), factor}, item);
    if (failed(made))
      return {};
    return parts[{value, dim}] = (*made)[result.getResultNumber()];
  }

  /// The first item's value, later added to what is there.
  void accumulate(Value value, std::string &name, NewStep &item) {
    OpBuilder atStates = OpBuilder::atBlockBegin(module.getBody());
    for (auto state : module.getOps<graph::StateOp>())
      atStates.setInsertionPointAfter(state);
    name = ("items." + original.getOf().value_or("") + "." +
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
    Value both = of(value).way == Way::Sum
                     ? g.make<graph::AddOp>(before, own)
                     : g.make<graph::MaximumOp>(before, own);
    item.addResult(g.make<graph::SelectOp>(first, own, both), port);
  }

  // What is made of all items.

  void buildUpdate(OpBuilder &at) {
    NewStep update(original, ".update", at);
    update.step.setPart(graph::Part::Update);
    for (auto &[value, name] : sums)
      update.known.map(value,
                       update.addArgument(
                           value.getType(), value.getLoc(),
                           graph::PortAttr::state(module.getContext(), name)));
    for (OpOperand &returned : step.getReturn()->getOpOperands()) {
      graph::PortAttr port = graph::portOf(returned);
      if (port.asMetric() || of(returned.get()).way == Way::Late)
        update.addResult(update.bring(returned.get()), port);
    }
    update.finish();
  }

  graph::StepOp step, original;
  ModuleOp module;
  const int64_t items; // of a batch
  const bool predicts;
  std::string why;
  llvm::DenseMap<Value, Place> places;
  llvm::DenseMap<Operation *, Division> divisions;
  /// What the update is made from, and the states in which items add it up.
  llvm::MapVector<Value, std::string> sums;
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
