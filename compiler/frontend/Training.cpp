// Gradients.
#include "compiler/frontend/GradientReach.h"
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

/// The operands on which what an op gives depends in a way that has gradients.
static OperandRange differentiableOperands(Operation *op) {
  if (auto custom = dyn_cast<dl::graph::CustomGradientOp>(op))
    return custom.getInputs();
  bool passesGradients =
      isa<dl::graph::DifferentiableOpInterface,
          dl::graph::DecomposableOpInterface, dl::graph::GradientsOp>(op);
  return op->getOperands().take_front(passesGradients ? op->getNumOperands()
                                                      : 0);
}

/// The parameters that the loss depends on, with the values it was computed
/// from.
std::vector<int> Graph::leavesOf(Value loss, std::vector<Value> &values) {
  llvm::DenseMap<Value, int> parameterOf;
  for (const auto &[key, versions] : trace->states)
    if (key.slot.empty() &&
        !parameters[static_cast<size_t>(key.parameter)].isBuffer)
      parameterOf[versions.front()] = key.parameter;
  for (const auto &[which, leaf] : trace->leaves)
    parameterOf[leaf] = which.first;
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
    llvm::append_range(worklist, differentiableOperands(op));
  }
  SmallVector<Value> all(llvm::make_second_range(leaves));
  llvm::DenseSet<Value> reached(all.begin(), all.end());
  if (!all.empty() && dependsOn<dl::graph::GradientsOp>(loss))
    reached = reachedLeaves(loss, all);
  std::vector<int> numbers;
  for (const auto &[number, value] : leaves)
    if (reached.contains(value)) {
      numbers.push_back(number);
      values.push_back(value);
    }
  return numbers;
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
    reporter.fail("backward: the loss depends on parameters by gradients only, "
                  "and these are constants; dl::autograd::grad(loss, "
                  "parameter, {.create_graph = true})[0] is none");
  if (leaves.empty())
    reporter.fail(
        std::string("backward: the loss depends on no parameter") +
        (gradientsOff > 0 ? "; under a dl::NoGradGuard nothing does"
         : llvm::all_of(parameters,
                        [](const Parameter &p) { return p.requiresGrad; })
             ? ""
             : " that requires a gradient"));
  Operation *made = create("gradients", operands, {});
  trace->losses.emplace_back(loss, here.empty() ? Frame() : here.front());
  for (auto [number, result] : llvm::zip_equal(leaves, made->getResults())) {
    Value &gradient = trace->gradients[number];
    gradient = gradient ? create("add", {gradient, result}, {})->getResult(0)
                        : Value(result);
    gradientChanged(number);
    if (!trace->zeroed.count(number))
      trace->addedFirst.try_emplace(number, here);
  }
  compareTraces();
}

int Graph::parameterOf(int handle, StringRef what) {
  int parameter = get(handle, what).parameter;
  if (parameter < 0 || parameters[static_cast<size_t>(parameter)].isBuffer)
    reporter.fail(what.str() + ": this tensor is no parameter; what is trained "
                               "is an nn::Parameter");
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
    reporter.fail("grad: only parameters have gradients; that of any tensor is "
                  "dl::autograd::grad(loss, x)[0]");
  requireTraining("grad");
  auto found = trace->gradients.find(target.parameter);
  if (found == trace->gradients.end())
    return DL_NO_GRADIENT - handle;
  useGradient(target.parameter);
  // One tensor until zero_grad(): what is done to it in place is seen.
  auto [known, isNew] = trace->gradientHandles.try_emplace(target.parameter, 0);
  if (isNew) {
    known->second = addHandle(found->second);
    Handle &made = handles[static_cast<size_t>(known->second)];
    made.gradientOf = handle;
    made.isGradient = true;
  }
  return known->second;
}

void Graph::gradientChanged(int parameter) {
  auto known = trace->gradientHandles.find(parameter);
  if (known == trace->gradientHandles.end())
    return;
  Handle &handle = handles[static_cast<size_t>(known->second)];
  handle.value = trace->gradients[parameter];
  ++handle.version;
}

void Graph::gradients(int output, ArrayRef<int> inputs, bool allowUnused,
                      MutableArrayRef<int> results) {
  if (!trace)
    reporter.fail("autograd::grad belongs inside of a step");
  Value loss = valueOf(output, "autograd::grad");
  llvm::DenseSet<Value> reached;
  SmallVector<Value> worklist = {loss}, operands = {loss};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!reached.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (op && isa<FloatType>(
                  cast<RankedTensorType>(value.getType()).getElementType()))
      llvm::append_range(worklist, differentiableOperands(op));
  }
  for (auto [input, result] : llvm::zip_equal(inputs, results)) {
    Value value = valueOf(input, "autograd::grad");
    if (!isa<FloatType>(
            cast<RankedTensorType>(value.getType()).getElementType()))
      reporter.fail(
          "autograd::grad: only floating-point tensors have "
          "gradients, this one is " +
          dl::graph::typeText(cast<RankedTensorType>(value.getType())));
    bool isUsed = reached.contains(value);
    if (!isUsed && !allowUnused)
      reporter.fail(
          "autograd::grad: the outputs do not depend on an input "
          "(of shape " +
          dl::graph::shapeText(cast<RankedTensorType>(value.getType())) +
          "); with {.allow_unused = true} its gradient is not "
          "defined");
    result = isUsed ? int(operands.size()) : -1;
    if (isUsed)
      operands.push_back(value);
  }
  if (operands.size() == 1)
    return;
  trace->hasGradients = true;
  Operation *made =
      create("gradients", operands,
             builder.getNamedAttr("within_step", builder.getBoolAttr(true)));
  for (int &result : results)
    if (result >= 0)
      result = addHandle(made->getResult(unsigned(result) - 1));
}

bool Graph::hasGradient(int handle) {
  return trace && trace->gradients.count(parameterOf(handle, "grad"));
}

void Graph::setGradient(int handle, int value) {
  int number = parameterOf(handle, "grad");
  requireTraining("grad");
  Value gradient = valueOf(value, "grad");
  if (gradient.getType() != parameters[static_cast<size_t>(number)].type)
    reporter.fail(
        "grad: the gradient of " +
        dl::graph::typeText(parameters[static_cast<size_t>(number)].type) +
        " cannot be " + dl::graph::typeText(gradient.getType()));
  useGradient(number);
  trace->gradients[number] = gradient;
  gradientChanged(number);
}

void Graph::zeroGradients(ArrayRef<int> handles) {
  requireTraining("zero_grad");
  for (int handle : handles) {
    int parameter = parameterOf(handle, "zero_grad");
    trace->zeroed.insert(parameter);
    trace->addedFirst.erase(parameter);
    trace->gradients.erase(parameter);
    auto known = trace->gradientHandles.find(parameter);
    if (known != trace->gradientHandles.end()) {
      this->handles[static_cast<size_t>(known->second)].gradientOf = -1;
      trace->gradientHandles.erase(known);
    }
  }
}

void Graph::setRequiresGrad(int handle, bool value) {
  const Handle &target = get(handle, "requires_grad_");
  if (target.parameter < 0) {
    if (value && trace) // autograd::grad takes any tensor
      return;
    reporter.fail(value ? "requires_grad_: this tensor is no parameter; what "
                          "is trained is an nn::Parameter"
                        : "requires_grad_(false): this tensor is no parameter; "
                          "x.detach() is a constant to losses that use it");
  }
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
