#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

static LogicalResult verifyConstants(KernelOp kernel) {
  SmallVector<LaunchConstant> needed = launchConstants(kernel);
  ArrayRef<int64_t> constants =
      kernel.getConstants().value_or(ArrayRef<int64_t>());
  if (constants.size() != needed.size())
    return kernel.emitOpError()
           << "has " << constants.size() << " constants, its body takes "
           << needed.size();
  for (auto [i, value] : llvm::enumerate(constants))
    if (value < needed[i].min || value > needed[i].max ||
        value % needed[i].multipleOf != 0)
      return kernel.emitOpError()
             << "constant " << i << " is " << value << ", '"
             << needed[i].attribute << "' takes " << needed[i].min << " to "
             << needed[i].max << " in multiples of " << needed[i].multipleOf;
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError() << "the block's arguments must be the operands";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().getTypes() != getOutputs().getTypes())
    return emitOpError() << "must end by yielding its results";
  if (std::optional<ArrayRef<int64_t>> inplace = getInplace()) {
    if (inplace->size() != getNumResults())
      return emitOpError() << "inplace needs one number for each result";
    for (int64_t operand : *inplace)
      if (operand < -1 || operand >= static_cast<int64_t>(getNumOperands()))
        return emitOpError() << "inplace names operand " << operand << " of "
                             << getNumOperands();
  }
  for (int64_t operand : getBf16Operands().value_or(llvm::ArrayRef<int64_t>()))
    if (operand < 0 || operand >= static_cast<int64_t>(getNumOperands()) ||
        !elementOf(getOperand(operand)).isF32())
      return emitOpError() << "bf16_operands names " << operand
                           << ", which is no operand of f32";
  return verifyConstants(*this);
}
