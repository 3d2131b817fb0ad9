// Ops in place. Values of the graph do not change; a handle stands for another
// value from here on, and so do the tensors that it is a view of:
//
//   auto row = x[0];   // slice, reshape
//   row.fill_(1);      // x = cat(full, the rest of x); row = x[0]
//
// Views that were made before are made again from the new value where they are
// next used, as PyTorch's functionalization does.
#include "compiler/frontend/Graph.h"
#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Inference.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dl::frontend;

static constexpr llvm::StringLiteral kInPlace = "an op in place";

/// Whether PyTorch's result may have the memory of its operand.
static bool makesView(StringRef op) {
  return op == "reshape" || op == "slice" || op == "transpose" ||
         op == "expand" || op == "detach";
}

/// A parameter's part outside of steps: where its elements lie, and the op by
/// which it has a value if one is wanted.
bool Graph::emitPartOfState(StringRef op, ArrayRef<dl_operand> operands,
                            ArrayRef<dl_attr> attributes, int &result) {
  if (trace || operands.size() != 1 || !makesView(op))
    return false;
  const Handle from = get(operands[0].tensor, op);
  if (from.parameter < 0 && from.partOf < 0)
    return false;
  SmallVector<NamedAttribute> converted;
  for (const dl_attr &attribute : attributes)
    converted.push_back(convert(attribute, op));
  auto view = from.strided().by(op, builder.getDictionaryAttr(converted));
  if (!view)
    return false;
  builder.setInsertionPointToEnd(&outside);
  Handle part;
  part.type = RankedTensorType::get(view->shape, from.type.getElementType());
  part.view = view;
  part.partOf = from.partOf < 0 ? from.parameter : from.partOf;
  part.partFrom = operands[0].tensor;
  part.viewOp = create(op,
                       from.partOf < 0 ? argumentOf(from.parameter)
                                       : from.viewOp->getResult(0),
                       converted);
  handles.push_back(part);
  result = static_cast<int>(handles.size()) - 1;
  return true;
}

/// How often what a handle stands for was changed.
unsigned Graph::versionOf(int number) {
  const Handle &handle = handles[static_cast<size_t>(number)];
  if (handle.parameter < 0 || !trace)
    return handle.version;
  auto found = trace->states.find({handle.parameter, ""});
  return found == trace->states.end()
             ? 0
             : static_cast<unsigned>(found->second.size());
}

void Graph::noteView(StringRef op, ArrayRef<dl_operand> operands,
                     Operation *made, int result) {
  auto detach = dyn_cast<dl::graph::DetachOp>(made);
  if (operands.size() != 1 || !makesView(op) ||
      (detach && detach.getStationary()))
    return;
  int base = operands[0].tensor;
  auto view = handles[static_cast<size_t>(base)].strided().by(
      op, made->getAttrDictionary());
  if (!view)
    return;
  Handle &handle = handles[static_cast<size_t>(result)];
  handle.view = view;
  handle.viewOf = base;
  handle.viewOp = made;
  handle.seen = versionOf(base);
}

/// The tensor itself; of a state in a step, its value as a view of it.
int Graph::currentValue(int number) {
  constexpr llvm::StringLiteral what = "clone";
  if (!trace || (get(number, what).parameter < 0 && gradientsOff == 0))
    return number;
  int made = addHandle(valueOf(number, what));
  Handle &view = handles[static_cast<size_t>(made)];
  view.viewOf = number;
  view.seen = versionOf(number);
  return made;
}

int Graph::contiguous(int number) {
  const Handle &handle = get(number, "contiguous");
  return handle.view && !handle.view->isRowMajor() ? clone(number)
                                                   : currentValue(number);
}

Value Graph::reshaped(Value value, ArrayRef<int64_t> shape) {
  if (cast<RankedTensorType>(value.getType()).getShape() == shape)
    return value;
  return create(
             "reshape", value,
             builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(shape)))
      ->getResult(0);
}

