#include "dialects/graph/DropCustomGradients.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace dl::graph;

void dl::graph::dropCustomGradients(StepOp step) {
  // What leads to gradients of inputs; what is made of those of outputs.
  llvm::SmallPtrSet<Operation *, 32> backward, gotten;
  SmallVector<Value> open;
  for (auto custom : llvm::to_vector(step.getOps<CustomGradientOp>())) {
    llvm::append_range(open, custom.getOutputGradients());
    llvm::append_range(open, custom.getInputGradients());
    custom->replaceAllUsesWith(custom.getOutputs());
    backward.erase(custom); // of the backward of one before
    custom->erase();
    while (!open.empty())
      if (Operation *def = open.pop_back_val().getDefiningOp();
          def && backward.insert(def).second)
        llvm::append_range(open, def->getOperands());
  }
  if (backward.empty())
    return;
  // Of a gradient within a backward the loss is no part of what it gives.
  for (Operation &op : step.getOps())
    if (isa<OutputGradientOp>(op) ||
        llvm::any_of(op.getOperands(), [&](Value operand) {
          Operation *def = operand.getDefiningOp();
          return def && gotten.contains(def);
        }))
      gotten.insert(&op);
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if ((backward.contains(&op) || gotten.contains(&op)) &&
        isOpTriviallyDead(&op))
      op.erase();
}
