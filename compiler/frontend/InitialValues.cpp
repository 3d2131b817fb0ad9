// What parameters and buffers begin with where that is known here.
#include "compiler/frontend/Graph.h"
#include "dialects/graph/Evaluate.h"
#include <map>

using namespace mlir;
using namespace dl::frontend;
using dl::graph::HostTensor;

/// A value outside of steps: constants, and what follows from them.
const HostTensor &Graph::evaluate(Value value) {
  ScopedDiagnosticHandler silent(&context,
                                 [](Diagnostic &) { return success(); });
  SmallVector<Value> stack = {value};
  while (!stack.empty()) {
    Value next = stack.back();
    if (evaluated.count(next)) {
      stack.pop_back();
      continue;
    }
    Operation *op = next.getDefiningOp();
    SmallVector<HostTensor> operands;
    for (Value operand : op->getOperands()) {
      auto known = evaluated.find(operand);
      if (known == evaluated.end())
        stack.push_back(operand);
      else
        operands.push_back(known->second);
    }
    if (operands.size() != op->getNumOperands())
      continue;
    FailureOr<SmallVector<HostTensor>> results =
        dl::graph::evaluateOp(*op, operands);
    if (failed(results))
      reporter.fail("initial values: " + op->getName().stripDialect().str() +
                    " has no value outside of a step");
    for (auto [result, tensor] : llvm::zip(op->getResults(), *results))
      evaluated[result] = tensor;
  }
  return evaluated.find(value)->second;
}

double Graph::initialElement(const HostTensor &tensor, size_t i) {
  if (tensor.isFloat())
    return tensor.floats[i];
  double value = static_cast<double>(tensor.ints[i]);
  if (!(value < 0x1p63 && static_cast<int64_t>(value) == tensor.ints[i]))
    reporter.refuse("initial values: the number " +
                    std::to_string(tensor.ints[i]) +
                    " needs more than 53 bits: not in this version");
  return value;
}

/// Sets a state, or the part of it that a handle stands for.
void Graph::setInitialValues(const Handle &to, int value) {
  const Handle from = get(value, "copy_");
  bool isPart = to.partOf >= 0;
  Parameter &parameter =
      parameters[static_cast<size_t>(isPart ? to.partOf : to.parameter)];
  if (!isPart) {
    parameter.initial = {DL_CONSTANT, 0, 0};
    parameter.beginsAs = -1;
    if (from.initial && from.initial->kind != DL_PROGRESSION) {
      parameter.initial = *from.initial; // a distribution
      return;
    }
  }
  builder.setInsertionPointToEnd(&outside);
  const HostTensor &values = evaluate(valueOf(value, "copy_"));
  std::shared_ptr<KnownValues> &known = parameter.initial.known;
  if (!known)
    known = std::make_shared<KnownValues>();
  else if (known.use_count() > 1)
    known = std::make_shared<KnownValues>(*known);
  size_t next = 0;
  for (int64_t place : to.strided().places())
    (*known)[place] = initialElement(values, next++);
}

bool dl::frontend::scaleInitial(Initial &initial, double scale, double shift) {
  double size = scale < 0 ? -scale : scale;
  switch (initial.kind) {
  case DL_CONSTANT:
    initial.a = initial.a * scale + shift;
    return true;
  case DL_PROGRESSION:
    initial.a = initial.a * scale + shift;
    initial.b *= scale;
    return true;
  case DL_UNIFORM:
    initial.a = initial.a * scale + shift;
    initial.b = initial.b * scale + shift;
    if (initial.a > initial.b)
      std::swap(initial.a, initial.b);
    return true;
  case DL_TRUNCATED:
    initial.low = initial.low * scale + shift;
    initial.high = initial.high * scale + shift;
    if (initial.low > initial.high)
      std::swap(initial.low, initial.high);
    [[fallthrough]];
  case DL_NORMAL:
    initial.a = initial.a * scale + shift;
    initial.b *= size;
    return true;
  case DL_PADDED:
    initial.a *= scale;
    initial.b *= size;
    return shift == 0;
  case DL_ORTHOGONAL:
    initial.a *= scale;
    return shift == 0;
  case DL_SPARSE:
    initial.b *= size;
    return shift == 0;
  default:
    return false;
  }
}

/// value * scale + shift of all that it begins with.
void Graph::scaleInitial(int handle, double scale, double shift) {
  const Handle &target = get(handle, "in place");
  if (target.parameter < 0)
    reporter.fail("in place: outside of steps a number scales or shifts a "
                  "whole parameter");
  Parameter &parameter = parameters[static_cast<size_t>(target.parameter)];
  Initial &initial = parameter.initial;
  if (!dl::frontend::scaleInitial(initial, scale, shift))
    reporter.fail("in place: what orthogonal_, sparse_ and a padding row begin "
                  "with can be scaled, and not shifted; what dirac_ and eye_ "
                  "do, neither");
  if (initial.known) {
    initial.known = std::make_shared<KnownValues>(*initial.known);
    for (auto &[place, value] : *initial.known)
      value = value * scale + shift;
  }
}

InitialRuns dl::frontend::runsOf(const KnownValues &known) {
  InitialRuns runs;
  for (auto first = known.begin(); first != known.end();) {
    auto end = first;
    bool same = true;
    for (int64_t place = first->first;
         end != known.end() && end->first == place; ++end, ++place)
      same &= end->second == first->second;
    int64_t count = std::distance(first, end);
    llvm::append_values(runs.runs, first->first, count, same ? 1 : count);
    for (auto one = first; one != (same ? std::next(first) : end); ++one)
      runs.values.push_back(one->second);
    first = end;
  }
  return runs;
}
