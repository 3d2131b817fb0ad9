#include "mlir/IR/IRMapping.h"
#include "passes/backward/ModelError.h"
#include "passes/backward/Passes.h"
#include "passes/backward/StepValues.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace dl {
#define GEN_PASS_DEF_SPLITSTEP
#include "passes/backward/Passes.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;
using namespace dl;

namespace {

/// Puts a graph.gradient between each gradient and what reads it.
void drawBorder(graph::StepOp step) {
  for (auto gradients : step.getOps<graph::GradientsOp>()) {
    if (gradients.getWithinStep())
      continue;
    for (auto [param, gradient] :
         llvm::zip(gradients.getParams(), gradients.getGrads())) {
      if (gradient.use_empty())
        continue;
      FlatSymbolRefAttr state = graph::stateOf(param);
      OpBuilder builder(step.getContext());
      builder.setInsertionPointAfter(gradients);
      auto border =
          graph::GradientOp::create(builder, gradients.getLoc(), gradient,
                                    state ? state.getValue() : StringRef());
      gradient.replaceAllUsesExcept(border, border);
    }
  }
}

/// Reads numbers of the step that are the same in all its micro-batches.
static bool readsWholeStep(Operation *op, Value stepScalars) {
  auto slice = dyn_cast<graph::SliceOp>(op);
  return slice && slice.getX() == stepScalars && slice.getSizes()[0] == 1 &&
         slice.getOffsets()[0] !=
             static_cast<int64_t>(graph::StepScalar::Micro);
}

/// One training step on its way to become a micro-batch and an update.
class Splitter {
public:
  Splitter(graph::StepOp step, ModuleOp module)
      : step(step), module(module), builder(step.getContext()),
        stepScalars(step.getScalars()) {}

  LogicalResult run(bool withUpdate) {
    if (failed(collectUpdate()))
      return failure();
    if (gradients.empty() && step.getTraining())
      return emitModelError(step)
             << "accumulate: the step '"
             << step.getOf().value_or(step.getSymName())
             << "' uses no gradients, so that it has no update behind several "
                "batches; leave --accumulate out";
    if (gradients.empty())
      return success();
    collectCounters();
    if (failed(checkParameters()))
      return failure();
    collectMicro();
    createAccumulators();
    if (withUpdate && failed(createUpdate()))
      return failure();
    return shrinkToMicro();
  }

private:
  bool inUpdate(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && (update.contains(op) || isa<graph::GradientOp>(op));
  }

  /// Everything that depends on a gradient belongs to the update.
  LogicalResult collectUpdate() {
    for (Operation &op : step.getOps()) {
      if (auto gradient = dyn_cast<graph::GradientOp>(op)) {
        gradients.push_back(gradient);
        continue;
      }
      if (isa<graph::ReturnOp>(op) ||
          llvm::none_of(op.getOperands(),
                        [&](Value value) { return inUpdate(value); }))
        continue;
      if (isa<graph::GradientsOp>(op))
        return emitModelError(&op)
               << "accumulate: this backward() depends on gradients or "
                  "updated weights of the same step; call every backward() "
                  "before gradients are used and before the first "
                  "optimizer.step(), or leave --accumulate out";
      update.insert(&op);
    }
    return success();
  }