/// Makes a view again whose tensor was changed in place.
void Graph::refresh(int number) {
  if (number < 0 || number >= static_cast<int>(handles.size()))
    return;
  const Handle view = handles[static_cast<size_t>(number)];
  if (view.viewOf < 0)
    return;
  refresh(view.viewOf);
  unsigned version = versionOf(view.viewOf);
  if (version == view.seen)
    return;
  Value value;
  OpBuilder::InsertionGuard guard(builder);
  if (view.trace < 0) {
    builder.setInsertionPointToEnd(&outside);
    value = valueOutside(handles[static_cast<size_t>(view.viewOf)], kInPlace);
  } else if (trace && trace->number == view.trace) {
    value = valueOf(view.viewOf, kInPlace);
  } else {
    return; // and may not be used
  }
  if (view.viewOp) {
    IRMapping mapping;
    mapping.map(view.viewOp->getOperand(0), value);
    value = builder.clone(*view.viewOp, mapping)->getResult(0);
  }
  Handle &now = handles[static_cast<size_t>(number)];
  now.value = value;
  now.seen = version;
  ++now.version;
}

static Value cut(OpBuilder &builder, Location loc, Value x, int64_t dim,
                 int64_t begin, int64_t end) {
  auto type = cast<RankedTensorType>(x.getType());
  if (begin == 0 && end == type.getDimSize(static_cast<unsigned>(dim)))
    return x;
  SmallVector<int64_t> offsets(static_cast<size_t>(type.getRank()), 0),
      strides(offsets.size(), 1), sizes(type.getShape());
  offsets[static_cast<size_t>(dim)] = begin;
  sizes[static_cast<size_t>(dim)] = end - begin;
  return dl::graph::GraphBuilder(builder, loc)
      .make<dl::graph::SliceOp>(x, offsets, sizes, strides);
}

/// The whole with another part from `begin` on along `dim`. What earlier parts
/// made is taken apart again, so that a loop over all of them makes one cat.
Value dl::frontend::joined(OpBuilder &builder, Location loc, Value whole,
                           Value part, int64_t dim, int64_t begin) {
  auto sizeOf = [&](Value x) {
    return cast<RankedTensorType>(x.getType())
        .getDimSize(static_cast<unsigned>(dim));
  };
  SmallVector<Value> pieces = {whole}, inputs;
  if (auto cat = whole.getDefiningOp<dl::graph::CatOp>();
      cat && static_cast<int64_t>(cat.getDim()) == dim)
    pieces.assign(cat.getInputs().begin(), cat.getInputs().end());
  int64_t end = begin + sizeOf(part), at = 0;
  bool placed = false;
  for (Value piece : pieces) {
    int64_t size = sizeOf(piece), behind = at + size;
    if (at < begin)
      inputs.push_back(
          cut(builder, loc, piece, dim, 0, std::min(size, begin - at)));
    if (behind > begin && !placed)
      inputs.push_back(part), placed = true;
    if (behind > end)
      inputs.push_back(
          cut(builder, loc, piece, dim, std::max<int64_t>(0, end - at), size));
    at = behind;
  }
  if (inputs.size() == 1)
    return part;
  return dl::graph::GraphBuilder(builder, loc)
      .make<dl::graph::CatOp>(inputs, dim);
}

