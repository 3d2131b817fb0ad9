// Names of states, attributes of functions, and out.
#include "compiler/frontend/Graph.h"
#include "compiler/frontend/Locations.h"
#include "dialects/graph/DropCustomGradients.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/Step.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;
using namespace dl::frontend;

/// The variable, of a parameter or a module, in whose definition a parameter
/// was made; "" where that is not clear.
static std::string variableOf(const Parameter &parameter,
                              const ReflectedTypes &types) {
  for (const Frame &frame : llvm::reverse(parameter.made))
    for (const Variable &variable : types.variables)
      if (variable.file == frame.file && variable.line == frame.line &&
          variable.column == frame.column)
        return variable.name;
  for (const Frame &frame : llvm::reverse(parameter.made)) {
    std::vector<const Variable *> candidates;
    for (const Variable &variable : types.variables)
      if (variable.file == frame.file && variable.firstLine <= frame.line &&
          frame.line <= variable.lastLine)
        candidates.push_back(&variable);
    if (candidates.size() == 1)
      return candidates.front()->name;
    // Of several in a line the last one before it.
    const Variable *last = nullptr;
    for (const Variable *one : candidates)
      if (one->line != frame.line)
        return "";
      else if (one->column <= frame.column &&
               (!last || one->column > last->column))
        last = one;
    if (last)
      return last->name;
  }
  return "";
}

/// The first parameter that has a name of an earlier one.
std::optional<std::pair<size_t, std::string>> Graph::findEqualNames() const {
  std::set<std::string> known;
  for (size_t i = 0; i < names.size(); ++i)
    for (const std::string &name : names[i])
      if (!known.insert(name).second)
        return std::pair(i, name);
  return std::nullopt;
}

/// An outermost module some of whose names are taken has its variable in front
/// of them all. Those made before it keep theirs, and with them what was saved.
void Graph::tellModulesApart(const std::vector<bool> &inModule) {
  std::set<std::string> taken;
  llvm::MapVector<int, llvm::SetVector<size_t>> byWalk; // as they were made
  for (size_t handle = 0; handle < handles.size(); ++handle)
    if (int parameter = handles[handle].parameter; parameter >= 0) {
      size_t i = static_cast<size_t>(parameter);
      if (inModule[i])
        byWalk[modules.walkOf(static_cast<int>(handle))].insert(i);
      else
        taken.insert(names[i].begin(), names[i].end());
    }
  for (const auto &[walk, own] : byWalk) {
    bool clash = llvm::any_of(own, [&](size_t i) {
      return llvm::any_of(names[i], [&](const std::string &name) {
        return taken.count(name) != 0;
      });
    });
    for (size_t i : own) {
      std::string variable = variableOf(parameters[i], types);
      for (std::string &name : names[i])
        if (clash && !variable.empty())
          name = variable + "." + name;
      if (clash)
        apart[i] = variable;
    }
    for (size_t i : own)
      taken.insert(names[i].begin(), names[i].end());
  }
}

void Graph::nameParameters() {
  names.resize(parameters.size());
  apart.resize(parameters.size());
  std::vector<bool> used(parameters.size()), inModule(parameters.size());
  for (const auto &one : traces)
    for (const auto &[key, values] : one->states)
      used[static_cast<size_t>(key.parameter)] = true;
  for (size_t handle = 0; handle < handles.size(); ++handle)
    if (int parameter = handles[handle].parameter;
        parameter >= 0 && used[static_cast<size_t>(parameter)])
      modules.markUsed(static_cast<int>(handle));
  for (size_t handle = 0; handle < handles.size(); ++handle)
    if (int parameter = handles[handle].parameter; parameter >= 0) {
      size_t i = static_cast<size_t>(parameter);
      if (!modules.belongsToModel(static_cast<int>(handle)))
        continue;
      names[i] = modules.namesOf(static_cast<int>(handle));
      inModule[i] = !names[i].empty();
    }
  for (size_t i = 0; i < parameters.size(); ++i)
    if (names[i].empty() && used[i]) {
      std::string variable = variableOf(parameters[i], types);
      names[i].push_back(variable.empty() ? "parameter" + std::to_string(i)
                                          : variable);
    }
  tellModulesApart(inModule);
  if (auto equal = findEqualNames())
    reporter.failAt(
        parameters[equal->first].made,
        std::string("two ") +
            (parameters[equal->first].isBuffer ? "buffers" : "parameters") +
            " are called '" + equal->second +
            "'; make both members of one nn::Module, which what "
            "holds them is derived from");
}

