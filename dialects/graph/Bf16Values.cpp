#include "dialects/graph/Bf16Values.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/PayloadFacts.h"

using namespace mlir;

namespace dl::graph {

static bool saysSo(KernelOp kernel, BlockArgument argument) {
  std::optional<ArrayRef<int64_t>> numbers = kernel.getBf16Operands();
  return numbers &&
         llvm::is_contained(*numbers, int64_t(argument.getArgNumber()));
}

bool holdsBf16(Value value) {
  if (elementOf(value).isBF16())
    return true;
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
      if (!kernel)
        return false;
      if (saysSo(kernel, argument))
        return true;
      value = kernel.getOperand(argument.getArgNumber());
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      value = kernel.getBody().front().getTerminator()->getOperand(
          cast<OpResult>(value).getResultNumber());
      continue;
    }
    if (!isa<AliasOpInterface>(op)) {
      auto loops = dyn_cast<LoopNestOpInterface>(op);
      if (!loops)
        return false;
      PayloadFacts facts = payloadFacts(loops);
      if (facts.isWidening)
        return true;
      if (!facts.isView && !facts.isZeroPaddedView)
        return false;
    }
    value = op->getOperand(0);
  }
}

} // namespace dl::graph
