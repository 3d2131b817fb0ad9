// What a step knows of the steps before it: how often a scheduler was stepped,
// or a parameter updated. Where there is one training step this follows from
// its number; else states count.
#include "compiler/frontend/Graph.h"
#include "dialects/graph/StepScalars.h"

using namespace mlir;
using namespace dl::frontend;

int Graph::makeCounter(int optimizer) {
  counters.push_back({optimizer, -1, 0, {}});
  return static_cast<int>(counters.size()) - 1;
}

void Graph::count(int counter) {
  Counter &one = counters[static_cast<size_t>(counter)];
  if (inEpoch) {
    ++one.perEpoch;
    epochChanges = true;
    return;
  }
  if (!trace || !trace->training)
    reporter.fail("scheduler.step: this belongs inside of p.train() or of "
                  "p.each_epoch()");
  ++one.inTrace[trace->number];
}

int Graph::counted(int counter) {
  requireTraining("scheduler");
  const Counter &one = counters[static_cast<size_t>(counter)];
  auto found = one.inTrace.find(trace->number);
  return addHandle(
      countHere(counter, found == one.inTrace.end() ? 0 : found->second));
}

void Graph::setInEpoch(bool value) {
  if (value && (trace || inEpoch))
    reporter.fail("p.each_epoch() cannot be inside of a step");
  if (!value && !epochChanges)
    reporter.fail(
        "p.each_epoch(): this calls no scheduler.step(); it runs once, "
        "while the program is compiled, and what C++ changes in it "
        "stays as it was; in p.train() p.epoch() is the number of the "
        "epoch");
  inEpoch = value;
  epochChanges = false;
}

int Graph::numberOf(dl::graph::StepScalar which) {
  if (!isTraining())
    reporter.fail(
        (stringifyStepScalar(which) + ": its number is known in p.train()")
            .str());
  dl::graph::GraphBuilder g(builder, location());
  Value like = constant(0, RankedTensorType::get({}, builder.getF64Type()));
  Value number = readScalar(g, trace->scalars, which, like);
  return addHandle(g.cast(number, builder.getF64Type()));
}

/// What the counter was when the step began, and `more`. Until all steps are
/// known that is a placeholder.
Value Graph::countHere(int counter, int64_t more) {
  auto type = RankedTensorType::get({}, builder.getF64Type());
  Value &base = trace->counts[counter];
  if (!base) {
    OperationState state(location(), "builtin.unrealized_conversion_cast");
    state.addTypes(type);
    base = builder.create(state)->getResult(0);
  }
  if (more == 0)
    return base;
  Value added = constant(static_cast<double>(more), type);
  return create("add", {base, added}, {})->getResult(0);
}

/// Counters that always have the same value, together: the parameters that an
/// optimizer updates in the same calls.
std::vector<std::vector<int>> Graph::countersOfEqualCalls() const {
  std::vector<std::vector<int>> groups;
  for (size_t i = 0; i < counters.size(); ++i) {
    const Counter &one = counters[i];
    bool found = false;
    for (std::vector<int> &group : groups) {
      const Counter &other = counters[static_cast<size_t>(group.front())];
      if (one.parameter < 0 || other.parameter < 0 ||
          other.optimizer != one.optimizer || other.inTrace != one.inTrace)
        continue;
      group.push_back(static_cast<int>(i));
      found = true;
      break;
    }
    if (!found)
      groups.push_back({static_cast<int>(i)});
  }
  return groups;
}

/// perStep times the number of the step and perEpoch times that of the epoch.
Value Graph::countFromStep(Trace &one, Operation *place, const Counter &counter,
                           int64_t perStep) {
  using dl::graph::StepScalar;
  OpBuilder at(place);
  dl::graph::GraphBuilder g(at, place->getLoc());
  Value total, like = place->getResult(0);
  for (auto [which, times] : {std::pair(StepScalar::Step, perStep),
                              std::pair(StepScalar::Epoch, counter.perEpoch)}) {
    if (times == 0)
      continue;
    Value scalar = readScalar(g, one.scalars, which, like);
    Value number = g.cast(scalar, at.getF64Type());
    if (times != 1) {
      Value factor = g.constant(number, static_cast<double>(times));
      number = g.make<dl::graph::MulOp>(number, factor);
    }
    total = total ? g.make<dl::graph::AddOp>(total, number) : number;
  }
  return total ? total : g.constant(like, 0);
}

