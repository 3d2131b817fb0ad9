#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

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
  return success();
}
