// Names of states, attributes of functions, and out.
#include "compiler/frontend/Graph.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
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
    std::vector<std::string> candidates;
    for (const Variable &variable : types.variables)
      if (variable.file == frame.file && variable.firstLine <= frame.line &&
          frame.line <= variable.lastLine)
        candidates.push_back(variable.name);
    if (candidates.size() == 1)
      return candidates.front();
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

void Graph::nameParameters() {
  names.resize(parameters.size());
  std::vector<bool> used(parameters.size()), inModule(parameters.size());
  for (const auto &one : traces)
    for (const auto &[key, values] : one->states)
      used[static_cast<size_t>(key.parameter)] = true;
  for (size_t handle = 0; handle < handles.size(); ++handle)
    if (int parameter = handles[handle].parameter; parameter >= 0) {
      size_t i = static_cast<size_t>(parameter);
      names[i] = modules.namesOf(static_cast<int>(handle));
      inModule[i] = !names[i].empty();
    }
  for (size_t i = 0; i < parameters.size(); ++i)
    if (names[i].empty() && used[i]) {
      std::string variable = variableOf(parameters[i], types);
      names[i].push_back(variable.empty() ? "parameter" + std::to_string(i)
                                          : variable);
    }
  // Two outermost modules: their variables tell them apart.
  if (findEqualNames())
    for (size_t i = 0; i < parameters.size(); ++i)
      if (std::string variable = variableOf(parameters[i], types);
          inModule[i] && !variable.empty())
        for (std::string &name : names[i])
          name = variable + "." + name;
  if (auto equal = findEqualNames())
    reporter.failAt(parameters[equal->first].made,
                    "two parameters are called '" + equal->second +
                        "'; make both members of one nn::Module");
}

std::string Graph::stateName(const StateKey &key) const {
  const std::string &parameter =
      names[static_cast<size_t>(key.parameter)].front();
  return key.slot.empty() ? parameter : "optim." + parameter + "." + key.slot;
}

static Location locationOf(ArrayRef<Frame> frames, MLIRContext *context) {
  if (frames.empty())
    return UnknownLoc::get(context);
  return FileLineColLoc::get(context, frames.front().file, frames.front().line,
                             frames.front().column);
}

void Graph::writeStates() {
  builder.setInsertionPointToStart(module->getBody());
  // In the order of PyTorch's state_dict, then variables outside of modules.
  std::vector<int> order;
  auto add = [&](int parameter) {
    if (!names[static_cast<size_t>(parameter)].empty() &&
        !llvm::is_contained(order, parameter))
      order.push_back(parameter);
  };
  for (int handle : modules.order())
    add(handles[static_cast<size_t>(handle)].parameter);
  for (size_t i = 0; i < parameters.size(); ++i)
    add(static_cast<int>(i));

  auto write = [&](const StateKey &key, StringRef role, DictionaryAttr initial,
                   ArrayRef<std::string> aliases) {
    const Parameter &parameter = parameters[static_cast<size_t>(key.parameter)];
    SmallVector<NamedAttribute> attributes = {
        builder.getNamedAttr("sym_name", builder.getStringAttr(stateName(key))),
        builder.getNamedAttr("type", TypeAttr::get(parameter.type)),
        builder.getNamedAttr("role", builder.getStringAttr(role)),
        builder.getNamedAttr("init", initial)};
    if (!key.slot.empty())
      attributes.push_back(builder.getNamedAttr(
          "of", builder.getStringAttr(stateName({key.parameter, ""}))));
    if (!aliases.empty())
      attributes.push_back(builder.getNamedAttr(
          "aliases", builder.getStrArrayAttr(SmallVector<StringRef>(
                         aliases.begin(), aliases.end()))));
    OperationState state(locationOf(parameter.made, &context), "graph.state");
    state.addAttributes(attributes);
    builder.create(state);
  };
  auto initialOf = [&](StringRef kind, double a, double b, uint64_t key) {
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("kind", builder.getStringAttr(kind)),
         builder.getNamedAttr("a", builder.getF64FloatAttr(a)),
         builder.getNamedAttr("b", builder.getF64FloatAttr(b)),
         builder.getNamedAttr(
             "key", builder.getI64IntegerAttr(static_cast<int64_t>(key)))});
  };
  for (int number : order) {
    StateKey key{number, ""};
    const Initial &initial = parameters[static_cast<size_t>(number)].initial;
    bool isZero = initial.kind == DL_CONSTANT && initial.a == 0;
    StringRef kind = isZero                        ? "zero"
                     : initial.kind == DL_CONSTANT ? "constant"
                     : initial.kind == DL_UNIFORM  ? "uniform"
                                                   : "normal";
    uint64_t randomKey =
        initial.kind == DL_CONSTANT ? 0 : hashText("init:" + stateName(key));
    write(key, "parameter", initialOf(kind, initial.a, initial.b, randomKey),
          ArrayRef(names[static_cast<size_t>(number)]).drop_front());
  }
  for (int number : order) {
    std::vector<std::string> slots;
    for (const auto &one : traces)
      for (const auto &[key, values] : one->states)
        if (key.parameter == number && !key.slot.empty() &&
            !llvm::is_contained(slots, key.slot))
          slots.push_back(key.slot);
    for (const std::string &slot : slots)
      write({number, slot}, "slot", initialOf("zero", 0, 0, 0), {});
  }
}

