// From calls of <dl/dl.h> to ops: operands, attributes, type promotion.
#include "compiler/frontend/Graph.h"
#include "dialects/graph/Inference.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dl::frontend;

Location Graph::location() {
  if (trace && trace->isCheck)
    return builder.getUnknownLoc(); // nothing of it is kept
  std::vector<Frame> frames = reporter.stack.userFrames();
  Location result = builder.getUnknownLoc();
  for (size_t i = frames.size(); i-- > 0;) {
    Location here = FileLineColLoc::get(&context, frames[i].file,
                                        frames[i].line, frames[i].column);
    result = isa<UnknownLoc>(result) ? here
                                     : Location(CallSiteLoc::get(here, result));
  }
  std::string path = modules.currentPath();
  if (!path.empty())
    result = NameLoc::get(builder.getStringAttr(path), result);
  unsigned checkpoint = checkpoints.current();
  return checkpoint ? dl::graph::withCheckpoint(result, checkpoint) : result;
}

Value Graph::constant(double value, RankedTensorType type) {
  Operation *op =
      create("full", {},
             {builder.getNamedAttr("value", builder.getF64FloatAttr(value)),
              builder.getNamedAttr("type", TypeAttr::get(type))});
  return op->getResult(0);
}

/// What dl::arange and dl::linspace made outside of steps, by the ops that they
/// are made of inside.
Value Graph::progression(const Initial &initial, RankedTensorType type) {
  auto number = [&](double value) {
    return constant(value, RankedTensorType::get({}, type.getElementType()));
  };
  Value made =
      create("iota", {},
             {builder.getNamedAttr("dim", builder.getI64IntegerAttr(0)),
              builder.getNamedAttr("type", TypeAttr::get(type))})
          ->getResult(0);
  if (initial.b != 1) {
    Value step = number(initial.b);
    made = create("mul", {made, step}, {})->getResult(0);
  }
  if (initial.a != 0) {
    Value start = number(initial.a);
    made = create("add", {made, start}, {})->getResult(0);
  }
  return made;
}

/// No gradient flows back to a frozen parameter from where it is used, nor
/// through a change to what it was made of.
Value Graph::gradientPath(int parameter, Value value) {
  if (!trace->refrozen.count(parameter))
    trace->usedAsFound.insert(parameter);
  if (parameters[static_cast<size_t>(parameter)].requiresGrad) {
    size_t changes = trace->states[{parameter, ""}].size() - 1;
    if (changes == 0)
      return value;
    Value &leaf = trace->leaves[{parameter, changes}];
    if (!leaf)
      leaf = create("detach", value, {})->getResult(0);
    return leaf;
  }
  return detached(value);
}

Value Graph::detached(Value value) {
  Value &known = trace->detached[value];
  return known ? known : known = create("detach", value, {})->getResult(0);
}

/// Outside of steps there are constants and what follows from them, and what is
/// computed when training begins.
Value Graph::valueOutside(const Handle &handle, StringRef what) {
  builder.setInsertionPointToEnd(&outside);
  if (handle.parameter >= 0 || handle.partOf >= 0 || handle.copied ||
      handle.scaled)
    return valueOfState(handle, what);
  if (handle.initial && handle.initial->kind == DL_PROGRESSION)
    return progression(*handle.initial, handle.type);
  if (handle.initial && handle.initial->kind == DL_CONSTANT)
    return constant(handle.initial->a, handle.type);
  if (handle.initial)
    return drawn(*handle.initial, handle.type, what);
  if (handle.trace >= 0)
    reporter.fail(what.str() + ": a tensor of the step '" +
                  stepsOfTraces[static_cast<size_t>(handle.trace)] +
                  "' cannot be used outside of it");
  return handle.value;
}

Value Graph::copyInStep(Value outside) {
  if (Value copy = trace->copies.lookup(outside))
    return copy;
  Operation *op = outside.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, copyInStep(operand));
  Operation *made = builder.clone(*op, mapping);
  for (auto [from, to] : llvm::zip(op->getResults(), made->getResults()))
    trace->copies[from] = to;
  return trace->copies.lookup(outside);
}