/// The tensor whose view by `op` became `part`.
Value Graph::withPart(Value whole, Operation *op, Value part) {
  if (!op || isa<dl::graph::DetachOp>(op))
    return part;
  auto type = cast<RankedTensorType>(whole.getType());
  StringRef name = op->getName().stripDialect();
  if (name == "reshape")
    return reshaped(part, type.getShape());
  if (name == "transpose") {
    auto permutation = op->getAttrOfType<DenseI64ArrayAttr>("permutation");
    SmallVector<int64_t> back(permutation.size());
    for (auto [to, from] : llvm::enumerate(permutation.asArrayRef()))
      back[static_cast<size_t>(from)] = static_cast<int64_t>(to);
    return create("transpose", part,
                  builder.getNamedAttr("permutation",
                                       builder.getDenseI64ArrayAttr(back)))
        ->getResult(0);
  }
  if (name == "expand")
    return reshaped(part, type.getShape()); // nothing is repeated
  ArrayRef<int64_t> offsets =
      op->getAttrOfType<DenseI64ArrayAttr>("offsets").asArrayRef();
  ArrayRef<int64_t> sizes =
      op->getAttrOfType<DenseI64ArrayAttr>("sizes").asArrayRef();
  ArrayRef<int64_t> strides =
      op->getAttrOfType<DenseI64ArrayAttr>("strides").asArrayRef();
  SmallVector<int64_t> behind, between;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    behind.push_back(size - offsets[i] - (sizes[i] - 1) * strides[i] - 1);
    between.push_back(strides[i] - 1);
  }
  SmallVector<int64_t> dims; // that are cut
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (sizes[i] != size)
      dims.push_back(static_cast<int64_t>(i));
  if (dims.size() == 1 && strides[static_cast<size_t>(dims[0])] == 1)
    return joined(builder, location(), whole, part, dims[0],
                  offsets[static_cast<size_t>(dims[0])]);
  auto padded = [&](Value value) {
    return create("pad", value,
                  {builder.getNamedAttr("low",
                                        builder.getDenseI64ArrayAttr(offsets)),
                   builder.getNamedAttr("high",
                                        builder.getDenseI64ArrayAttr(behind)),
                   builder.getNamedAttr("interior",
                                        builder.getDenseI64ArrayAttr(between)),
                   builder.getNamedAttr("value", builder.getF64FloatAttr(0))})
        ->getResult(0);
  };
  Value there =
      padded(constant(1, RankedTensorType::get(sizes, builder.getI1Type())));
  Value placed = padded(part);
  return create("select", {there, placed, whole}, {})->getResult(0);
}

/// Changes of a parameter's part are its update, and no part of the loss.
void Graph::become(int number, int value) {
  int root = number;
  bool detached = false;
  while (get(root, kInPlace).viewOf >= 0) {
    const Handle &view = handles[static_cast<size_t>(root)];
    detached |= isa_and_nonnull<dl::graph::DetachOp>(view.viewOp);
    root = view.viewOf;
  }
  if (handles[static_cast<size_t>(root)].isCopyOfView)
    reporter.fail("in place: this is a copy of windows, of which PyTorch has a "
                  "view: change what they are of; a clone() of it is a tensor "
                  "of its own");
  int state = handles[static_cast<size_t>(root)].parameter;
  bool isParameter =
      trace && state >= 0 && !parameters[static_cast<size_t>(state)].isBuffer;
  if (isParameter && !detached && trace->losses.empty() &&
      parameters[static_cast<size_t>(state)].requiresGrad)
    reporter.fail(
        "in place: before backward() a parameter that is trained does "
        "not change; w.data() is the parameter as under "
        "no_grad(), and a clone() is a tensor of its own");
  bool isUpdate = isParameter && !update;
  if (isUpdate)
    beginUpdate(-1, 0);
  becomeValue(number, value);
  if (isUpdate)
    endUpdate();
}

/// A gradient would reach a parameter that it was made of.
static bool hasHistory(const Handle &handle, const Trace &trace,
                       ArrayRef<Parameter> parameters) {
  if (handle.isConstant)
    return false;
  llvm::DenseSet<Value> trained, seen;
  for (const auto &[key, values] : trace.states) {
    const Parameter &parameter = parameters[static_cast<size_t>(key.parameter)];
    if (!parameter.isBuffer && parameter.requiresGrad)
      trained.insert(values.begin(), values.end());
  }
  SmallVector<Value> open{handle.value};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!value || !seen.insert(value).second)
      continue;
    if (trained.contains(value))
      return true;
    Operation *def = value.getDefiningOp();
    if (def && !isa<dl::graph::DetachOp>(def))
      open.append(def->operand_begin(), def->operand_end());
  }
  return false;
}