void Graph::annotateFunctions() {
  for (const auto &one : traces) {
    func::FuncOp function = one->function;
    function->setAttr("graph.step", builder.getStringAttr(one->step));
    if (one->training)
      function->setAttr("graph.training", builder.getUnitAttr());
    if (one->isShort)
      function->setAttr("graph.short", builder.getUnitAttr());
    function->setAttr("graph.dataset", builder.getI64IntegerAttr(
                                           datasets.get(one->dataset).index));
    function->setAttr("graph.batch", builder.getI64IntegerAttr(one->batch));
    auto symbol = [&](const StateKey &key) {
      return FlatSymbolRefAttr::get(&context, stateName(key));
    };
    for (auto [i, argument] : llvm::enumerate(one->arguments)) {
      unsigned index = static_cast<unsigned>(i);
      if (argument.kind == Argument::Input)
        function.setArgAttr(index, "graph.input",
                            builder.getI64IntegerAttr(static_cast<int64_t>(i)));
      else if (argument.kind == Argument::Scalars)
        function.setArgAttr(index, "graph.scalars", builder.getUnitAttr());
      else
        function.setArgAttr(index, "graph.state", symbol(argument.state));
    }
    unsigned index = 0;
    for (const Metric &metric : one->metrics)
      function.setResultAttr(index++, "graph.metric",
                             builder.getStringAttr(metric.name));
    for (const ErrorFlag &flag : one->errorFlags)
      function.setResultAttr(index++, "graph.error",
                             builder.getStringAttr(flag.message));
    for (const StateKey &key : one->stateOrder)
      if (one->states[key].size() > 1)
        function.setResultAttr(index++, "graph.state", symbol(key));
  }
}

std::string Graph::finish() {
  if (traces.empty())
    reporter.failAt({Frame{options.model, 0, 0, ""}},
                    "dl_main() has no step; call p.train() or p.eval()");
  nameParameters();
  writeStates();
  annotateFunctions();
  ModuleOp made = *module;
  made->setLoc(FileLineColLoc::get(&context, options.model, 1, 1));
  made->setAttr("graph.accumulate",
                builder.getI64IntegerAttr(options.accumulate));
  made->setAttr("graph.model", builder.getStringAttr(options.model));
  made->setAttr("graph.dtype", TypeAttr::get(floatType));
  made->setAttr("graph.datasets", datasets.attribute(builder));
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
