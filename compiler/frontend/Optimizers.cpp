// Optimizers: those that are an op, and those that <dl/optim.h> writes with
// ops.
#include "compiler/frontend/Graph.h"
#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::frontend;

int Graph::makeOptimizer(bool isNumbered) {
  if (trace)
    reporter.fail("an optimizer cannot be made inside of a step");
  auto earlier = llvm::count_if(optimizerNumbers, [](int n) { return n >= 0; });
  optimizerNumbers.push_back(isNumbered ? static_cast<int>(earlier) : -1);
  optimizers.emplace_back();
  return static_cast<int>(optimizers.size()) - 1;
}

void Graph::addGroup(int optimizer, ArrayRef<int> given) {
  if (trace)
    reporter.fail("a group of parameters cannot be added inside of a step");
  auto &groups = optimizers[static_cast<size_t>(optimizer)];
  std::set<int> others, known;
  for (const std::vector<int> &group : groups)
    for (int handle : group)
      others.insert(handles[static_cast<size_t>(handle)].parameter);
  std::vector<int> unique;
  for (int handle : given) {
    int parameter = get(handle, "optimizer").parameter;
    if (parameter < 0 || parameters[static_cast<size_t>(parameter)].isBuffer)
      reporter.fail("an optimizer takes parameters; this tensor is none");
    if (others.count(parameter))
      reporter.fail("a parameter is in two groups of the optimizer");
    if (known.insert(parameter).second)
      unique.push_back(handle);
  }
  if (unique.empty())
    reporter.fail("the optimizer got no parameters");
  groups.push_back(std::move(unique));
}

bool Graph::usesOptimized(int optimizer) {
  if (!trace)
    return false;
  for (const auto &group : optimizers[static_cast<size_t>(optimizer)])
    for (int handle : group)
      if (trace->states.count(
              {handles[static_cast<size_t>(handle)].parameter, ""}))
        return true;
  return false;
}

void Graph::zeroOptimized(int optimizer) {
  requireTraining("zero_grad");
  for (const auto &group : optimizers[static_cast<size_t>(optimizer)])
    zeroGradients(group);
}

/// A second optimizer of the same parameter keeps slots of its own.
StateKey Graph::slotOf(int optimizer, int parameter, StringRef slot) {
  for (int number = 0;; ++number) {
    StateKey key = {parameter,
                    slot.str() + (number ? "." + std::to_string(number) : "")};
    if (slotOwners.try_emplace(key, optimizer).first->second == optimizer)
      return key;
  }
}

/// "optim."; of a further group "optim.group1.", of a further optimizer
/// "optim1.".
static std::string settingPrefix(int optimizer, int group) {
  auto numbered = [](StringRef word, int number) {
    return word.str() + (number ? std::to_string(number) : "") + ".";
  };
  return numbered("optim", optimizer) + (group ? numbered("group", group) : "");
}

/// An optimizer's numbers are settings, read in each step. One that is 0 stays
/// a number of the code: an update without weight decay computes less. What the
/// step computes becomes an operand.
NamedAttribute Graph::convertNumber(const dl_attr &attribute,
                                    const std::string &prefix,
                                    SmallVectorImpl<Value> &numbers) {
  if (attribute.kind == DL_ATTR_NUMBER) {
    const Handle number =
        get(static_cast<int>(attribute.integer), attribute.name);
    if (number.setting)
      return builder.getNamedAttr(attribute.name, number.setting);
    numbers.push_back(
        valueOf(static_cast<int>(attribute.integer), attribute.name));
    return builder.getNamedAttr(
        attribute.name,
        dl::graph::OperandNumberAttr::get(
            &context, static_cast<int64_t>(numbers.size()) - 1));
  }
  NamedAttribute option = convert(attribute, "optimizer");
  auto number = dyn_cast<FloatAttr>(option.getValue());
  if (!number || number.getValue().isZero())
    return option;
  return {option.getName(),
          dl::graph::SettingAttr::get(&context, prefix + option.getName().str(),
                                      number)};
}

/// Counts how often this optimizer updates the parameter.
int Graph::counterOf(int optimizer, int parameter) {
  auto [found, isNew] = updateCounters.try_emplace(
      {optimizer, parameter}, static_cast<int>(counters.size()));
  if (isNew)
    counters.push_back({optimizer, parameter, 0, {}});
  return found->second;
}

int Graph::optimizerSetting(int optimizer, int group, const std::string &name,
                            double standard) {
  return addSetting(
      settingPrefix(optimizerNumbers[static_cast<size_t>(optimizer)], group) +
          name,
      standard);
}

/// "lr"; of a further group "lr.group1", of a further optimizer "lr1".
void Graph::logRate(int optimizer, int group, int number) {
  int which = optimizerNumbers[static_cast<size_t>(optimizer)];
  std::string name = "lr" + (which ? std::to_string(which) : "") +
                     (group ? ".group" + std::to_string(group) : "");
  for (const Metric &known : trace->rates)
    if (known.name == name)
      return;
  trace->rates.push_back({name, valueOf(number, "lr")});
}