/// What an optimizer was to train, and no loss depends on.
void Graph::warnOfMissingGradients() {
  std::set<int> warned;
  for (const auto &one : traces)
    for (int optimizer : one->stepped)
      for (const auto &group : optimizers[static_cast<size_t>(optimizer)])
        for (int handle : group) {
          int number = handles[static_cast<size_t>(handle)].parameter;
          const Parameter &parameter = parameters[static_cast<size_t>(number)];
          bool updated = llvm::any_of(traces, [&](const auto &other) {
            return other->updates.count({optimizer, number});
          });
          if (updated || !parameter.requiresGrad ||
              !warned.insert(number).second)
            continue;
          const auto &known = names[static_cast<size_t>(number)];
          std::string name =
              known.empty() ? variableOf(parameter, types) : known.front();
          reporter.warnAt(parameter.made,
                          "the parameter '" + name +
                              "' never gets a gradient: no loss of the "
                              "training step depends on it",
                          "requires_grad_(false) says that it is meant");
        }
}

/// `if (++i % 4 == 0) optimizer.step();` steps in no trace, and a layer behind
/// a raw pointer is no member for parameters(). Who looks at gradients may have
/// a use for them of his own.
void Graph::warnOfUnusedGradients() {
  std::set<int> optimized;  // parameters, or outermost modules of which one is
  std::vector<int> wholeOf; // by parameter: its outermost module, negative
  for (size_t i = 0; i < parameters.size(); ++i)
    wholeOf.push_back(static_cast<int>(i));
  for (size_t i = 0; i < handles.size(); ++i)
    if (int number = handles[i].parameter, handle = static_cast<int>(i);
        number >= 0 && modules.belongsToModel(handle) &&
        !modules.namesOf(handle).empty())
      wholeOf[static_cast<size_t>(number)] = -1 - modules.walkOf(handle);
  for (const auto &groups : optimizers)
    for (const auto &group : groups)
      for (int handle : group)
        optimized.insert(wholeOf[static_cast<size_t>(
            handles[static_cast<size_t>(handle)].parameter)]);
  for (const auto &one : traces)
    for (const auto &[number, gradient] : one->gradients) {
      size_t i = static_cast<size_t>(number);
      const Parameter &parameter = parameters[i];
      if (one->stepped.empty() || !one->gradientHandles.empty() ||
          parameter.isBuffer || !parameter.requiresGrad ||
          !optimized.insert(wholeOf[i]).second)
        continue;
      reporter.warnAt(parameter.made,
                      "the parameter '" + names[i].front() +
                          "' gets a gradient, and is in no optimizer: it is "
                          "not trained",
                      "requires_grad_(false) says that it is meant; "
                      "parameters() has no layers behind raw pointers, in "
                      "functions or global ones");
    }
  std::set<std::pair<std::string, int>> warned;
  for (const auto &one : traces) {
    if (optimizers.empty() || !one->training || one->losses.empty() ||
        !one->stepped.empty() || !one->gradientHandles.empty())
      continue;
    const Frame &loss = one->losses.front().second;
    if (warned.insert({loss.file, loss.line}).second)
      reporter.warnAt({loss},
                      "backward() makes gradients, and no optimizer takes a "
                      "step: nothing is trained",
                      "call optimizer.step() each time; updates of several "
                      "batches are made by dlcc --accumulate=N");
  }
}

