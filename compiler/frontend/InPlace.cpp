// Ops in place. Values of the graph do not change; a handle stands for another
// value from here on, and so do the tensors that it is a view of:
//
//   auto row = x[0];   // slice, reshape
//   row.fill_(1);      // row = full; x = select(where the row is, full, x)
//
// Views that were made before are made again from the new value where they are
// next used, as PyTorch's functionalization does.
#include "compiler/frontend/Graph.h"
#include "dialects/graph/Inference.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dl::frontend;

static constexpr llvm::StringLiteral kInPlace = "an op in place";

/// Whether PyTorch's result has the memory of its operand.
static bool makesView(StringRef op) {
  return op == "reshape" || op == "slice" || op == "transpose" ||
         op == "expand" || op == "detach";
}

/// A parameter's part outside of steps: what is emitted for it are the numbers
/// of its elements.
bool Graph::emitPartOfState(StringRef op, ArrayRef<dl_operand> operands,
                            ArrayRef<dl_attr> attributes, int &result) {
  if (trace || !makesView(op) || operands.size() != 1)
    return false;
  const Handle from = get(operands[0].tensor, op);
  if (from.parameter < 0 && !from.places)
    return false;
  builder.setInsertionPointToEnd(&outside);
  Handle part = from;
  part.parameter = -1;
  part.partOf = from.places ? from.partOf : from.parameter;
  if (!part.places) {
    Type flat = RankedTensorType::get({from.type.getNumElements()},
                                      builder.getI64Type());
    Value counted =
        create("iota", {},
               {builder.getNamedAttr("dim", builder.getI64IntegerAttr(0)),
                builder.getNamedAttr("type", TypeAttr::get(flat))})
            ->getResult(0);
    part.places = reshaped(counted, from.type.getShape());
  }
  if (op != "detach") {
    SmallVector<NamedAttribute> converted;
    for (const dl_attr &attribute : attributes)
      converted.push_back(convert(attribute, op));
    part.places = create(op, part.places, converted)->getResult(0);
  }
  part.type = RankedTensorType::get(
      cast<RankedTensorType>(part.places.getType()).getShape(),
      from.type.getElementType());
  handles.push_back(part);
  result = static_cast<int>(handles.size()) - 1;
  return true;
}

void Graph::noteView(StringRef op, ArrayRef<dl_operand> operands,
                     Operation *made, int result) {
  auto detach = dyn_cast<dl::graph::DetachOp>(made);
  if (!makesView(op) || operands.size() != 1 ||
      (detach && detach.getStationary()))
    return;
  Handle &view = handles[static_cast<size_t>(result)];
  view.viewOf = operands[0].tensor;
  view.viewOp = made;
  view.seen = handles[static_cast<size_t>(view.viewOf)].version;
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
  const Handle base = handles[static_cast<size_t>(view.viewOf)];
  if (base.version == view.seen)
    return;
  Value value = base.value;
  OpBuilder::InsertionGuard guard(builder);
  if (view.trace < 0)
    builder.setInsertionPointToEnd(&outside);
  else if (trace && trace->number == view.trace)
    value = valueOf(view.viewOf, kInPlace);
  else
    return; // and may not be used
  IRMapping mapping;
  mapping.map(view.viewOp->getOperand(0), value);
  Handle &now = handles[static_cast<size_t>(number)];
  now.value = builder.clone(*view.viewOp, mapping)->getResult(0);
  now.seen = base.version;
  ++now.version;
}

/// The tensor whose view by `op` became `part`.
Value Graph::withPart(Value whole, Operation *op, Value part) {
  auto type = cast<RankedTensorType>(whole.getType());
  StringRef name = op->getName().stripDialect();
  if (name == "detach")
    return part;
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
  if (name == "expand") {
    if (cast<RankedTensorType>(part.getType()).getNumElements() !=
        type.getNumElements())
      reporter.fail("in place: several elements of what expand() gives are one "
                    "element of " +
                    dl::graph::shapeText(type.getShape()) +
                    "; clone() it first");
    return reshaped(part, type.getShape());
  }
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
  while (root >= 0 && root < static_cast<int>(handles.size()) &&
         handles[static_cast<size_t>(root)].viewOf >= 0)
    root = handles[static_cast<size_t>(root)].viewOf;
  int state = get(root, kInPlace).parameter;
  bool isUpdate = trace && state >= 0 && !update &&
                  !parameters[static_cast<size_t>(state)].isBuffer;
  if (isUpdate)
    beginUpdate(-1, 0);
  becomeValue(number, value);
  if (isUpdate)
    endUpdate();
}

void Graph::becomeValue(int number, int value) {
  refresh(number);
  const Handle to = get(number, kInPlace), from = get(value, kInPlace);
  if (to.type != from.type)
    reporter.fail("in place: " + dl::graph::typeText(to.type) +
                  " cannot become " + dl::graph::typeText(from.type));
  if (!trace && (to.parameter >= 0 || to.places))
    return setInitialValues(to, value);
  if (to.parameter >= 0)
    return assign(number, value);
  if (to.isCopyOfPart)
    reporter.fail("in place: indices that are tensors give a copy of a part; "
                  "write x.index_put_({...}, value)");
  if (to.setting)
    reporter.fail("in place: a setting has one value for the whole step");
  if (trace && to.trace != trace->number)
    reporter.fail("in place: this tensor was made outside of the step, which "
                  "begins with it anew each time; change a clone() of it; what "
                  "steps are to keep is a dl::Buffer that starts from "
                  "dl::zeros, ones or full");
  if (!trace && to.initial && from.initial) { // both distributions
    Handle &target = handles[static_cast<size_t>(number)];
    target.initial = from.initial;
    ++target.version;
    return;
  }
  if (!trace)
    builder.setInsertionPointToEnd(&outside);
  Value now = valueOf(value, kInPlace);
  if (to.viewOf >= 0 && isa<dl::graph::DetachOp>(to.viewOp) &&
      handles[static_cast<size_t>(to.viewOf)].parameter < 0 &&
      handles[static_cast<size_t>(to.viewOf)].gradientOf < 0)
    reporter.fail("in place: x.detach() and x.data() are the memory of x, "
                  "which would change behind the back of its gradient; write "
                  "x = ..., or change a clone() of it");
  Handle &target = handles[static_cast<size_t>(number)];
  target.value = now;
  target.initial.reset();
  ++target.version;
  if (to.gradientOf >= 0)
    setGradient(to.gradientOf, value);
  if (to.viewOf < 0)
    return;
  int whole = addHandle(withPart(valueOf(to.viewOf, kInPlace), to.viewOp, now));
  becomeValue(to.viewOf, whole);
  handles[static_cast<size_t>(number)].seen =
      handles[static_cast<size_t>(to.viewOf)].version;
}

/// A tensor of its own with the same value.
int Graph::clone(int number) {
  constexpr llvm::StringLiteral what = "clone";
  refresh(number);
  Handle copy = get(number, what);
  if (trace && copy.parameter >= 0)
    return currentValue(number);
  if (trace && (copy.initial || copy.trace != trace->number))
    return addHandle(valueOf(number, what));
  copy.viewOf = copy.gradientOf = -1;
  copy.isCopyOfPart = false;
  handles.push_back(copy);
  return static_cast<int>(handles.size()) - 1;
}

void Graph::markCopyOfPart(int number) {
  handles[static_cast<size_t>(number)].isCopyOfPart = true;
}