void Graph::becomeValue(int number, int value) {
  refresh(number);
  const Handle to = get(number, kInPlace), from = get(value, kInPlace);
  if (to.type != from.type)
    reporter.fail("in place: " + dl::graph::typeText(to.type) +
                  " cannot become " + dl::graph::typeText(from.type));
  if (!trace && (to.copied || to.scaled))
    reporter.fail("in place: this is a copy of what a parameter begins with; "
                  "make a dl::Parameter of it");
  if (!trace && (to.parameter >= 0 || to.partOf >= 0))
    return setInitialValues(to, value);
  if (to.parameter >= 0)
    return assign(number, value);
  if (to.setting)
    reporter.fail("in place: a setting has one value for the whole step");
  if (trace && to.trace != trace->number)
    reporter.fail("in place: this tensor was made outside of the step, which "
                  "begins with it anew each time; change a clone() of it; what "
                  "steps are to keep is a dl::Buffer that starts from "
                  "dl::zeros, ones or full");
  if (to.view && to.view->repeats())
    reporter.fail("in place: several elements of what expand() gives lie in "
                  "one place; change a clone() of it");
  if (!trace && to.initial && from.initial) { // both distributions
    Handle &target = handles[static_cast<size_t>(number)];
    target.initial = from.initial;
    ++target.version;
    return;
  }
  if (!trace)
    builder.setInsertionPointToEnd(&outside);
  Value now = valueOf(value, kInPlace);
  int root = number;
  while (handles[static_cast<size_t>(root)].viewOf >= 0)
    root = handles[static_cast<size_t>(root)].viewOf;
  const Handle &memory = handles[static_cast<size_t>(root)];
  if (to.viewOf >= 0 && isa_and_nonnull<dl::graph::DetachOp>(to.viewOp) &&
      memory.parameter < 0 && !memory.isGradient)
    reporter.fail("in place: x.detach() and x.data() are the memory of x, "
                  "which would change behind the back of its gradient; write "
                  "x = ..., or change a clone() of it");
  if (gradientsOff > 0 && memory.parameter < 0 && !memory.isGradient &&
      hasHistory(to, *trace, parameters))
    reporter.fail("in place: under a NoGradGuard a tensor that has a gradient "
                  "does not change; change a clone() of it, or write x = ...");
  Handle &target = handles[static_cast<size_t>(number)];
  target.value = now;
  target.isConstant = false; // what it becomes says for itself
  target.initial.reset();
  ++target.version;
  if (to.gradientOf >= 0)
    setGradient(to.gradientOf, value);
  if (to.viewOf < 0)
    return;
  int whole = addHandle(withPart(valueOf(to.viewOf, kInPlace), to.viewOp, now));
  becomeValue(to.viewOf, whole);
  // It is made again from the whole, through which gradients reach it.
}

/// A tensor of its own with the same value.
int Graph::clone(int number) {
  constexpr llvm::StringLiteral what = "clone";
  refresh(number);
  const Handle from = get(number, what);
  if (trace)
    return addHandle(valueOf(number, what));
  Handle copy;
  copy.type = from.type;
  copy.value = from.partOf < 0 ? from.value : valueOutside(from, what);
  copy.initial = from.initial;
  copy.setting = from.setting;
  copy.copied = from.copied;
  copy.scaled = from.scaled;
  if (from.parameter >= 0) {
    const Parameter &parameter =
        parameters[static_cast<size_t>(from.parameter)];
    copy.copied = {from.parameter, parameter.changes, parameter.initial};
  }
  handles.push_back(copy);
  return static_cast<int>(handles.size()) - 1;
}

void Graph::copiedPart(int number, dl_copied what) {
  Handle &handle = handles[static_cast<size_t>(number)];
  handle.isCopyOfPart |= what == DL_COPIED_PART;
  handle.isCopyOfView |= what == DL_COPIED_VIEW;
  if (what == DL_COPIED_ASSIGNED && handle.isCopyOfPart)
    reporter.fail("indices that are tensors give a copy of a part, and nothing "
                  "is assigned; write x.index_put_({...}, value)");
}
