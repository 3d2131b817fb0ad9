#include "dialects/graph/DropCustomGradients.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace dl::graph;

void dl::graph::dropCustomGradients(StepOp step) {
  bool wasFound = false;
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(step.getBody().front()))) {
    auto custom = dyn_cast<CustomGradientOp>(op);
    wasFound |= bool(custom);
    if (custom)
      custom->replaceAllUsesWith(custom.getOutputs());
    if (custom || (wasFound && isOpTriviallyDead(&op)))
      op.erase();
  }
}