  /// Behind the last backward(), what a state becomes that no batch has a part
  /// in: `t += 1` counts updates. Micro-batches find what it was before, so
  /// what it is made from is of that kind, too, or does not change in them.
  void collectCounters() {
    Operation *last = nullptr;
    for (auto backward : step.getOps<graph::GradientsOp>())
      if (!backward.getWithinStep())
        last = backward;
    llvm::MapVector<Attribute, SmallVector<Attribute>> madeFrom; // by states
    for (OpOperand &returned : step.getReturn()->getOpOperands()) {
      Operation *op = returned.get().getDefiningOp();
      if (!graph::stateOf(returned) || inUpdate(returned.get()) ||
          (op && !(last && last->isBeforeInBlock(op))))
        continue;
      if (auto states = statesBehind(returned.get()))
        madeFrom[graph::stateOf(returned)] = *states;
    }
    auto changesInMicro = [&](OpOperand &returned) {
      FlatSymbolRefAttr state = graph::stateOf(returned);
      return state && !inUpdate(returned.get()) && !madeFrom.count(state);
    };
    for (size_t before = ~size_t(0); before != madeFrom.size();) {
      before = madeFrom.size();
      llvm::DenseSet<Attribute> changed;
      for (OpOperand &returned : step.getReturn()->getOpOperands())
        if (changesInMicro(returned))
          changed.insert(graph::stateOf(returned));
      madeFrom.remove_if([&](const auto &one) {
        return llvm::any_of(one.second, [&](Attribute state) {
          return changed.contains(state);
        });
      });
    }
    for (const auto &[state, from] : madeFrom)
      counters.insert(state);
  }

  /// Those that a value is made from, or nothing where an input, or random
  /// numbers, have a part in it.
  std::optional<SmallVector<Attribute>> statesBehind(Value value) {
    SmallVector<Attribute> states;
    SmallVector<Value> open{value};
    llvm::DenseSet<Value> seen{value};
    while (!open.empty()) {
      Value next = open.pop_back_val();
      Operation *op = next.getDefiningOp();
      if (op && readsWholeStep(op, stepScalars))
        continue;
      if (!op && !graph::stateOf(cast<BlockArgument>(next)))
        return std::nullopt;
      if (!op)
        states.push_back(graph::stateOf(cast<BlockArgument>(next)));
      else
        for (Value operand : op->getOperands())
          if (seen.insert(operand).second)
            open.push_back(operand);
    }
    return states;
  }

  bool isOfUpdate(OpOperand &returned) const {
    return inUpdate(returned.get()) ||
           counters.contains(graph::stateOf(returned));
  }

  /// A parameter that the micro-batch changes by a gradient of its own would be
  /// changed in each one.
  LogicalResult checkParameters() {
    for (OpOperand &returned : step.getReturn()->getOpOperands()) {
      FlatSymbolRefAttr name = graph::stateOf(returned);
      auto state =
          name ? module.lookupSymbol<graph::StateOp>(name) : graph::StateOp();
      if (!state || state.getRole() != "parameter" || inUpdate(returned.get()))
        continue;
      llvm::SetVector<Operation *> made;
      if (Operation *def = returned.get().getDefiningOp())
        made.insert(def);
      for (size_t i = 0; i < made.size(); ++i) { // it grows
        if (isa<graph::GradientsOp>(made[i]))
          return emitModelError(made.front())
                 << "accumulate: this changes the parameter '"
                 << state.getSymName()
                 << "' in each micro-batch, by gradients of autograd::grad; "
                    "w.grad() is their mean, or leave --accumulate out";
        for (Value operand : made[i]->getOperands())
          if (Operation *def = operand.getDefiningOp())
            made.insert(def);
      }
    }
    return success();
  }

  /// What gradients and metrics of the micro-batch are made from.
  void collectMicro() {
    SmallVector<Value> worklist;
    for (Operation &op : step.getOps())
      if (isa<graph::GradientsOp, graph::ReturnOp>(op))
        llvm::copy_if(op.getOperands(), std::back_inserter(worklist),
                      [&](Value value) { return !inUpdate(value); });
    while (!worklist.empty()) {
      Operation *op = worklist.pop_back_val().getDefiningOp();
      if (op && micro.insert(op).second)
        llvm::append_range(worklist, op->getOperands());
    }
  }