Value Graph::valueOf(int number, StringRef what) {
  refresh(number);
  const Handle handle = get(number, what);
  if (!trace)
    return valueOutside(handle, what);
  if (handle.setting) {
    Value &read = trace->settings[handle.setting.getPath().str()];
    return read ? read
                : read = create("setting", {},
                                builder.getNamedAttr("setting", handle.setting))
                             ->getResult(0);
  }
  if (handle.parameter >= 0) {
    Value value = stateValue({handle.parameter, ""}, handle.type);
    if (parameters[static_cast<size_t>(handle.parameter)].isBuffer)
      return value;
    return trace->training ? gradientPath(handle.parameter, value) : value;
  }
  if (handle.initial) {
    Value &made = trace->constants[number];
    if (!made && handle.initial->kind == DL_PROGRESSION)
      made = progression(*handle.initial, handle.type);
    if (!made && handle.initial->kind != DL_CONSTANT)
      reporter.fail(what.str() + ": these random numbers were made outside of "
                                 "the step; make them inside, or make a "
                                 "dl::Parameter of them");
    return made ? made : made = constant(handle.initial->a, handle.type);
  }
  if (handle.partOf >= 0 || handle.copied || handle.scaled)
    reporter.fail(what.str() + ": this part or copy of a parameter was made "
                               "outside of the step; make it inside");
  if (handle.trace < 0 && isComputedAtStart(handle.value))
    reporter.fail(what.str() + ": this was computed outside of the step, of "
                               "random numbers or of what parameters begin "
                               "with; make it inside, or make a dl::Parameter "
                               "or a dl::Buffer of it");
  if (handle.trace < 0)
    return copyInStep(handle.value);
  if (handle.trace != trace->number) {
    const std::string &other = stepsOfTraces[static_cast<size_t>(handle.trace)];
    if (other != trace->step)
      reporter.fail(what.str() + ": a tensor of the step '" + other +
                    "' cannot be used in the step '" + trace->step + "'");
    reporter.fail(what.str() +
                  ": the tensor was kept from an earlier trace of the step; "
                  "tensors live within one call of the step");
  }
  return handle.isConstant ? detached(handle.value) : handle.value;
}

int64_t Graph::randomKey(StringRef op) {
  if (!trace)
    return initialStep.keys++; // see keyDraws
  std::string base = modules.currentPath();
  if (base.empty())
    base = op.str();
  int ordinal = trace->keyOrdinals[base]++;
  return static_cast<int64_t>(hashText(base + "#" + std::to_string(ordinal)));
}

NamedAttribute Graph::convert(const dl_attr &attribute, StringRef op) {
  llvm::SmallVector<int64_t> list(attribute.list,
                                  attribute.list + attribute.count);
  Attribute value;
  switch (attribute.kind) {
  case DL_ATTR_INT:
    value = builder.getI64IntegerAttr(attribute.integer);
    break;
  case DL_ATTR_FLOAT:
    value = builder.getF64FloatAttr(attribute.number);
    break;
  case DL_ATTR_BOOL:
    value = builder.getBoolAttr(attribute.integer != 0);
    break;
  case DL_ATTR_INTS:
    value = builder.getDenseI64ArrayAttr(list);
    break;
  case DL_ATTR_STRING:
    value = builder.getStringAttr(attribute.text);
    break;
  case DL_ATTR_DTYPE:
    value = TypeAttr::get(elementType(static_cast<int>(attribute.integer)));
    break;
  case DL_ATTR_TYPE:
    for (int64_t size : list)
      if (size < 1)
        reporter.fail("a tensor of shape " + dl::graph::shapeText(list) +
                      " is empty; each size must be at least 1");
    value = TypeAttr::get(RankedTensorType::get(
        list, elementType(static_cast<int>(attribute.integer))));
    break;
  case DL_ATTR_KEY:
    value = builder.getI64IntegerAttr(randomKey(op));
    break;
  case DL_ATTR_NUMBER:
  case DL_ATTR_COUNT:
    break; // of optimizers: see convertNumber()
  }
  return builder.getNamedAttr(attribute.name, value);
}

