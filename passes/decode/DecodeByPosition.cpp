#include "dialects/graph/Step.h"
#include "dialects/graph/StepScalars.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"
#include "passes/backward/ModelError.h"
#include "passes/decode/KeptStates.h"
#include "passes/decode/Passes.h"
#include "passes/decode/PositionDemand.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace dl;

namespace dl {
#define GEN_PASS_DEF_DECODEBYPOSITION
#include "passes/decode/Passes.h.inc"
} // namespace dl

namespace {

using decode::PositionDemand;
using decode::RowWay;

/// The data set of the step for one position: its batches are one token.
void addTokenBatches(graph::StepOp window) {
  auto module = window->getParentOfType<ModuleOp>();
  auto datasets = llvm::to_vector(module.getOps<graph::DatasetOp>());
  OpBuilder builder(window.getContext());
  builder.setInsertionPointAfter(datasets.back());
  auto batches = cast<graph::DatasetOp>(
      builder.clone(*datasets[*window.getDataset()].getOperation()));
  auto tokens = cast<RankedTensorType>(window.getArgument(0).getType());
  batches.setKind("tensor");
  batches.setPathsAttr(builder.getStrArrayAttr({"tokens.npy"}));
  batches.setStride(0);
  batches.setComponentsAttr(builder.getTypeArrayAttr(
      {RankedTensorType::get({1}, tokens.getElementType())}));
}

/// Writes the step for one position from that for a window.
class PositionStep {
public:
  PositionStep(graph::StepOp window, PositionDemand &demand)
      : window(window), demand(demand), builder(window.getContext()) {}

  LogicalResult build() {
    builder.setInsertionPoint(window);
    step = cast<graph::StepOp>(builder.insert(window->cloneWithoutRegions()));
    states.setInsertionPoint(step);
    builder.setInsertionPointToEnd(&step.getBody().emplaceBlock());
    bindArguments();
    for (Operation &op : window.getOps())
      if (!isa<graph::ReturnOp>(op) && failed(buildOp(&op)))
        return failure();
    finish();
    keepInWindow();
    return success();
  }

  /// Behind a failure.
  void undo() {
    step.erase();
    for (graph::StateOp state : made)
      state.erase();
  }

private:
  void bindArguments() {
    Block &body = step.getBody().front();
    SmallVector<graph::PortAttr> ports;
    auto add = [&](Type type, Location loc, graph::PortAttr port) {
      ports.push_back(port);
      return body.addArgument(type, loc);
    };
    for (BlockArgument argument : window.getArguments()) {
      graph::PortAttr port = graph::portOf(argument);
      if (port.isScalars() || port.asState())
        wholes[argument] = add(argument.getType(), argument.getLoc(), port);
      else if (!demand.rows(argument).empty())
        for (unsigned dim : demand.rows(argument))
          rows[{argument, dim}] =
              add(oneOf(argument.getType(), dim), argument.getLoc(), port);
    }
    for (Operation &op : window.getOps())
      for (Value value : op.getResults())
        if (demand.isCached(value)) {
          auto state = makeState(value);
          caches[value] = add(
              value.getType(), value.getLoc(),
              graph::PortAttr::state(step.getContext(), state.getSymName()));
        }
    step.setArgPorts(ports);
    for (BlockArgument argument : window.getArguments())
      if (wholes.contains(argument))
        for (unsigned dim : demand.rows(argument))
          rows[{argument, dim}] = lookUp(argument, dim, argument.getLoc());
  }

  graph::StateOp makeState(Value cached) {
    made.push_back(decode::makeKeptState(states, *window.getOf(), cached,
                                         "cache", caches.size()));
    return made.back();
  }

  static RankedTensorType oneOf(Type type, unsigned dim) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    shape[dim] = 1;
    return RankedTensorType::get(shape, tensor.getElementType());
  }

  /// The number of the position, with as many dims as `like`, of one element.
  Value position(graph::GraphBuilder &g, Value like, Type element) {
    Value scalars = wholes.lookup(window.getScalars());
    Value place = graph::readScalar(g, scalars, graph::tokenPlace, like);
    SmallVector<int64_t> ones(graph::shapeOf(like).size(), 1);
    if (ones.size() > 1)
      place = g.reshape(place, ones);
    return g.cast(place, element);
  }

  Value lookUp(Value value, unsigned dim, Location loc) {
    graph::GraphBuilder g(builder, loc);
    Value index = position(g, value, builder.getI64Type());
    return g.make<graph::GatherOp>(wholes.lookup(value), index, dim);
  }