/// [1], which PyTorch's item() would take, and counts, which evaluations take
/// the mean of.
void Graph::warnOfUnloggedMetrics() {
  std::set<std::string> warned;
  for (const auto &one : traces)
    for (const Metric &metric : one->metrics) {
      auto type = cast<RankedTensorType>(metric.value.getType());
      if (!one->predicts && type.getRank() > 0 && type.getNumElements() == 1 &&
          warned.insert(one->step + "." + metric.name).second)
        reporter.warnAt(metric.frames,
                        "the metric '" + metric.name + "' is " +
                            dl::graph::typeText(type) +
                            " and no number: it is saved by --save-metrics, "
                            "and not logged",
                        "x.squeeze() is a number");
      if (!one->training && !one->predicts && type.getRank() == 0 &&
          type.getElementType().isSignlessInteger(64) &&
          isa_and_nonnull<dl::graph::SumOp>(metric.value.getDefiningOp()) &&
          warned.insert(one->step + "." + metric.name).second)
        reporter.warnAt(metric.frames,
                        "the metric '" + metric.name +
                            "' is a count: an evaluation reports its mean "
                            "over the batches, not the sum",
                        "x.to(dl::kFloat).mean() is a share of all items");
    }
}

std::string Graph::stateName(const StateKey &key) const {
  const std::string &parameter =
      names[static_cast<size_t>(key.parameter)].front();
  return key.slot.empty() ? parameter : "optim." + parameter + "." + key.slot;
}

static StringRef kindOf(const Distribution &initial) {
  switch (initial.kind) {
  case DL_UNIFORM:
    return "uniform";
  case DL_NORMAL:
    return "normal";
  case DL_TRUNCATED:
    return "truncated";
  case DL_PADDED:
    return "padded";
  case DL_ORTHOGONAL:
    return "orthogonal";
  case DL_DIRAC:
    return "dirac";
  case DL_SPARSE:
    return "sparse";
  default:
    return initial.a == 0 ? "zero" : "constant";
  }
}

static SmallVector<NamedAttribute> entriesOf(Builder &builder,
                                             const Distribution &begins,
                                             const std::string &drawnAs) {
  StringRef kind = kindOf(begins);
  bool isRandom = kind != "zero" && kind != "constant" && kind != "dirac";
  uint64_t key = isRandom ? hashText("init:" + drawnAs) : 0;
  auto number = [&](StringRef name, double value) {
    return builder.getNamedAttr(name, builder.getF64FloatAttr(value));
  };
  SmallVector<NamedAttribute> entries = {
      builder.getNamedAttr("kind", builder.getStringAttr(kind)),
      number("a", begins.a), number("b", begins.b),
      builder.getNamedAttr(
          "key", builder.getI64IntegerAttr(static_cast<int64_t>(key)))};
  if (kind == "truncated" || kind == "padded") {
    entries.push_back(number("low", begins.low));
    entries.push_back(number("high", begins.high));
  }
  return entries;
}

/// Of a graph.state. `drawnAs` names the random numbers of the whole, or of a
/// part of their own.
static DictionaryAttr
initOf(Builder &builder, const Initial &initial,
       llvm::function_ref<std::string(const InitialPart *)> drawnAs) {
  auto list = [&](StringRef name, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  };
  SmallVector<NamedAttribute> entries =
      entriesOf(builder, initial, drawnAs(nullptr));
  if (initial.known && !initial.known->empty()) {
    InitialRuns runs = runsOf(*initial.known);
    entries.push_back(list("runs", runs.runs));
    entries.push_back(builder.getNamedAttr(
        "values", builder.getDenseF64ArrayAttr(runs.values)));
  }
  SmallVector<Attribute> parts;
  for (const InitialPart &part : initial.parts) {
    auto begins = builder.getDictionaryAttr(
        entriesOf(builder, part.begins, drawnAs(part.whole ? nullptr : &part)));
    SmallVector<NamedAttribute> entry = {
        builder.getNamedAttr("offset",
                             builder.getI64IntegerAttr(part.view.offset)),
        list("shape", part.view.shape), list("strides", part.view.strides),
        builder.getNamedAttr("begins", begins)};
    if (part.whole)
      entry.push_back(builder.getNamedAttr("whole", builder.getUnitAttr()));
    parts.push_back(builder.getDictionaryAttr(entry));
  }
  if (!parts.empty())
    entries.push_back(
        builder.getNamedAttr("parts", builder.getArrayAttr(parts)));
  return builder.getDictionaryAttr(entries);
}

