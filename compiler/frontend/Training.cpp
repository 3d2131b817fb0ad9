// Gradients and optimizers.
#include "compiler/frontend/Graph.h"
#include "dialects/graph/Inference.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace dl::frontend;

void Graph::requireTraining(StringRef what) {
  if (!trace)
    reporter.fail(what.str() + ": this belongs inside of p.train()");
  if (!trace->training)
    reporter.fail(what.str() + ": this is an evaluation; gradients and updates "
                               "belong inside of p.train()");
}

/// The newest value of a state; the first use makes it an argument.
Value Graph::stateValue(const StateKey &key, RankedTensorType type) {
  std::vector<Value> &values = trace->states[key];
  if (values.empty()) {
    values.push_back(trace->body()->addArgument(type, builder.getUnknownLoc()));
    trace->arguments.push_back({Argument::State, key});
    trace->stateOrder.push_back(key);
  }
  return values.back();
}

/// The parameters that the loss depends on, with the values it was computed
/// from.
std::vector<int> Graph::leavesOf(Value loss, std::vector<Value> &values) {
  llvm::DenseMap<Value, int> parameterOf;
  for (const auto &[key, versions] : trace->states)
    if (key.slot.empty())
      for (Value version : versions)
        parameterOf[version] = key.parameter;
  std::map<int, Value> leaves;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> worklist = {loss};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto found = parameterOf.find(value); found != parameterOf.end()) {
      auto [leaf, isNew] = leaves.try_emplace(found->second, value);
      if (!isNew && leaf->second != value)
        reporter.fail("backward: the loss uses a parameter both before and "
                      "after optimizer.step()");
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!op || !isa<FloatType>(
                   cast<RankedTensorType>(value.getType()).getElementType()))
      continue;
    if (isa<dl::graph::DifferentiableOpInterface>(op) ||
        isa<dl::graph::DecomposableOpInterface>(op))
      worklist.append(op->operand_begin(), op->operand_end());
  }
  std::vector<int> numbers;
  for (const auto &[number, value] : leaves) {
    numbers.push_back(number);
    values.push_back(value);
  }
  return numbers;
}

/// Does the value depend on such an op of the same step? What an optimizer made
/// is a new beginning.
template <class Kind> static bool dependsOn(Value value) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<Kind>(op))
      return true;
    if (!isa<dl::graph::OptimizerOpInterface>(op))
      worklist.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

void Graph::backward(int handle) {
  requireTraining("backward");
  Value loss = valueOf(handle, "backward");
  auto lossType = cast<RankedTensorType>(loss.getType());
  if (!isa<FloatType>(lossType.getElementType()))
    reporter.fail("backward: only floating-point losses have gradients, this "
                  "one is " +
                  dl::graph::typeText(lossType) +
                  "; no gradient comes from integers, booleans or indices");
  if (options.accumulate > 1 &&
      dependsOn<dl::graph::OptimizerOpInterface>(loss))
    reporter.fail("backward: this loss depends on weights that the same step "
                  "updated before; with --accumulate every backward() comes "
                  "before the first optimizer.step()");
  std::vector<Frame> here = reporter.stack.userFrames();
  for (const auto &[done, where] : trace->losses)
    if (done == loss)
      reporter.fail(
          "backward: the gradients of this loss were made already, at " +
          where.file + ":" + std::to_string(where.line));
  std::vector<Value> operands = {loss};
  std::vector<int> leaves = leavesOf(loss, operands);
  if (leaves.empty() && dependsOn<dl::graph::GradientsOp>(loss))
    reporter.refuse("backward: the loss depends on parameters by grad() only; "
                    "gradients of gradients: not in this version");
  if (leaves.empty())
    reporter.fail(
        std::string("backward: the loss depends on no parameter") +
        (llvm::all_of(parameters,
                      [](const Parameter &p) { return p.requiresGrad; })
             ? ""
             : " that requires a gradient"));
  Operation *made = create("gradients", operands, {});
  trace->losses.emplace_back(loss, here.empty() ? Frame() : here.front());
  for (auto [number, result] : llvm::zip_equal(leaves, made->getResults())) {
    Value &gradient = trace->gradients[number];
    gradient = gradient ? create("add", {gradient, result}, {})->getResult(0)
                        : Value(result);
    if (!trace->zeroed.count(number))
      trace->addedFirst.try_emplace(number, here);
  }
}