  LogicalResult buildOp(Operation *op) {
    if (llvm::none_of(op->getResults(), [&](Value v) {
          return demand.isWhole(v) || demand.isPart(v) ||
                 !demand.rows(v).empty();
        }))
      return success();
    Value result = op->getResult(0);
    if (demand.isPart(result)) {
      auto part = buildLocal(op, *demand.partFactor(op));
      if (failed(part))
        return failure();
      wholes[result] = *part;
    }
    if (demand.isWhole(result) && !demand.isCached(result)) {
      IRMapping mapping;
      for (Value operand : op->getOperands())
        mapping.map(operand, wholes.lookup(operand));
      wholes[result] = builder.clone(*op, mapping)->getResult(0);
    }
    for (unsigned dim : demand.rows(result)) {
      auto row = buildRow(op, dim);
      if (failed(row))
        return failure();
      rows[{result, dim}] = *row;
    }
    if (demand.isCached(result))
      keep(result);
    return success();
  }

  FailureOr<Value> buildRow(Operation *op, unsigned dim) {
    graph::GraphBuilder g(builder, op->getLoc());
    Value result = op->getResult(0);
    RowWay way = *demand.wayOf(op, dim);
    switch (way.kind) {
    case RowWay::Counted: {
      auto iota = cast<graph::IotaOp>(op);
      Value first = g.make<graph::IotaOp>(dim, oneOf(result.getType(), dim),
                                          iota.getStart());
      Value place = position(g, result, graph::elementOf(result));
      return g.make<graph::AddOp>(first, place);
    }
    case RowWay::Sliced: {
      auto slice = cast<graph::SliceOp>(op);
      SmallVector<int64_t> sizes(slice.getSizes());
      sizes[dim] = 1;
      Value all = rows.lookup({slice.getX(), dim});
      return g.make<graph::SliceOp>(all, slice.getOffsets(), sizes,
                                    slice.getStrides());
    }
    case RowWay::Scanned:
      return buildScanned(op, dim);
    case RowWay::Convolved:
      return buildConvolved(cast<graph::Conv2dOp>(op));
    case RowWay::LookedUp:
      return lookUp(result, dim, op->getLoc());
    case RowWay::Local:
      break;
    }
    return buildLocal(op, way.factor);
  }

  /// What a cache has at positions, zero at those before the first one.
  Value earlier(graph::GraphBuilder &g, Value cache, Value positions,
                unsigned dim) {
    Value zero = g.constant(positions, 0);
    Value inside = g.make<graph::MaximumOp>(positions, zero);
    Value found = g.make<graph::GatherOp>(cache, inside, dim);
    Value isBefore = g.make<graph::LtOp>(positions, zero);
    Value none = g.constant(cache, 0);
    return g.make<graph::SelectOp>(isBefore, none, found);
  }

  /// Of the result, which is kept, the position before.
  Value buildScanned(Operation *op, unsigned dim) {
    graph::GraphBuilder g(builder, op->getLoc());
    Value result = op->getResult(0);
    Value here = position(g, result, builder.getI64Type());
    Value one = g.constant(here, 1);
    Value place = g.make<graph::SubOp>(here, one);
    Value before = earlier(g, caches.lookup(result), place, dim);
    Value more = rows.lookup({op->getOperands().back(), dim});
    if (isa<graph::LinearRecurrenceOp>(op)) {
      Value factor = rows.lookup({op->getOperand(0), dim});
      before = g.make<graph::MulOp>(factor, before);
    }
    return g.make<graph::AddOp>(before, more);
  }

  /// Of the operand, which is kept, the positions that the filter covers.
  Value buildConvolved(graph::Conv2dOp op) {
    graph::GraphBuilder g(builder, op.getLoc());
    int64_t taps = graph::shapeOf(op.getWeight()).back(),
            dilation = op.getDilation()[1];
    Value source = decode::zerosInFront(op).getX();
    Value here = position(g, source, builder.getI64Type());
    unsigned dim = graph::shapeOf(source).size() - 1;
    SmallVector<int64_t> along(dim, 1);
    along.push_back(taps);
    Value number = g.iota(along, dim, builder.getI64Type());
    Value step = g.constant(here, static_cast<double>(dilation));
    Value behind = g.make<graph::MulOp>(number, step);
    Value reach = g.constant(here, static_cast<double>(dilation * (taps - 1)));
    Value first = g.make<graph::SubOp>(here, reach);
    Value places = g.make<graph::AddOp>(first, behind);
    Value x = earlier(g, wholes.lookup(source), places, dim);
    SmallVector<int64_t> shape(graph::shapeOf(op.getX()));
    shape.back() = taps;
    x = g.reshape(x, shape);
    SmallVector<int64_t> dilations = {op.getDilation()[0], 1};
    return g.make<graph::Conv2dOp>(x, wholes.lookup(op.getWeight()),
                                   op.getStride(), op.getPadding(), dilations,
                                   op.getGroups());
  }

