#include "dialects/graph/Evaluate.h"
#include "dialects/graph/Inference.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace dl::graph {

using Tensors = SmallVector<HostTensor>;

static FailureOr<Tensors> evaluateBlock(Block &block,
                                        ArrayRef<HostTensor> arguments,
                                        ArrayRef<int64_t> constants = {});

FailureOr<Tensors> evaluateOp(Operation &op, ArrayRef<HostTensor> operands) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return evaluateBlock(kernel.getBody().front(), operands,
                         kernel.getConstants().value_or(ArrayRef<int64_t>()));
  if (auto reference = dyn_cast<ReferenceOpInterface>(op))
    return reference.evaluate(operands);
  return op.emitError() << "evaluate: '" << op.getName()
                        << "' has no reference evaluation";
}

static FailureOr<Tensors> evaluateBlock(Block &block,
                                        ArrayRef<HostTensor> arguments,
                                        ArrayRef<int64_t> constants) {
  llvm::DenseMap<Value, HostTensor> values;
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
    values[argument] = tensor;
  for (Operation &op : block) {
    Tensors operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    DictionaryAttr inBody = op.getAttrDictionary();
    if (!constants.empty())
      op.setAttrs(attributesInLaunch(&op, constants));
    FailureOr<Tensors> results = evaluateOp(op, operands);
    if (!constants.empty())
      op.setAttrs(inBody);
    if (failed(results))
      return failure();
    for (auto [result, tensor] : llvm::zip(op.getResults(), *results))
      values[result] = tensor;
  }
  return Tensors();
}

FailureOr<Tensors> evaluateStep(StepOp step, ArrayRef<HostTensor> arguments) {
  if (arguments.size() != step.getNumArguments())
    return step.emitError() << "evaluate: needs " << step.getNumArguments()
                            << " arguments, got " << arguments.size();
  return evaluateBlock(step.getBody().front(), arguments);
}

std::string tensorText(const HostTensor &tensor) {
  std::string text = typeText(tensor.type) + " [";
  llvm::raw_string_ostream out(text);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    out << (i ? ", " : "");
    if (tensor.isFloat())
      out << llvm::format("%.12g", tensor.floats[i]);
    else
      out << tensor.ints[i];
  }
  out << "]";
  return text;
}

} // namespace dl::graph