void Graph::writeState(const StateKey &key, StringRef role,
                       const Initial &initial, ArrayRef<std::string> aliases) {
  const Parameter &parameter = parameters[static_cast<size_t>(key.parameter)];
  auto own = slots.find(key);
  RankedTensorType type =
      own == slots.end() ? parameter.type : own->second.type;
  auto drawnAs = [&](const InitialPart *part) {
    StateKey drawn = key;
    if (part && !names[static_cast<size_t>(part->drawnBy)].empty())
      drawn.parameter = part->drawnBy;
    if (auto first = firstOfDraw.find(initial.draw);
        !part && first != firstOfDraw.end())
      drawn.parameter = first->second;
    return stateName(drawn) +
           (part ? "#" + std::to_string(part->ordinal) : std::string());
  };
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr("sym_name", builder.getStringAttr(stateName(key))),
      builder.getNamedAttr("type", TypeAttr::get(type)),
      builder.getNamedAttr("role", builder.getStringAttr(role)),
      builder.getNamedAttr("init", initOf(builder, initial, drawnAs))};
  if (!key.slot.empty())
    attributes.push_back(builder.getNamedAttr(
        "of", builder.getStringAttr(stateName({key.parameter, ""}))));
  if (!aliases.empty())
    attributes.push_back(builder.getNamedAttr(
        "aliases", builder.getStrArrayAttr(SmallVector<StringRef>(
                       aliases.begin(), aliases.end()))));
  OperationState state(locationOf(parameter.made, &context), "graph.state");
  state.addAttributes(attributes);
  Operation *made = builder.create(state);
  if (const std::string &variable = apart[static_cast<size_t>(key.parameter)];
      !variable.empty())
    made->setAttr(dl::graph::kApart, builder.getStringAttr(variable));
}

void Graph::writeStates() {
  builder.setInsertionPointToStart(module->getBody());
  // In the order of PyTorch's state_dict, then variables outside of modules.
  llvm::SetVector<int> order;
  for (int handle : modules.order())
    order.insert(handles[static_cast<size_t>(handle)].parameter);
  for (size_t i = 0; i < parameters.size(); ++i)
    order.insert(static_cast<int>(i));
  order.remove_if(
      [&](int number) { return names[static_cast<size_t>(number)].empty(); });

  for (auto [i, parameter] : llvm::enumerate(parameters))
    if (parameter.initial.draw >= 0 && !names[i].empty())
      firstOfDraw.try_emplace(parameter.initial.draw, static_cast<int>(i));
  for (int number : order) {
    const Initial &initial = parameters[static_cast<size_t>(number)].initial;
    bool isBuffer = parameters[static_cast<size_t>(number)].isBuffer;
    writeState({number, ""}, isBuffer ? "buffer" : "parameter", initial,
               ArrayRef(names[static_cast<size_t>(number)]).drop_front());
  }
  std::map<int, std::set<std::string>> used;
  for (const auto &one : traces)
    for (const auto &[key, values] : one->states)
      if (!key.slot.empty())
        used[key.parameter].insert(key.slot);
  for (int number : order)
    for (const std::string &slot : used[number]) {
      auto own = slots.find({number, slot});
      double initial = own == slots.end() ? 0 : own->second.initial;
      writeState({number, slot}, "slot", {{DL_CONSTANT, initial, 0}}, {});
    }
}

/// Values whose gradients are asked for stand between what made them and their
/// users: nothing folds past a copy. expand-gradients takes it away.
static void pinGradientInputs(OpBuilder &builder, dl::graph::StepOp step) {
  OpBuilder::InsertionGuard guard(builder);
  for (auto gradients : step.getOps<dl::graph::GradientsOp>())
    for (Value input : gradients->getOperands().drop_front()) {
      Operation *op = input.getDefiningOp();
      if (!gradients.getWithinStep() || !op || isa<dl::graph::CopyOp>(op))
        continue;
      builder.setInsertionPointAfter(op);
      auto copy = dl::graph::CopyOp::create(builder, op->getLoc(),
                                            input.getType(), input);
      input.replaceAllUsesExcept(copy, copy);
    }
}

