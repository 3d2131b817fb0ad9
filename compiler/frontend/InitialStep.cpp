// Values of states that are known only when training begins.
#include "compiler/frontend/InitialStep.h"
#include "compiler/frontend/Graph.h"
#include "compiler/frontend/Locations.h"
#include "dialects/graph/Step.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dl::frontend;

static constexpr llvm::StringLiteral kBegins = "initial values";

/// Whether a value outside of steps is made of random numbers, or of what
/// states begin with.
bool Graph::isComputedAtStart(Value value) {
  llvm::DenseMap<Value, bool> &known = initialStep.isComputed;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.back();
    Operation *op = next.getDefiningOp();
    size_t before = open.size();
    bool result = !op;
    if (op) {
      for (Value operand : op->getOperands()) {
        if (auto it = known.find(operand); it == known.end())
          open.push_back(operand);
        else
          result |= it->second;
      }
    }
    if (open.size() > before)
      continue;
    known[next] = result;
    open.pop_back();
  }
  return known[value];
}

Value Graph::scalarsAtStart() {
  if (!initialStep.scalars)
    initialStep.scalars =
        outside.addArgument(RankedTensorType::get({8}, builder.getI64Type()),
                            builder.getUnknownLoc());
  return initialStep.scalars;
}

/// More pieces of known elements are no value that a few ops make.
static constexpr size_t kFewPieces = 256;

/// An op draws uniform and normal numbers, but not those of parts.
static bool hasOp(const Initial &initial) {
  return (initial.kind == DL_UNIFORM || initial.kind == DL_NORMAL ||
          initial.kind == DL_CONSTANT) &&
         initial.parts.empty() &&
         (!initial.known || runsOf(*initial.known).values.size() <= kFewPieces);
}

/// The argument for what a state begins with.
Value Graph::argumentOf(int number) {
  Value &value = initialStep.begun[number].value;
  if (!value)
    value = outside.addArgument(parameters[static_cast<size_t>(number)].type,
                                builder.getUnknownLoc());
  return value;
}

/// What a state begins with, as far as that has been said.
Value Graph::beginning(int number) {
  const Parameter &parameter = parameters[static_cast<size_t>(number)];
  if (parameter.initial.computed)
    return parameter.initial.computed;
  if (hasOp(parameter.initial)) {
    Value value = valueOfInitial(parameter.initial, parameter.type);
    return parameter.initial.computed ? parameter.initial.computed : value;
  }
  Value value = argumentOf(number);
  InitialStep::Begun &begun = initialStep.begun[number];
  if (begun.changes >= 0 && begun.changes != parameter.changes)
    failBegun(begun);
  if (begun.changes < 0)
    begun.read = reporter.stack.userFrames();
  begun.changes = parameter.changes;
  return value;
}

void Graph::failBegun(const InitialStep::Begun &begun) {
  reporter.failAt(begun.read,
                  "initial values: what this parameter begins with was changed "
                  "after other values were computed of it; outside of steps it "
                  "has one value at a time; change it first");
}

/// Of what cat() made, the piece that a slice of it is, or null.
static Value pieceOf(Value whole, Operation *view) {
  auto cat = whole.getDefiningOp<dl::graph::CatOp>();
  auto slice = dyn_cast<dl::graph::SliceOp>(view);
  if (!cat || !slice)
    return {};
  auto dim = static_cast<unsigned>(cat.getDim());
  if (slice.getStrides()[dim] != 1)
    return {};
  int64_t at = 0, begin = slice.getOffsets()[dim];
  for (Value piece : cat.getInputs()) {
    if (at == begin && piece.getType() == slice.getType())
      return piece;
    at += cast<RankedTensorType>(piece.getType()).getDimSize(dim);
  }
  return {};
}

/// Of a state, a part or a copy of one.
Value Graph::valueOfState(const Handle &handle, StringRef what) {
  if (handle.copied && handle.copied->initial.computed)
    return handle.copied->initial.computed;
  if (handle.copied && hasOp(handle.copied->initial))
    return valueOfInitial(handle.copied->initial, handle.type);
  int of = handle.scaled   ? handle.scaled->of
           : handle.copied ? handle.copied->of
                           : std::max(handle.partOf, handle.parameter);
  int seen = handle.scaled   ? handle.scaled->seen
             : handle.copied ? handle.copied->seen
                             : -1;
  if (seen >= 0 && seen != parameters[static_cast<size_t>(of)].changes)
    reporter.fail(what.str() + ": this parameter has changed since it was " +
                  (handle.scaled ? "multiplied" : "copied") +
                  "; outside of steps it has one value at a time");
  if (handle.scaled)
    return scaled(valueOutside(get(handle.scaled->from, what), what),
                  handle.scaled->scale, handle.scaled->shift);
  if (handle.partOf < 0)
    return beginning(of);
  Value whole = valueOutside(get(handle.partFrom, what), what);
  if (handle.viewOp->getOperand(0) == whole)
    return handle.viewOp->getResult(0);
  if (Value piece = pieceOf(whole, handle.viewOp))
    return piece;
  IRMapping mapping;
  mapping.map(handle.viewOp->getOperand(0), whole);
  return builder.clone(*handle.viewOp, mapping)->getResult(0);
}