bool Graph::optimizerStep(int optimizer, int group, StringRef op,
                          ArrayRef<std::string> slots,
                          ArrayRef<dl_attr> attributes) {
  requireTraining("optimizer.step");
  trace->stepped.insert(optimizer);
  SmallVector<NamedAttribute> converted;
  SmallVector<Value> numbers;
  bool counts = false;
  for (const dl_attr &attribute : attributes)
    if (attribute.kind == DL_ATTR_COUNT)
      counts = attribute.integer != 0;
    else
      converted.push_back(convertNumber(
          attribute,
          settingPrefix(optimizerNumbers[static_cast<size_t>(optimizer)],
                        group),
          numbers));
  bool any = false;
  for (int handle :
       optimizers[static_cast<size_t>(optimizer)][static_cast<size_t>(group)]) {
    int number = handles[static_cast<size_t>(handle)].parameter;
    auto found = trace->gradients.find(number);
    if (found == trace->gradients.end())
      continue; // as PyTorch: what has no gradient stays
    any = true;
    useGradient(number);
    RankedTensorType type = parameters[static_cast<size_t>(number)].type;
    SmallVector<StateKey> keys = {{number, ""}};
    for (const std::string &slot : slots)
      keys.push_back(slotOf(optimizer, number, slot));
    Value parameter = stateValue(keys.front(), type);
    SmallVector<Value> operands = {parameter, found->second};
    for (const StateKey &key : llvm::drop_begin(keys))
      operands.push_back(stateValue(key, type));
    operands.append(numbers);
    Operation *made = create(op, operands, converted);
    int counter = counterOf(optimizer, number);
    int64_t &calls =
        counters[static_cast<size_t>(counter)].inTrace[trace->number];
    if (counts)
      trace->counted.push_back({made, counter, calls});
    ++calls;
    trace->updates[{optimizer, number}].push_back(made);
    for (auto [key, result] : llvm::zip_equal(keys, made->getResults()))
      trace->states[key].push_back(result);
  }
  compareTraces();
  return any;
}

/// Tells updates that follow from the number of the step which of several they
/// are.
void Graph::numberUpdates() {
  for (const auto &[key, made] : trace->updates)
    for (auto [i, op] : llvm::enumerate(made))
      if (made.size() > 1) {
        op->setAttr("calls", builder.getI64IntegerAttr(
                                 static_cast<int64_t>(made.size())));
        op->setAttr("call", builder.getI64IntegerAttr(static_cast<int64_t>(i)));
      }
}

void Graph::beginUpdate(int optimizer, int group) {
  requireTraining(optimizer < 0 ? "a change of a parameter" : "optimizer.step");
  if (optimizer >= 0) {
    trace->stepped.insert(optimizer);
    update = {optimizer, group};
  }
  builder.setListener(&updateMarker);
}

void Graph::endUpdate() {
  update.reset();
  builder.setListener(nullptr);
}

static Value valueIn(const std::map<int, Value> &values, int number) {
  auto found = values.find(number);
  return found == values.end() ? Value() : found->second;
}

void Graph::updateBy(int handle, int value) {
  update->by[parameterOf(handle, "optimizer.step")] =
      valueOf(value, "optimizer.step");
}

int Graph::nextUpdated(int &gradient) {
  const std::vector<int> &group =
      optimizers[static_cast<size_t>(update->optimizer)]
                [static_cast<size_t>(update->group)];
  while (update->next < group.size()) {
    int handle = group[update->next++];
    int number = handles[static_cast<size_t>(handle)].parameter;
    Value by = update->by.empty() ? valueIn(trace->gradients, number)
                                  : valueIn(update->by, number);
    if (!by)
      continue; // as PyTorch: what has no gradient stays
    if (update->by.empty())
      useGradient(number);
    trace->updates[{update->optimizer, number}];
    int counter = counterOf(update->optimizer, number);
    ++counters[static_cast<size_t>(counter)].inTrace[trace->number];
    gradient = addHandle(by);
    return handle;
  }
  return -1;
}

int Graph::slot(int handle, const std::string &name, double initial,
                const std::optional<std::vector<int64_t>> &shape,
                bool isNumber) {
  int number = parameterOf(handle, "optimizer.step");
  StateKey key = slotOf(update->optimizer, number, name);
  RankedTensorType type = parameters[static_cast<size_t>(number)].type;
  if (shape)
    type = RankedTensorType::get(*shape, type.getElementType());
  if (isNumber)
    type = RankedTensorType::get({}, builder.getF64Type());
  slots.try_emplace(key, Slot{type, initial});
  return addHandle(stateValue(key, type));
}

void Graph::assignSlot(int handle, const std::string &name, int value) {
  int number = parameterOf(handle, "optimizer.step");
  StateKey key = {number, ""};
  if (!name.empty())
    key = slotOf(update->optimizer, number, name);
  Value assigned = valueOf(value, "optimizer.step");
  Type type =
      stateValue(key, parameters[static_cast<size_t>(number)].type).getType();
  if (assigned.getType() != type)
    reporter.fail("optimizer.step: the new value is " +
                  dl::graph::typeText(assigned.getType()) + ", not " +
                  dl::graph::typeText(type));
  trace->states[key].push_back(assigned);
}

int Graph::updateNumber(int handle) {
  int counter =
      counterOf(update->optimizer, parameterOf(handle, "optimizer.step"));
  int64_t calls = counters[static_cast<size_t>(counter)].inTrace[trace->number];
  return addHandle(countHere(counter, calls));
}
