// Gradients and optimizers.
#include "compiler/frontend/Graph.h"
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

void Graph::backward(int handle) {
  requireTraining("backward");
  Value loss = valueOf(handle, "backward");
  std::vector<Frame> here = reporter.stack.userFrames();
  for (const auto &[done, where] : trace->losses)
    if (done == loss)
      reporter.fail(
          "backward: the gradients of this loss were made already, at " +
          where.file + ":" + std::to_string(where.line));
  std::vector<Value> operands = {loss};
  std::vector<int> leaves = leavesOf(loss, operands);
  if (leaves.empty() &&
      isa<FloatType>(cast<RankedTensorType>(loss.getType()).getElementType()))
    reporter.fail("backward: the loss depends on no parameter");
  Operation *made = create("gradients", operands, {});
  trace->losses.emplace_back(loss, here.empty() ? Frame() : here.front());
  for (auto [number, result] : llvm::zip_equal(leaves, made->getResults())) {
    Value &gradient = trace->gradients[number];
    gradient = gradient ? create("add", {gradient, result}, {})->getResult(0)
                        : Value(result);
    if (!trace->zeroed[number])
      trace->addedFirst.try_emplace(number, here);
  }
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
  trace->gradientUsed[target.parameter] = true;
  return addHandle(found->second);
}

void Graph::zeroGradients(ArrayRef<int> handles) {
  requireTraining("zero_grad");
  for (int handle : handles) {
    int parameter = get(handle, "zero_grad").parameter;
    trace->zeroed[parameter] = true;
    trace->gradients.erase(parameter);
  }
}

int Graph::makeOptimizer(ArrayRef<int> given) {
  if (trace)
    reporter.fail("an optimizer cannot be made inside of a step");
  std::vector<int> unique;
  llvm::DenseSet<int> known;
  for (int handle : given) {
    int parameter = get(handle, "optimizer").parameter;
    if (parameter < 0)
      reporter.fail("an optimizer takes parameters; this tensor is none");
    if (known.insert(parameter).second)
      unique.push_back(handle);
  }
  if (unique.empty())
    reporter.fail("the optimizer got no parameters");
  optimizers.push_back(std::move(unique));
  return static_cast<int>(optimizers.size()) - 1;
}

void Graph::optimizerStep(int optimizer, StringRef op,
                          ArrayRef<std::string> slots,
                          ArrayRef<dl_attr> attributes) {
  requireTraining("optimizer.step");
  SmallVector<NamedAttribute> converted;
  for (const dl_attr &attribute : attributes)
    converted.push_back(convert(attribute, op));
  bool any = false;
  for (int handle : optimized(optimizer)) {
    int number = handles[static_cast<size_t>(handle)].parameter;
    auto found = trace->gradients.find(number);
    if (found == trace->gradients.end())
      continue; // as PyTorch: what has no gradient stays
    any = true;
    trace->gradientUsed[number] = true;
    RankedTensorType type = parameters[static_cast<size_t>(number)].type;
    SmallVector<StateKey> keys = {{number, ""}};
    for (const std::string &slot : slots)
      keys.push_back({number, slot});
    Value parameter = stateValue(keys.front(), type);
    SmallVector<Value> operands = {parameter, found->second};
    for (const StateKey &key : llvm::drop_begin(keys))
      operands.push_back(stateValue(key, type));
    Operation *made = create(op, operands, converted);
    for (auto [key, result] : llvm::zip_equal(keys, made->getResults()))
      trace->states[key].push_back(result);
  }
  if (!any)
    reporter.fail("optimizer.step: no parameter has a gradient; call "
                  "backward() between zero_grad() and step()");
}