/// A state of its own, to which each step adds: behind every backward(), so
/// that of micro-batches only the update does.
Value Graph::countFromState(Trace &one, const StateKey &key, int64_t added) {
  trace = &one;
  auto type = RankedTensorType::get({}, builder.getF64Type());
  std::vector<Value> &values = one.states[key];
  if (values.empty()) {
    Value before = stateValue(key, type);
    if (added) {
      OpBuilder at = OpBuilder::atBlockEnd(one.body());
      dl::graph::GraphBuilder g(at, builder.getUnknownLoc());
      Value more = g.constant(before, static_cast<double>(added));
      values.push_back(g.make<dl::graph::AddOp>(before, more));
    }
  }
  trace = nullptr;
  return values.front();
}

/// Puts what the counter was in the place of what stands for it. Without a key
/// it follows from the numbers of the step and the epoch.
void Graph::resolveCounter(Trace &one, int number, const StateKey &key,
                           int64_t perStep) {
  const Counter &counter = counters[static_cast<size_t>(number)];
  bool ofState = !key.slot.empty();
  auto inTrace = counter.inTrace.find(one.number);
  int64_t added = inTrace == counter.inTrace.end() ? 0 : inTrace->second;
  Value before = ofState && (added || one.counts.count(number))
                     ? countFromState(one, key, added)
                     : Value();
  if (auto found = one.counts.find(number); found != one.counts.end()) {
    Operation *place = found->second.getDefiningOp();
    Value value = before;
    if (!ofState || counter.perEpoch)
      value = countFromStep(one, place, counter, perStep);
    if (ofState && counter.perEpoch) {
      OpBuilder at(place);
      dl::graph::GraphBuilder g(at, place->getLoc());
      value = g.make<dl::graph::AddOp>(before, value);
    }
    found->second.replaceAllUsesWith(value);
    place->erase();
  }
  if (!ofState)
    return;
  for (auto [op, ofCounter, calls] : one.counted)
    if (ofCounter == number) {
      OpBuilder at(op);
      dl::graph::GraphBuilder g(at, op->getLoc());
      Value more = g.constant(before, static_cast<double>(calls + 1));
      Value count = g.make<dl::graph::AddOp>(before, more);
      int64_t numbers = llvm::count_if(op->getAttrs(), [](NamedAttribute a) {
        return isa<dl::graph::OperandNumberAttr>(a.getValue());
      });
      op->insertOperands(op->getNumOperands(), count);
      op->setAttr("count",
                  dl::graph::OperandNumberAttr::get(&context, numbers));
    }
}

void Graph::resolveCounters() {
  std::set<std::string> training;
  for (const auto &one : traces)
    if (one->training)
      training.insert(one->step);
  for (const std::vector<int> &group : countersOfEqualCalls()) {
    Counter &counter = counters[static_cast<size_t>(group.front())];
    // How often in each training step; steps of both sizes of batch agree
    // unless the model counts its batches.
    std::set<int64_t> perStep;
    for (const auto &one : traces)
      if (one->training)
        perStep.insert(counter.inTrace[one->number]);
    bool steady = training.size() < 2 && perStep.size() < 2;
    bool counts = perStep.size() > 1 || !perStep.count(0);
    StateKey key;
    if (counts && !steady) {
      int parameter = counter.parameter;
      if (parameter < 0)
        parameter =
            handles[static_cast<size_t>(
                        optimizers[static_cast<size_t>(counter.optimizer)]
                            .front()
                            .front())]
                .parameter;
      bool ofUpdates = counter.parameter >= 0;
      key = slotOf(ofUpdates ? counter.optimizer : -1 - group.front(),
                   parameter, ofUpdates ? "step" : "lr_scheduler");
      slots[key] = {RankedTensorType::get({}, builder.getF64Type()), 0};
    }
    for (const auto &one : traces)
      for (int number : group)
        resolveCounter(*one, number, key,
                       steady && !perStep.empty() ? *perStep.begin() : 0);
  }
}
