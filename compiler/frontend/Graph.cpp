// Handles, element types and parameters.
#include "compiler/frontend/Graph.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/Limits.h"
#include "dialects/graph/Progression.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dl::frontend;

Graph::Graph(const Options &options, Reporter &reporter, Modules &modules,
             const ReflectedTypes &types)
    : datasets(reporter, options.model), parallel(reporter, modules),
      checkpoints(options.recompute), options(options), reporter(reporter),
      modules(modules), types(types), context(MLIRContext::Threading::DISABLED),
      builder(&context) {
  context.loadDialect<dl::graph::GraphDialect>();
  module = ModuleOp::create(builder.getUnknownLoc());
  floatType = options.dtype == "f64" ? Type(builder.getF64Type())
                                     : Type(builder.getF32Type());
}

const Handle &Graph::get(int handle, StringRef what) {
  if (handle <= DL_NO_GRADIENT)
    reporter.fail(what.str() +
                  ": this parameter has no gradient here; call backward() of a "
                  "loss that depends on it first, or set it, p.grad() = value; "
                  "p.grad().defined() says whether there is one");
  if (handle == DL_NO_TARGET)
    reporter.fail(
        what.str() +
        ": the data set has one tensor, b.data; there is no b.target");
  if (handle < 0 || handle >= static_cast<int>(handles.size()))
    reporter.fail(what.str() +
                  ": the tensor is undefined (a dl::Tensor without a value)");
  return handles[static_cast<size_t>(handle)];
}

int Graph::addHandle(Value value) {
  Handle handle;
  handle.type = cast<RankedTensorType>(value.getType());
  handle.value = value;
  handle.trace = trace ? trace->number : -1;
  handle.isConstant =
      trace && gradientsOff > 0 && isa<FloatType>(handle.type.getElementType());
  handles.push_back(handle);
  return static_cast<int>(handles.size()) - 1;
}

int Graph::addSetting(const std::string &name, double value) {
  Handle handle;
  handle.type = RankedTensorType::get({}, builder.getF64Type());
  handle.setting = dl::graph::SettingAttr::get(&context, name,
                                               builder.getF64FloatAttr(value));
  handles.push_back(handle);
  return static_cast<int>(handles.size()) - 1;
}

int Graph::makeSetting(const std::string &name, double standard) {
  bool plain = !name.empty() && llvm::all_of(name, [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.';
  });
  if (!plain)
    reporter.fail("'" + name +
                  "' is no name for a setting; letters, digits, "
                  "., - and _ are");
  if (StringRef(name).starts_with("optim"))
    reporter.fail("'" + name +
                  "': settings of optimizers have such names; "
                  "take another one");
  if (trace)
    reporter.fail("p.setting() is called outside of steps; use its result "
                  "inside");
  if (!settingNames.insert(name).second)
    reporter.fail("p.setting(\"" + name + "\") was called before");
  return addSetting(name, standard);
}

int Graph::resolveDtype(int dtype) {
  if (dtype == DL_FLOAT64 && floatType.isF32())
    reporter.refuse("float64 within a float32 program: not in this version; "
                    "with --dtype=f64 all floats are float64");
  // With --dtype=f64 every float is one: so the same model can be checked.
  return dtype <= DL_FLOAT64 ? DL_FLOAT : dtype;
}

Type Graph::storedType(int dtype) {
  switch (dtype) {
  case DL_FLOAT32:
    return builder.getF32Type();
  case DL_FLOAT64:
    return builder.getF64Type();
  case DL_INT64:
    return builder.getI64Type();
  case DL_INT32:
    return builder.getI32Type();
  case DL_UINT8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case DL_BOOL:
    return builder.getI1Type();
  default:
    return floatType;
  }
}

Type Graph::elementType(int dtype) { return storedType(resolveDtype(dtype)); }

bool Graph::indicesFit(int handle, int64_t bound) {
  if (!trace || get(handle, "index").parameter >= 0)
    return false;
  auto index = dl::graph::progressionOf(valueOf(handle, "index"));
  return index && index->isWithin(bound);
}

int Graph::dtypeOf(int handle) {
  Type element = get(handle, "dtype").type.getElementType();
  if (element == floatType)
    return DL_FLOAT;
  for (int dtype :
       {DL_FLOAT32, DL_FLOAT64, DL_INT64, DL_INT32, DL_UINT8, DL_BOOL})
    if (storedType(dtype) == element)
      return dtype;
  return DL_FLOAT;
}

/// Random numbers of their own, which copies share.
void Graph::nameDraw(Initial &initial) {
  if (initial.kind != DL_CONSTANT && initial.kind != DL_PROGRESSION &&
      initial.kind != DL_DIRAC)
    initial.draw = initialStep.tensors++;
}

int Graph::makeInitial(Initial initial, ArrayRef<int64_t> shape, int dtype) {
  for (int64_t size : shape)
    if (size < 1)
      reporter.fail("a tensor of shape " + dl::graph::shapeText(shape) +
                    " is empty; each size must be at least 1");
  if (dl::graph::product(shape) > dl::graph::kMaxElements)
    reporter.fail("a tensor of shape " + dl::graph::shapeText(shape) +
                  " is too large");
  Handle handle;
  handle.type = RankedTensorType::get(shape, elementType(dtype));
  handle.initial = initial;
  nameDraw(*handle.initial);
  handles.push_back(handle);
  return static_cast<int>(handles.size()) - 1;
}