Operation *Graph::create(StringRef op, ValueRange operands,
                         ArrayRef<NamedAttribute> attributes,
                         std::string *error) {
  bool isCompared = trace && trace->isCheck; // and counted before
  if (!isCompared && ++opCount > options.opLimit)
    reporter.fail(
        "the program has more than " + std::to_string(options.opLimit) +
        " operations; is this an endless loop? (--max-ops sets the limit)");
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (said.empty())
      said = diagnostic.str();
    return success();
  });
  FailureOr<Operation *> made = dl::graph::createInferred(
      builder, location(), ("graph." + op).str(), operands, attributes);
  if (succeeded(made))
    return *made;
  if (!error)
    reporter.fail(said);
  *error = said;
  return nullptr;
}

/// One attempt: all promoted operands cast to `element`. Leaves nothing behind
/// where the op does not take that type.
Operation *Graph::tryElement(StringRef op, ArrayRef<dl_operand> operands,
                             Type element, ArrayRef<NamedAttribute> attributes,
                             std::string &error) {
  SmallVector<Value> values;
  SmallVector<Operation *> casts;
  const dl_operand *inexact = nullptr; // as a constant of the graph, a double
  for (const dl_operand &operand : operands) {
    if (operand.kind == DL_STEP_SCALARS) {
      values.push_back(trace ? trace->scalars : scalarsAtStart());
      continue;
    }
    if (operand.kind == DL_TENSOR || operand.kind == DL_PROMOTED) {
      Value value = valueOf(operand.tensor, op);
      if (operand.kind == DL_PROMOTED &&
          cast<RankedTensorType>(value.getType()).getElementType() != element) {
        casts.push_back(create(
            "cast", value, builder.getNamedAttr("to", TypeAttr::get(element))));
        value = casts.back()->getResult(0);
      }
      values.push_back(value);
      continue;
    }
    if (operand.kind == DL_DOUBLE_SCALAR) {
      Type f64 = builder.getF64Type();
      values.push_back(
          constant(operand.number, RankedTensorType::get({}, f64)));
      casts.push_back(values.back().getDefiningOp());
      continue;
    }
    double number = operand.kind == DL_FLOAT_SCALAR
                        ? operand.number
                        : static_cast<double>(operand.integer);
    if (operand.kind == DL_INT_SCALAR && isa<IntegerType>(element) &&
        !(number < 0x1p63 && static_cast<int64_t>(number) == operand.integer))
      inexact = &operand;
    Value value = constant(number, RankedTensorType::get({}, element));
    casts.push_back(value.getDefiningOp());
    values.push_back(value);
  }
  Operation *made = create(op, values, attributes, &error);
  if (made && inexact)
    reporter.refuse(op.str() + ": the number " +
                    std::to_string(inexact->integer) +
                    " needs more than 53 bits: not in this version");
  if (!made)
    for (Operation *one : llvm::reverse(casts))
      one->erase();
  return made;
}

static int category(Type element) {
  return element.isInteger(1) ? 0 : isa<IntegerType>(element) ? 1 : 2;
}

static Type wider(Type a, Type b) {
  if (!a || category(b) > category(a))
    return b;
  if (category(a) > category(b) ||
      a.getIntOrFloatBitWidth() >= b.getIntOrFloatBitWidth())
    return a;
  return b;
}

/// As PyTorch: bool < integers < floats, numbers of the language give way to
/// tensors of their category. An op without a form for booleans gets integers,
/// one without a form for integers gets floats.
Operation *Graph::createPromoted(StringRef op, ArrayRef<dl_operand> operands,
                                 ArrayRef<NamedAttribute> attributes) {
  Type element;
  for (const dl_operand &operand : operands)
    if (operand.kind == DL_PROMOTED)
      element = wider(element, get(operand.tensor, op).type.getElementType());
  for (const dl_operand &operand : operands) {
    Type scalar = operand.kind == DL_BOOL_SCALAR    ? Type(builder.getI1Type())
                  : operand.kind == DL_INT_SCALAR   ? Type(builder.getI64Type())
                  : operand.kind == DL_FLOAT_SCALAR ? floatType
                                                    : Type();
    if (scalar && (!element || category(scalar) > category(element)))
      element = scalar;
  }
  std::string error;
  if (!element)
    element = floatType; // nothing to promote
  for (Type candidate : {element, Type(builder.getI64Type()), floatType}) {
    if (candidate != element && category(candidate) <= category(element) &&
        !(category(element) == 1 && candidate.isInteger(64) &&
          !element.isInteger(64)))
      continue;
    if (Operation *made =
            tryElement(op, operands, candidate, attributes, error))
      return made;
  }
  reporter.fail(error);
}