int Graph::parameterOf(int handle, StringRef what) {
  int parameter = get(handle, what).parameter;
  if (parameter < 0)
    reporter.fail(what.str() + ": this tensor is no parameter");
  return parameter;
}

/// Notes that the gradient matters, with what may be in it from the step
/// before.
void Graph::useGradient(int parameter) {
  if (auto added = trace->addedFirst.find(parameter);
      added != trace->addedFirst.end())
    trace->usedFirst.insert(*added);
}

int Graph::gradient(int handle) {
  const Handle &target = get(handle, "grad");
  if (target.parameter < 0)
    reporter.fail("grad: only parameters have gradients");
  requireTraining("grad");
  auto found = trace->gradients.find(target.parameter);
  if (found == trace->gradients.end())
    reporter.fail("grad: this parameter has no gradient here; call backward() "
                  "of a loss that depends on it first");
  useGradient(target.parameter);
  return addHandle(found->second);
}

void Graph::zeroGradients(ArrayRef<int> handles) {
  requireTraining("zero_grad");
  for (int handle : handles) {
    int parameter = parameterOf(handle, "zero_grad");
    trace->zeroed.insert(parameter);
    trace->addedFirst.erase(parameter);
    trace->gradients.erase(parameter);
  }
}

void Graph::setRequiresGrad(int handle, bool value) {
  int number = parameterOf(handle, "requires_grad_");
  parameters[static_cast<size_t>(number)].requiresGrad = value;
  if (trace)
    trace->refrozen[number] = reporter.stack.userFrames();
}

bool Graph::requiresGrad(int handle) {
  int number = parameterOf(handle, "requires_grad");
  return parameters[static_cast<size_t>(number)].requiresGrad;
}

/// The plan repeats one trace: each step must find what this one found.
void Graph::checkRequiresGrad() {
  for (const auto &[number, where] : trace->refrozen) {
    bool before = !trace->frozenAtStart.count(number);
    if (before != parameters[static_cast<size_t>(number)].requiresGrad &&
        trace->usedAsFound.count(number))
      reporter.failAt(where, "requires_grad_: the next step would begin with "
                             "another value than this one, and uses the "
                             "parameter before it is set; set it at the "
                             "beginning of the step, or outside of it");
  }
}

int Graph::makeOptimizer() {
  if (trace)
    reporter.fail("an optimizer cannot be made inside of a step");
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
    if (parameter < 0)
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
/// a number of the code: an update without weight decay computes less.
static NamedAttribute settingOf(NamedAttribute option,
                                const std::string &prefix) {
  auto number = dyn_cast<FloatAttr>(option.getValue());
  if (!number || number.getValue().isZero())
    return option;
  return {option.getName(),
          dl::graph::SettingAttr::get(number.getContext(),
                                      prefix + option.getName().str(), number)};
}

bool Graph::optimizerStep(int optimizer, int group, StringRef op,
                          ArrayRef<std::string> slots,
                          ArrayRef<dl_attr> attributes) {
  requireTraining("optimizer.step");
  trace->stepped.insert(optimizer);
  SmallVector<NamedAttribute> converted;
  for (const dl_attr &attribute : attributes)
    converted.push_back(
        settingOf(convert(attribute, op), settingPrefix(optimizer, group)));
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
    Operation *made = create(op, operands, converted);
    trace->updates[{optimizer, number}].push_back(made);
    for (auto [key, result] : llvm::zip_equal(keys, made->getResults()))
      trace->states[key].push_back(result);
  }
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
