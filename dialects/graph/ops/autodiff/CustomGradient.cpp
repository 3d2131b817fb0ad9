// Gradients that the program says itself.
#include "dialects/graph/GraphBuilder.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dl::graph;

LogicalResult OutputGradientOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  Type type = adaptor.getOutput().getType();
  if (failed(requireFloat(loc, "autograd::Function", type)))
    return failure();
  types.push_back(type);
  return success();
}

LogicalResult CustomGradientOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  ValueRange values = adaptor.getValues();
  size_t outputs = adaptor.getNumOutputs();
  if (2 * outputs > values.size() || values.size() % 2 != 0)
    return emitOptionalError(loc, "custom_gradient: as many gradients as "
                                  "outputs and inputs are wanted");
  for (Value output : values.take_front(outputs))
    types.push_back(output.getType());
  ValueRange rest = values.drop_front(2 * outputs);
  size_t inputs = rest.size() / 2;
  for (auto [input, gradient] :
       llvm::zip_equal(rest.take_front(inputs), rest.drop_front(inputs)))
    if (input.getType() != gradient.getType())
      return emitOptionalError(
          loc, "autograd::Function: backward() gives ",
          typeText(cast<RankedTensorType>(gradient.getType())),
          " as the gradient of an input ",
          typeText(cast<RankedTensorType>(input.getType())));
  return success();
}

OperandRange CustomGradientOp::getOutputs() {
  return getValues().take_front(getNumOutputs());
}

OperandRange CustomGradientOp::getOutputGradients() {
  return getValues().slice(getNumOutputs(), getNumOutputs());
}

OperandRange CustomGradientOp::getInputs() {
  OperandRange rest = getValues().drop_front(2 * getNumOutputs());
  return rest.take_front(rest.size() / 2);
}

OperandRange CustomGradientOp::getInputGradients() {
  OperandRange rest = getValues().drop_front(2 * getNumOutputs());
  return rest.drop_front(rest.size() / 2);
}

/// The ops between what stands for gradients and `op`, in order, on which the
/// gradients of inputs depend that are needed.
static SmallVector<Operation *> backwardOf(CustomGradientOp op,
                                           ArrayRef<bool> isNeeded) {
  Operation *first = nullptr;
  for (Value gradient : op.getOutputGradients())
    if (Operation *def = gradient.getDefiningOp();
        !first || def->isBeforeInBlock(first))
      first = def;
  llvm::SetVector<Operation *> found;
  auto add = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (def && first && first->isBeforeInBlock(def) &&
        !llvm::is_contained(op.getOutputGradients(), value))
      found.insert(def);
  };
  for (auto [gradient, needed] :
       llvm::zip_equal(op.getInputGradients(), isNeeded))
    if (needed)
      add(gradient);
  for (size_t i = 0; i < found.size(); ++i) // it grows
    for (Value operand : found[i]->getOperands())
      add(operand);
  SmallVector<Operation *> ops = found.takeVector();
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

SmallVector<Value> CustomGradientOp::buildGradient(OpBuilder &builder,
                                                   ValueRange grads,
                                                   ArrayRef<bool> needed) {
  GraphBuilder g(builder, getLoc());
  IRMapping known;
  for (auto [output, result, stands, gradient] : llvm::zip_equal(
           getOutputs(), getResults(), getOutputGradients(), grads)) {
    // A gradient of the gradient goes through the op itself, but not where an
    // input is read that is the output as well.
    if (!llvm::is_contained(getInputs(), output))
      known.map(output, result);
    known.map(stands, gradient ? gradient : g.fullLike(output, 0));
  }
  size_t inputs = getInputs().size();
  ArrayRef<bool> neededInputs = needed.slice(2 * getNumOutputs(), inputs);
  for (Operation *op : backwardOf(*this, neededInputs))
    builder.clone(*op, known);
  SmallVector<Value> result(getNumOperands());
  for (size_t i = 0; i < inputs; ++i)
    if (neededInputs[i])
      result[2 * getNumOutputs() + i] =
          known.lookupOrDefault(Value(getInputGradients()[i]));
  return result;
}