Value Graph::scaled(Value value, double scale, double shift) {
  auto number = [&](double of) {
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    return constant(of, RankedTensorType::get({}, element));
  };
  if (scale != 1) {
    Value factor = number(scale);
    value = create("mul", {value, factor}, {})->getResult(0);
  }
  if (shift != 0) {
    Value added = number(shift);
    value = create("add", {value, added}, {})->getResult(0);
  }
  return value;
}

Value Graph::scaledDraw(Value drawn, const Distribution &as) {
  return as.kind == DL_UNIFORM ? scaled(drawn, as.b - as.a, as.a)
                               : scaled(drawn, as.b, as.a);
}

/// With the elements that are known.
Value Graph::filled(Value value, const Initial &by) {
  if (!by.known)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  Value flat = reshaped(value, {type.getNumElements()});
  InitialRuns runs = runsOf(*by.known);
  size_t next = 0;
  for (size_t i = 0; i < runs.runs.size(); i += 3)
    for (int64_t part = 0; part < runs.runs[i + 2]; ++part) {
      int64_t size = runs.runs[i + 1] / runs.runs[i + 2];
      Value piece =
          constant(runs.values[next++],
                   RankedTensorType::get({size}, type.getElementType()));
      flat = joined(builder, location(), flat, piece, 0,
                    runs.runs[i] + part * size);
    }
  return reshaped(flat, type.getShape());
}

/// A tensor's random numbers as a value. What has begun with them does so from
/// here on, too. They stand before all that may use them.
Value Graph::drawn(const Initial &initial, RankedTensorType type,
                   StringRef what) {
  if (initial.kind != DL_UNIFORM && initial.kind != DL_NORMAL)
    reporter.fail(what.str() +
                  ": what this begins with is no value to compute with; what a "
                  "dl::Parameter of the model begins with is one");
  Value &numbers = initialStep.draws[initial.draw];
  if (!numbers) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&outside);
    Value scalars = scalarsAtStart();
    NamedAttribute attributes[] = {
        builder.getNamedAttr("key", builder.getI64IntegerAttr(randomKey(what))),
        builder.getNamedAttr("type", TypeAttr::get(type))};
    numbers = create(initial.kind == DL_UNIFORM ? "uniform" : "normal", scalars,
                     attributes)
                  ->getResult(0);
    for (Parameter &parameter : parameters) {
      Initial &own = parameter.initial;
      if (own.draw != initial.draw || own.computed)
        continue;
      if (!hasOp(own))
        reporter.failAt(parameter.made,
                        "initial values: parts of this parameter were changed, "
                        "and other values are computed of the random numbers "
                        "that it began with; change it afterwards");
      own.computed = filled(scaledDraw(numbers, own), own);
    }
  }
  return scaledDraw(numbers, initial);
}

/// Whether what a state begins with can only change as a value does: others
/// were computed of it, or it is one and this is a part.
bool Graph::isComputedNow(const Handle &to) const {
  int number = to.partOf >= 0 ? to.partOf : to.parameter;
  auto begun = initialStep.begun.find(number);
  bool isRead = begun != initialStep.begun.end() && begun->second.changes >= 0;
  return isRead || (to.partOf >= 0 &&
                    parameters[static_cast<size_t>(number)].initial.computed);
}

bool Graph::isDrawn(const Initial &initial) const {
  return initialStep.draws.count(initial.draw);
}

/// A state, or the part of it that a handle stands for.
void Graph::beginWith(const Handle &to, Value value) {
  if (to.partOf >= 0) {
    refuseRepeats(to.strided());
    const Handle whole = get(to.partFrom, kBegins);
    Value before = valueOutside(whole, kBegins);
    return beginWith(whole, withPart(before, to.viewOp, value));
  }
  if (isa<BlockArgument>(value))
    value =
        dl::graph::CopyOp::create(builder, location(), value.getType(), value);
  Parameter &parameter = parameters[static_cast<size_t>(to.parameter)];
  parameter.initial.computed = value;
  // What it began with before stays what it was.
  auto begun = initialStep.begun.find(to.parameter);
  if (begun != initialStep.begun.end() &&
      begun->second.changes == parameter.changes)
    ++begun->second.changes;
  ++parameter.changes;
}

Value Graph::valueOfInitial(const Initial &initial, RankedTensorType type) {
  builder.setInsertionPointToEnd(&outside);
  return filled(initial.kind == DL_CONSTANT ? constant(initial.a, type)
                                            : drawn(initial, type, kBegins),
                initial);
}

//===--- at the end -------------------------------------------------------===//

/// Ops that a value needs.
static void collectNeeded(Value value, llvm::SetVector<Operation *> &needed) {
  SmallVector<Value> open = {value};
  while (!open.empty())
    if (Operation *op = open.pop_back_val().getDefiningOp();
        op && needed.insert(op))
      llvm::append_range(open, op->getOperands());
}