void Graph::annotateFunction(Trace &one) {
  dl::graph::StepOp step = one.function;
  pinGradientInputs(builder, step);
  step.setOf(one.step);
  step.setTraining(one.training);
  if (one.predicts)
    step->setAttr(dl::graph::kPredicts, builder.getUnitAttr());
  if (one.generates)
    step->setAttr(
        dl::graph::kWindow,
        builder.getI64IntegerAttr(
            cast<RankedTensorType>(one.metrics.front().value.getType())
                .getDimSize(1)));
  if (one.isMarked)
    step->setAttr(dl::graph::kBatchMarked, builder.getUnitAttr());
  if (!one.mixes.empty())
    step->setAttr(dl::graph::kMixes, builder.getStringAttr(one.mixes));
  step.setIsShort(one.isShort);
  step.setDataset(datasets.get(one.dataset).index);
  step.setBatch(one.batch);

  using dl::graph::PortAttr;
  SmallVector<PortAttr> arguments, results;
  auto state = [&](const StateKey &key) {
    return PortAttr::state(&context, stateName(key));
  };
  for (const Argument &argument : one.arguments)
    if (argument.kind == Argument::Input)
      arguments.push_back(
          PortAttr::input(&context, static_cast<int64_t>(arguments.size())));
    else if (argument.kind == Argument::Scalars)
      arguments.push_back(PortAttr::scalars(&context));
    else
      arguments.push_back(state(argument.state));
  SmallVector<Value> values;
  for (const Metric &metric : one.metrics) {
    results.push_back(PortAttr::metric(builder.getStringAttr(metric.name)));
    values.push_back(metric.value);
  }
  for (const ErrorFlag &flag : one.errorFlags) {
    results.push_back(PortAttr::error(builder.getStringAttr(flag.message)));
    values.push_back(flag.value);
  }
  for (const StateKey &key : one.stateOrder)
    if (const std::vector<Value> &versions = one.states[key];
        versions.size() > 1) {
      results.push_back(state(key));
      values.push_back(versions.back());
    }
  step.setArgPorts(arguments);
  step.setResults(values, results);
  if (step.getOps<dl::graph::GradientsOp>().empty())
    dl::graph::dropCustomGradients(step);
}

std::string Graph::finish() {
  if (traces.empty())
    reporter.failAt({Frame{options.model, 0, 0, ""}},
                    "dl_main() has no step; call p.train() or p.eval()");
  if (std::string wrong = checkpoints.complaint(); !wrong.empty())
    reporter.failPlain(wrong, 2);
  resolveCounters();
  nameParameters();
  warnOfMissingGradients();
  warnOfUnusedGradients();
  warnOfUnloggedMetrics();
  writeInitialStep();
  writeStates();
  for (const auto &one : traces)
    annotateFunction(*one);
  ModuleOp made = *module;
  made->setLoc(FileLineColLoc::get(&context, options.model, 1, 1));
  builder.setInsertionPointToStart(made.getBody());
  std::vector<std::string> constantNames = modules.constants();
  SmallVector<StringRef> constants(constantNames.begin(), constantNames.end());
  dl::graph::ProgramOp::create(
      builder, made.getLoc(), options.model,
      options.dtype == "bf16" ? Type(builder.getBF16Type()) : floatType,
      options.accumulate,
      constants.empty() ? ArrayAttr() : builder.getStrArrayAttr(constants));
  datasets.write(builder, made.getLoc());
  writePlateaus();
  OpBuilder atStart = OpBuilder::atBlockBegin(made.getBody());
  parallel.write(atStart, made, [&](int handle) {
    return names[static_cast<size_t>(get(handle, "parallel").parameter)];
  });
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str() + "\n";
  });
  if (failed(verify(made)))
    reporter.failPlain(
        "dlcc made a graph that is not valid; this is a bug of dlcc\n" + said,
        70);
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  if (failed(writeBytecodeToFile(made, os)))
    reporter.failPlain("dlcc could not write the graph; this is a bug of dlcc",
                       70);
  return bytes;
}