  /// One state for each gradient. Steps of the same module share them by name.
  void createAccumulators() {
    OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
    llvm::StringSet<> known;
    for (auto state : module.getOps<graph::StateOp>()) {
      atStart.setInsertionPointAfter(state);
      known.insert(state.getSymName());
    }
    llvm::StringMap<int> seen;
    for (graph::GradientOp gradient : gradients) {
      std::string of =
          gradient.getOf().empty() ? "value" : gradient.getOf().str();
      std::string name = "accumulate." + of;
      if (int before = seen[of]++)
        name += "." + std::to_string(before);
      accumulators.push_back(name);
      if (!known.insert(name).second)
        continue;
      auto kind = builder.getNamedAttr("kind", builder.getStringAttr("zero"));
      graph::StateOp::create(
          atStart, gradient.getLoc(), name, gradient.getType(), "accumulator",
          builder.getStringAttr(of), /*aliases=*/nullptr,
          builder.getDictionaryAttr(kind), /*layout=*/nullptr,
          /*sharding=*/nullptr, /*whole=*/nullptr);
    }
  }

  graph::PortAttr statePort(StringRef name) {
    return graph::PortAttr::state(builder.getContext(), name);
  }

  //===--- the update
  //------------------------------------------------------===//

  LogicalResult createUpdate();
  Value microValueOf(Value value);
  Value addUpdateArgument(Value like, graph::PortAttr port);
  void bring(Value wanted, OpBuilder &body, IRMapping &mapping);
  LogicalResult copyToUpdate(Operation &op, OpBuilder &body,
                             IRMapping &mapping);
  Value mean(Value accumulator, Value scalars, OpBuilder &body);

  //===--- the micro-batch
  //-------------------------------------------------===//

  LogicalResult shrinkToMicro();
  Value accumulate(Value gradient, Value accumulator);

  graph::StepOp step, updateStep;
  ModuleOp module;
  Builder builder;
  SmallVector<graph::PortAttr> updatePorts;
  SmallVector<graph::GradientOp> gradients;
  SmallVector<std::string> accumulators; // one for each gradient
  llvm::DenseSet<Operation *> update, micro;
  llvm::DenseSet<Attribute> counters; // states
  Value stepScalars;                  // null where the step has none
  llvm::DenseSet<Value> shared;       // where microValueOf has found nothing
};

/// What the value is made from that each micro-batch has its own of, or null:
/// an input, or random numbers that the micro-batch draws for itself, too.
Value Splitter::microValueOf(Value value) {
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!shared.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (op && readsWholeStep(op, stepScalars))
      continue;
    if (op ? micro.contains(op) &&
                 llvm::is_contained(op->getOperands(), stepScalars)
           : graph::portOf(next).asInput().has_value())
      return next;
    if (op)
      llvm::append_range(open, llvm::reverse(op->getOperands()));
  }
  return {};
}

/// The ports of all arguments are set at once: each change copies them.
Value Splitter::addUpdateArgument(Value like, graph::PortAttr port) {
  updatePorts.push_back(port);
  return updateStep.getBody().addArgument(like.getType(), like.getLoc());
}

/// Makes a value from before the gradients known in the update: arguments that
/// both have, and what can be computed from them again.
void Splitter::bring(Value wanted, OpBuilder &body, IRMapping &mapping) {
  computeAgain(wanted, body, mapping, [&](Value value) {
    return addUpdateArgument(value, graph::portOf(value));
  });
}

/// Moves one op over, with what it needs.
LogicalResult Splitter::copyToUpdate(Operation &op, OpBuilder &body,
                                     IRMapping &mapping) {
  for (Value operand : op.getOperands()) {
    if (mapping.contains(operand))
      continue;
    if (Value own = microValueOf(operand)) {
      InFlightDiagnostic error = emitModelError(&op);
      error << "accumulate: the update uses a value that belongs to one "
               "micro-batch: it is made from ";
      if (isa<BlockArgument>(own))
        error << describe(own);
      else
        error << "random numbers that each micro-batch draws";
      return error;
    }
    bring(operand, body, mapping);
  }
  body.clone(op, mapping);
  return success();
}

/// The mean gradient over the items of the group.
Value Splitter::mean(Value accumulator, Value scalars, OpBuilder &body) {
  graph::GraphBuilder g(body, accumulator.getLoc());
  Value items = readScalar(g, scalars, StepScalar::GroupItems, accumulator);
  Value count = g.cast(items, graph::elementOf(accumulator));
  return g.make<graph::DivOp>(accumulator, count);
}