/// Random numbers depend on the name of what begins with them first, and on
/// nothing else of the program.
void Graph::keyDraws(const std::string &name, ArrayRef<Operation *> ops) {
  SmallVector<Operation *> draws;
  for (Operation *op : ops)
    if (op->hasAttr("key"))
      draws.push_back(op);
  llvm::sort(draws,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (auto [i, op] : llvm::enumerate(draws))
    op->setAttr("key", builder.getI64IntegerAttr(static_cast<int64_t>(hashText(
                           "initial:" + name + "#" + std::to_string(i)))));
}

/// A state that begins as a parameter that is none, by the same numbers.
int Graph::stateLike(int number) const {
  const Initial &wanted = parameters[static_cast<size_t>(number)].initial;
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    const Initial &own = parameter.initial;
    bool isSame = own.kind == wanted.kind && own.a == wanted.a &&
                  own.b == wanted.b && own.low == wanted.low &&
                  own.high == wanted.high && own.draw == wanted.draw;
    if (isSame && wanted.draw >= 0 && !names[i].empty() && !own.computed &&
        !own.known && own.parts.empty() && !wanted.known &&
        wanted.parts.empty())
      return static_cast<int>(i);
  }
  return -1;
}

/// The states whose values at the beginning are read. Of a parameter that is
/// none the value is that of one.
std::set<int> Graph::statesReadAtStart(ArrayRef<Value> wanted) {
  llvm::SetVector<Operation *> needed;
  llvm::DenseSet<Value> used;
  for (Value value : wanted)
    collectNeeded(value, needed);
  for (Operation *op : needed)
    used.insert(op->operand_begin(), op->operand_end());
  std::set<int> read;
  const std::map<int, InitialStep::Begun> all = initialStep.begun;
  for (const auto &[number, begun] : all) {
    if (!used.contains(begun.value))
      continue;
    if (begun.changes != parameters[static_cast<size_t>(number)].changes)
      failBegun(begun);
    int state = number;
    if (names[static_cast<size_t>(number)].empty()) {
      state = stateLike(number);
      if (state < 0)
        reporter.failAt(begun.read,
                        "initial values: this parameter is part of no model "
                        "and no step, and what it begins with is computed "
                        "with; make it a member of the model");
      Value value = begun.value;
      value.replaceAllUsesWith(argumentOf(state));
    }
    read.insert(state);
  }
  return read;
}

void Graph::writeInitialStep() {
  std::vector<int> computed;
  SmallVector<Value> wanted;
  for (const ErrorFlag &flag : initialStep.errorFlags)
    wanted.push_back(flag.value);
  for (auto [i, parameter] : llvm::enumerate(parameters))
    if (parameter.initial.computed && !names[i].empty()) {
      computed.push_back(static_cast<int>(i));
      wanted.push_back(parameter.initial.computed);
    }
  if (wanted.empty())
    return;
  const std::set<int> read = statesReadAtStart(wanted);
  llvm::SetVector<Operation *> needed;
  for (int number : computed) {
    size_t before = needed.size();
    collectNeeded(parameters[static_cast<size_t>(number)].initial.computed,
                  needed);
    keyDraws(stateName({number, ""}), needed.getArrayRef().drop_front(before));
  }
  size_t before = needed.size();
  for (const ErrorFlag &flag : initialStep.errorFlags)
    collectNeeded(flag.value, needed);
  keyDraws("", needed.getArrayRef().drop_front(before));

  builder.setInsertionPointToEnd(module->getBody());
  auto step = dl::graph::StepOp::create(
      builder, FileLineColLoc::get(&context, options.model, 1, 1),
      "initial.values");
  step.setPart(dl::graph::Part::Initial);
  step.setOf(traces.front()->step);
  using dl::graph::PortAttr;
  SmallVector<PortAttr> arguments, results;
  IRMapping mapping;
  Block &body = step.getBody().front();
  auto bind = [&](Value value, PortAttr port) {
    mapping.map(value, body.addArgument(value.getType(), step.getLoc()));
    arguments.push_back(port);
  };
  if (initialStep.scalars)
    bind(initialStep.scalars, PortAttr::scalars(&context));
  for (int number : read)
    bind(argumentOf(number),
         PortAttr::state(&context, stateName({number, ""})));
  builder.setInsertionPointToEnd(&body);
  for (Operation &op : outside)
    if (needed.contains(&op))
      builder.clone(op, mapping);
  SmallVector<Value> values;
  for (const ErrorFlag &flag : initialStep.errorFlags)
    results.push_back(PortAttr::error(builder.getStringAttr(flag.message)));
  for (int number : computed) {
    results.push_back(PortAttr::state(&context, stateName({number, ""})));
    if (!read.count(number)) // nobody sees what it was before
      parameters[static_cast<size_t>(number)].initial = {{DL_CONSTANT, 0, 0}};
  }
  for (Value value : wanted)
    values.push_back(mapping.lookup(value));
  step.setArgPorts(arguments);
  step.setResults(values, results);
}
