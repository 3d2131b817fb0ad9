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

static KnownValues &ownKnown(Initial &initial) {
  std::shared_ptr<KnownValues> &known = initial.known;
  if (!known)
    known = std::make_shared<KnownValues>();
  else if (known.use_count() > 1)
    known = std::make_shared<KnownValues>(*known);
  return *known;
}

/// More equal elements are one part, and not known one by one.
static constexpr int64_t kFew = 4096;

/// Sets a state, or the part of it that a handle stands for.
void Graph::setInitialValues(const Handle &to, int value) {
  const Handle from = get(value, "copy_");
  bool isPart = to.partOf >= 0;
  Parameter &parameter =
      parameters[static_cast<size_t>(isPart ? to.partOf : to.parameter)];
  bool isComputed = isComputedNow(to);
  if (from.scaled && !isComputed && scaleInitialValues(to, *from.scaled))
    return;
  if (from.initial && from.initial->kind != DL_PROGRESSION && !isComputed &&
      !(isPart && from.initial->draw >= 0) && !isDrawn(*from.initial)) {
    ++parameter.changes;
    if (isPart)
      return setInitialPart(to, *from.initial);
    parameter.initial = *from.initial;
    return;
  }
  Value begins = valueOf(value, "copy_");
  if (isComputed || isComputedAtStart(begins))
    return beginWith(to, begins);
  ++parameter.changes;
  const HostTensor &values = evaluate(begins);
  if (!isPart) {
    parameter.initial = {{DL_CONSTANT, 0, 0}};
  }
  KnownValues &known = ownKnown(parameter.initial);
  size_t next = 0;
  for (int64_t place : to.strided().places())
    known[place] = initialElement(values, next++);
}

void Graph::refuseRepeats(const StridedView &view) {
  if (view.repeats())
    reporter.fail("in place: several elements of what expand() gives lie in "
                  "one place");
}

void Graph::setInitialPart(const Handle &to, const Distribution &begins) {
  Parameter &parameter = parameters[static_cast<size_t>(to.partOf)];
  InitialPart part{to.strided(), begins, /*whole=*/false, to.partOf,
                   parameter.changes++};
  refuseRepeats(part.view);
  bool isFew =
      part.begins.kind == DL_CONSTANT && to.type.getNumElements() <= kFew;
  if (isFew || parameter.initial.known) {
    KnownValues &known = ownKnown(parameter.initial);
    for (int64_t place : part.view.places())
      if (isFew)
        known[place] = part.begins.a;
      else
        known.erase(place);
  }
  if (isFew)
    return;
  llvm::erase_if(parameter.initial.parts, [&](const InitialPart &other) {
    return other.view == part.view;
  });
  parameter.initial.parts.push_back(std::move(part));
}

static bool isWhole(const StridedView &view, const Parameter &parameter) {
  return view == StridedView::rowMajor(parameter.type.getShape());
}

/// value * scale + shift of all that it begins with.
static bool scaleInitial(Initial &initial, double scale, double shift) {
  if (!dl::frontend::scale(initial, scale, shift))
    return false;
  for (InitialPart &part : initial.parts)
    if (!dl::frontend::scale(part.begins, scale, shift))
      return false;
  if (initial.known)
    for (auto &[place, value] : ownKnown(initial))
      value = value * scale + shift;
  return true;
}

/// Parts that were set before lie in it, or outside.
static bool scaleInitialPart(Initial &initial, const ScaledPart &by) {
  const std::vector<int64_t> places = by.view.places();
  const llvm::DenseSet<int64_t> inView(places.begin(), places.end());
  Distribution rest = initial;
  if (!scale(rest, by.scale, by.shift))
    return false;
  for (InitialPart &part : initial.parts) {
    const std::vector<int64_t> own = part.view.places();
    int64_t within = llvm::count_if(
        own, [&](int64_t place) { return inView.contains(place); });
    bool isOutside = within == 0;
    if (!isOutside && (within != static_cast<int64_t>(own.size()) ||
                       !scale(part.begins, by.scale, by.shift)))
      return false;
  }
  if (initial.known)
    for (auto &[place, value] : ownKnown(initial))
      if (inView.contains(place))
        value = value * by.scale + by.shift;
  initial.parts.insert(initial.parts.begin(),
                       InitialPart{by.view, rest, /*whole=*/true});
  return true;
}

/// False where that is no distribution with parts.
bool Graph::scaleInitialValues(const Handle &to, const ScaledPart &by) {
  int number = to.partOf >= 0 ? to.partOf : to.parameter;
  Parameter &parameter = parameters[static_cast<size_t>(number)];
  const StridedView view = to.strided();
  refuseRepeats(view);
  const Parameter &source = parameters[static_cast<size_t>(by.of)];
  bool isCopy = isWhole(view, parameter) && isWhole(by.view, source);
  if (by.seen != source.changes || source.initial.computed ||
      isComputedNow(to) || (!isCopy && (number != by.of || by.view != view)))
    return false;
  Initial begins = source.initial;
  if (isCopy ? !scaleInitial(begins, by.scale, by.shift)
             : !scaleInitialPart(begins, by))
    return false;
  parameter.initial = begins;
  ++parameter.changes;
  return true;
}

/// The same random numbers: a negative deviation, or an upper bound below the
/// lower one, turns them round.
bool dl::frontend::scale(Distribution &distribution, double scale,
                         double shift) {
  switch (distribution.kind) {
  case DL_CONSTANT:
    distribution.a = distribution.a * scale + shift;
    return true;
  case DL_PROGRESSION:
    distribution.a = distribution.a * scale + shift;
    distribution.b *= scale;
    return true;
  case DL_UNIFORM:
    distribution.a = distribution.a * scale + shift;
    distribution.b = distribution.b * scale + shift;
    return true;
  case DL_TRUNCATED:
    distribution.low = distribution.low * scale + shift;
    distribution.high = distribution.high * scale + shift;
    [[fallthrough]];
  case DL_NORMAL:
    distribution.a = distribution.a * scale + shift;
    distribution.b *= scale;
    return true;
  case DL_PADDED:
    distribution.a *= scale;
    distribution.b *= scale;
    return shift == 0;
  case DL_ORTHOGONAL:
    distribution.a *= scale;
    return shift == 0;
  case DL_SPARSE:
    distribution.b *= scale;
    return shift == 0;
  default:
    return false;
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