LogicalResult Splitter::createUpdate() {
  OpBuilder afterStep(step->getContext());
  afterStep.setInsertionPointAfter(step);
  updateStep = graph::StepOp::create(afterStep, step.getLoc(),
                                     (step.getSymName() + ".update").str());
  updateStep.setOfAttr(step.getOfAttr());
  updateStep.setTraining(step.getTraining());
  updateStep.setPart(graph::Part::Update);
  OpBuilder body = OpBuilder::atBlockBegin(&updateStep.getBody().front());

  IRMapping mapping;
  if (!stepScalars)
    return step.emitError() << "accumulate: needs the step's scalars";
  bring(stepScalars, body, mapping);
  for (auto [gradient, name] : llvm::zip(gradients, accumulators)) {
    Value accumulator = addUpdateArgument(gradient, statePort(name));
    mapping.map(gradient, mean(accumulator, mapping.lookup(stepScalars), body));
  }
  for (Operation &op : step.getOps())
    if (update.contains(&op) && failed(copyToUpdate(op, body, mapping)))
      return failure();

  SmallVector<Value> results;
  SmallVector<graph::PortAttr> ports;
  for (OpOperand &returned : step.getReturn()->getOpOperands()) {
    if (!isOfUpdate(returned))
      continue;
    if (!mapping.contains(returned.get()))
      bring(returned.get(), body, mapping);
    results.push_back(mapping.lookup(returned.get()));
    ports.push_back(graph::portOf(returned));
  }
  updateStep.setArgPorts(updatePorts);
  updateStep.setResults(results, ports);
  return success();
}

/// In micro-batch 0 the gradient times its items, later added to what is there.
Value Splitter::accumulate(Value gradient, Value accumulator) {
  OpBuilder before(step.getBody().front().getTerminator());
  graph::GraphBuilder g(before, gradient.getLoc());
  Value count = g.constant(gradient, static_cast<double>(*step.getBatch()));
  Value weighted = g.make<graph::MulOp>(gradient, count);
  Value micro = readScalar(g, stepScalars, StepScalar::Micro, gradient);
  Value zero = g.constant(micro, 0);
  Value first = g.make<graph::EqOp>(micro, zero);
  Value sum = g.make<graph::AddOp>(accumulator, weighted);
  return g.make<graph::SelectOp>(first, weighted, sum);
}

LogicalResult Splitter::shrinkToMicro() {
  if (!step.getBatch())
    return step.emitError() << "accumulate: needs the size of the batch";
  SmallVector<Value> results;
  SmallVector<graph::PortAttr> argPorts(
      step.getArgPorts().getAsRange<graph::PortAttr>()),
      resPorts;
  for (OpOperand &returned : step.getReturn()->getOpOperands()) {
    if (isOfUpdate(returned))
      continue;
    results.push_back(returned.get());
    resPorts.push_back(graph::portOf(returned));
  }
  for (auto [gradient, name] : llvm::zip(gradients, accumulators)) {
    Value accumulator =
        step.getBody().addArgument(gradient.getType(), gradient.getLoc());
    results.push_back(accumulate(gradient, accumulator));
    argPorts.push_back(statePort(name));
    resPorts.push_back(statePort(name));
  }
  step.setArgPorts(argPorts);
  step.setResults(results, resPorts);
  step.setPart(graph::Part::Micro);
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (update.contains(&op))
      op.erase();
  return success();
}

struct SplitStep : dl::impl::SplitStepBase<SplitStep> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto step : module.getOps<graph::StepOp>())
      drawBorder(step);
    if (graph::accumulationOf(module) == 1)
      return;
    SmallVector<graph::StepOp> steps(module.getOps<graph::StepOp>());
    for (graph::StepOp step : steps)
      if (failed(Splitter(step, module).run(!step.getIsShort())))
        return signalPassFailure();
  }
};

} // namespace