/// What can be done to initial values before they become a parameter: scaling
/// and shifting by a number, as in dl::randn({3}) * 0.02.
bool Graph::emitOutsideOfSteps(StringRef op, ArrayRef<dl_operand> operands,
                               int &result) {
  bool negate = op == "neg" && operands.size() == 1;
  if (!negate && (operands.size() != 2 ||
                  (op != "add" && op != "sub" && op != "mul" && op != "div")))
    return false;
  bool tensorFirst = operands[0].kind == DL_PROMOTED;
  const dl_operand &tensor = operands[tensorFirst ? 0 : 1];
  if (tensor.kind != DL_PROMOTED || (op == "div" && !tensorFirst))
    return false;
  const Handle from = get(tensor.tensor, op);
  int part = from.copied ? -1 : std::max(from.partOf, from.parameter);
  if (!(from.initial || from.scaled || part >= 0) ||
      !isa<FloatType>(from.type.getElementType()))
    return false;
  if ((from.initial && isDrawn(*from.initial)) ||
      (part >= 0 && parameters[static_cast<size_t>(part)].initial.computed))
    return false;
  double scale = negate ? -1 : 1, shift = 0;
  if (!negate) {
    const dl_operand &other = operands[tensorFirst ? 1 : 0];
    if (other.kind == DL_PROMOTED || other.kind == DL_TENSOR)
      return false;
    double number = other.kind == DL_FLOAT_SCALAR
                        ? other.number
                        : static_cast<double>(other.integer);
    if (op == "mul")
      scale = number;
    else if (op == "div")
      scale = 1 / number;
    else if (op == "add")
      shift = number;
    else {
      scale = tensorFirst ? 1 : -1;
      shift = tensorFirst ? -number : number;
    }
  }
  Handle handle;
  handle.type = from.type;
  if (part >= 0) {
    handle.scaled = {
        tensor.tensor,  part,
        from.strided(), parameters[static_cast<size_t>(part)].changes,
        scale,          shift};
  } else if (from.scaled) {
    handle.scaled = from.scaled;
    handle.scaled->scale *= scale;
    handle.scaled->shift = handle.scaled->shift * scale + shift;
  } else {
    Initial initial = *from.initial;
    if (!dl::frontend::scale(initial, scale, shift))
      return false;
    handle.initial = initial;
  }
  handles.push_back(handle);
  result = static_cast<int>(handles.size()) - 1;
  return true;
}

void Graph::emit(StringRef op, ArrayRef<dl_operand> operands,
                 ArrayRef<dl_attr> attributes,
                 llvm::MutableArrayRef<int> results) {
  if (!trace) {
    if (emitOutsideOfSteps(op, operands, results[0]) ||
        emitPartOfState(op, operands, attributes, results[0]))
      return;
    bool ofSetting = llvm::any_of(operands, [&](const dl_operand &operand) {
      return (operand.kind == DL_TENSOR || operand.kind == DL_PROMOTED) &&
             get(operand.tensor, op).setting;
    });
    if (ofSetting)
      reporter.fail(op.str() + ": outside of a step a setting has no value to "
                               "compute with; an option takes it as it is, "
                               "and another number is another p.setting()");
    builder.setInsertionPointToEnd(&outside);
  }
  SmallVector<NamedAttribute> converted;
  for (const dl_attr &attribute : attributes)
    converted.push_back(convert(attribute, op));
  Operation *made = createPromoted(op, operands, converted);
  for (auto [i, result] : llvm::enumerate(made->getResults()))
    if (i < results.size())
      results[i] = addHandle(result);
  if (!results.empty())
    noteView(op, operands, made, results[0]);
  compareTraces();
}

void Graph::addErrorFlag(int handle, const std::string &message) {
  if (!trace) { // known at once
    Value flag = valueOf(handle, "error");
    if (isComputedAtStart(flag))
      initialStep.errorFlags.push_back({flag, message});
    else if (initialElement(evaluate(flag), 0) != 0)
      reporter.fail(message);
    return;
  }
  trace->errorFlags.push_back({valueOf(handle, "error"), message});
}