  /// The op at one position along a factor.
  FailureOr<Value> buildLocal(Operation *op, unsigned factor) {
    const graph::ShardingRule &rule = demand.rule(op);
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      auto dim = demand.dimOf(rule, i, factor);
      operands.push_back(dim ? rows.lookup({operand, *dim})
                             : wholes.lookup(operand));
    }
    graph::Shard shard(rule, {{factor, rule.factors[factor].size, 0}});
    auto made = graph::localize(op, shard, builder, operands);
    if (failed(made))
      return failure();
    return made->front();
  }

  /// All positions so far, with this one.
  void keep(Value value) {
    graph::GraphBuilder g(builder, value.getLoc());
    unsigned dim = *demand.place(value);
    Value here = position(g, value, builder.getI64Type());
    Value row = rows.lookup({value, dim});
    wholes[value] =
        g.make<graph::UpdateSliceOp>(here, row, caches.lookup(value), dim);
  }

  void finish() {
    SmallVector<graph::PortAttr> ports;
    SmallVector<Value> results;
    for (OpOperand &returned : window.getReturn()->getOpOperands()) {
      graph::PortAttr port = graph::portOf(returned);
      ports.push_back(port);
      results.push_back(port.asMetric() ? rows.lookup({returned.get(), 1})
                                        : wholes.lookup(returned.get()));
    }
    for (auto &[value, before] : caches) {
      ports.push_back(graph::portOf(before));
      results.push_back(wholes.lookup(value));
    }
    step.setResults(results, ports);
    step->setAttr(graph::kByPosition, builder.getUnitAttr());
    auto module = window->getParentOfType<ModuleOp>();
    step.setDataset(llvm::range_size(module.getOps<graph::DatasetOp>()));
    addTokenBatches(window);
  }

  /// A window of tokens at once fills the caches, too: a text to begin with.
  void keepInWindow() {
    SmallVector<Value> results(window.getReturn()->getOperands());
    SmallVector<graph::PortAttr> arguments, ports;
    for (Attribute port : window.getArgPorts())
      arguments.push_back(cast<graph::PortAttr>(port));
    for (Attribute port : window.getResPorts())
      ports.push_back(cast<graph::PortAttr>(port));
    for (auto &[value, before] : caches) {
      graph::PortAttr port = graph::portOf(before);
      window.getBody().addArgument(value.getType(), value.getLoc());
      arguments.push_back(port);
      results.push_back(value);
      ports.push_back(port);
    }
    window.setArgPorts(arguments);
    window.setResults(results, ports);
    window.setOf((*window.getOf() + graph::kWindowSuffix).str());
    window.setSymName((window.getSymName() + graph::kWindowSuffix).str());
  }

  graph::StepOp window, step;
  PositionDemand &demand;
  OpBuilder builder;
  OpBuilder states{builder.getContext()}; // in front of the step
  SmallVector<graph::StateOp> made;
  llvm::DenseMap<Value, Value> wholes;
  llvm::DenseMap<std::pair<Value, unsigned>, Value> rows;
  llvm::MapVector<Value, Value> caches; // what they were before
};

struct DecodeByPosition
    : public dl::impl::DecodeByPositionBase<DecodeByPosition> {
  void runOnOperation() override {
    for (auto step :
         llvm::make_early_inc_range(getOperation().getOps<graph::StepOp>()))
      if (auto window = step->getAttrOfType<IntegerAttr>(graph::kWindow);
          window && failed(decodeStep(step, window.getInt())))
        return signalPassFailure();
  }

  static LogicalResult decodeStep(graph::StepOp step, int64_t positions) {
    for (BlockArgument argument : step.getArguments().drop_front())
      if (graph::portOf(argument).asInput() && !argument.use_empty())
        return emitModelError(step)
               << "p.generate: '" << *step.getOf()
               << "' reads more than the tokens, which are the first tensor of "
                  "the data set";
    auto staysAsItIs = [&](Location where, const Twine &why) {
      emitWarning(where) << "p.generate: " << why
                         << "; each token will take a whole window";
      return success();
    };
    if (positions == 1)
      return success(); // nothing comes earlier
    PositionDemand demand(step, positions);
    if (!demand.run())
      return staysAsItIs(demand.where.value_or(step.getLoc()), demand.why);
    std::string why = "it has an op that cannot be done in parts";
    Location where = step.getLoc();
    return succeeded(decode(step, demand, why, where))
               ? success()
               : staysAsItIs(where, why);
  }

  /// Of a failure, what was said of it.
  static LogicalResult decode(graph::StepOp step, PositionDemand &demand,
                              std::string &why, Location &where) {
    ScopedDiagnosticHandler quiet(
        step.getContext(), [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            why = diagnostic.str(), where = diagnostic.getLocation();
          return success();
        });
    PositionStep made(step, demand);
    LogicalResult result = made.build();
    if (failed(result))
      made.undo();
    return result;
  }
};

} // namespace