int Graph::makeParameter(int handle, bool isBuffer) {
  std::string kind = isBuffer ? "a dl::Buffer" : "a dl::Parameter";
  if (int number = get(handle, isBuffer ? "Buffer" : "Parameter").parameter;
      number >= 0) {
    if (parameters[static_cast<size_t>(number)].isBuffer == isBuffer)
      return handle; // the same parameter: tied
    if (!trace)
      handle = clone(handle);
  }
  const Handle from = get(handle, "");
  if (trace)
    reporter.fail(kind + " cannot be made" +
                  (isBuffer ? " inside of a step"
                            : " or set inside of a step; optimizers change "
                              "parameters, and `p.data() = x`"));
  const Initial *initial = from.copied    ? &from.copied->initial
                           : from.initial ? &*from.initial
                                          : nullptr;
  bool isComputed = from.initial ? from.initial->kind == DL_PROGRESSION
                                 : from.value && from.trace < 0;
  if (isComputed && isBuffer &&
      (from.initial || !isComputedAtStart(from.value)))
    return handle; // stays as it is: each step computes it
  isComputed |= initial && !initial->computed && isDrawn(*initial);
  isComputed |= from.scaled.has_value() || from.partOf >= 0;
  if (!initial && !isComputed)
    reporter.fail(kind + " starts from dl::zeros, ones, full, rand or "
                         "randn; this is a value of a step");
  if (!isBuffer && !isa<FloatType>(from.type.getElementType()))
    reporter.fail(
        "a dl::Parameter holds floats; this tensor holds integers or booleans");
  // (PyTorch's nn.Parameter(w.t()) has the memory of w.)
  if (!isBuffer && from.partOf >= 0)
    reporter.warnAt(reporter.stack.userFrames(),
                    "a view of a parameter is no parameter: this one begins "
                    "with its values, and they are not tied",
                    "read the view where it is used, F::linear(x, w.t()); "
                    ".clone() says that a copy is meant");
  Handle made;
  made.type = from.type;
  made.parameter = static_cast<int>(parameters.size());
  parameters.push_back({from.type,
                        isComputed ? Initial{{DL_CONSTANT, 0, 0}} : *initial,
                        reporter.stack.userFrames(),
                        /*requiresGrad=*/!isBuffer, isBuffer});
  if (isComputed)
    setInitialValues(made, handle);
  handles.push_back(made);
  return static_cast<int>(handles.size()) - 1;
}

void Graph::assign(int handle, int value) {
  const Handle target = get(handle, "assignment");
  if (target.parameter < 0 && target.trace < 0)
    reporter.fail("the values of this dl::Buffer were computed outside of "
                  "steps, and each step computes them anew; one that is "
                  "assigned starts from dl::zeros, ones or full");
  if (target.parameter < 0)
    reporter.fail("a parameter or a dl::Buffer is assigned; this is none");
  std::string what = parameters[static_cast<size_t>(target.parameter)].isBuffer
                         ? "dl::Buffer"
                         : "parameter";
  if (!trace || !trace->training)
    reporter.fail("a " + what +
                  " is assigned inside of p.train(); elsewhere it keeps its "
                  "value");
  Value assigned = valueOf(value, what);
  if (assigned.getType() != target.type)
    reporter.fail("this " + what + " holds " +
                  dl::graph::typeText(target.type) + ", what is assigned is " +
                  dl::graph::typeText(assigned.getType()));
  StateKey key = {target.parameter, ""};
  stateValue(key, target.type);
  trace->states[key].push_back(assigned);
}

void Graph::setInitial(int handle, Initial initial) {
  get(handle, "nn::init");
  Handle &target = handles[static_cast<size_t>(handle)];
  if (trace)
    reporter.fail(
        "nn::init: parameters cannot be initialised inside of a step");
  nameDraw(initial);
  bool isState =
      target.parameter >= 0 || (target.partOf >= 0 && !target.copied);
  bool isValue = initial.kind == DL_CONSTANT || initial.kind == DL_UNIFORM ||
                 initial.kind == DL_NORMAL;
  if (isState && isComputedNow(target) && (isValue || target.partOf >= 0)) {
    if (!isValue)
      reporter.fail(
          "nn::init: a part of what is computed begins with a number, "
          "or with uniform or normal ones; orthogonal_ and the like "
          "come before the computing");
    const Handle to = target;
    return beginWith(to, valueOfInitial(initial, to.type));
  }
  if (target.partOf >= 0 && !target.copied)
    return setInitialPart(target, initial);
  if (target.initial) {
    target.initial = initial;
    ++target.version;
    return;
  }
  if (target.parameter < 0)
    reporter.fail("nn::init: this tensor is no parameter and no part of one");
  Parameter &parameter = parameters[static_cast<size_t>(target.parameter)];
  parameter.initial = initial;
  ++parameter.changes;
}

void Graph::setInitialAs(int handle, int other) {
  const Handle &target = get(handle, "copy_"), &from = get(other, "copy_");
  if (target.parameter < 0)
    reporter.fail("copy_: the values of this dl::Buffer were computed outside "
                  "of steps, and each step computes them anew; one that is "
                  "set starts from dl::zeros, ones or full");
  if (target.type != from.type)
    reporter.fail("copy_: " + dl::graph::typeText(from.type) + " into " +
                  dl::graph::typeText(target.type));
  if (from.partOf >= 0 || (from.parameter < 0 && !from.copied))
    return setInitialValues(target, other);
  const Initial &begins =
      from.copied ? from.copied->initial
                  : parameters[static_cast<size_t>(from.parameter)].initial;
  if (isComputedNow(target) || (!begins.computed && isDrawn(begins)))
    return beginWith(Handle(target), valueOf(other, "copy_"));
  Parameter &parameter = parameters[static_cast<size_t>(target.parameter)];
  parameter.initial = Initial(begins);
  ++parameter.changes;
}
