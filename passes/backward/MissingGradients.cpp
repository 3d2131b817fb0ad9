#include "passes/backward/MissingGradients.h"
#include "dialects/graph/Graph.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;

namespace dl {

/// Its results as they were before: the parameter, and what stands behind the
/// gradient.
static void skip(Operation *update) {
  for (OpResult result : update->getResults()) {
    unsigned number = result.getResultNumber();
    result.replaceAllUsesWith(update->getOperand(number ? number + 1 : 0));
  }
  update->erase();
}

/// Scaled, clipped, added to another one, in another shape or type: nothing is
/// left nothing.
static bool isMissingToo(Operation *op, const llvm::DenseSet<Value> &missing) {
  auto isNone = [&](Value x) { return missing.contains(x); };
  auto isNumber = [&](Value x) {
    return isNone(x) || cast<RankedTensorType>(x.getType()).getRank() == 0;
  };
  if (isa<graph::MulOp>(op))
    return true;
  if (isa<graph::MaximumOp, graph::MinimumOp>(op))
    return llvm::all_of(op->getOperands(), isNumber);
  return isa<graph::GradientOp, graph::DetachOp, graph::CopyOp, graph::AddOp,
             graph::NegOp, graph::CastOp, graph::ReshapeOp>(op) &&
         llvm::all_of(op->getOperands(), isNone);
}

void dropMissingGradients(ArrayRef<Value> zeros) {
  llvm::DenseSet<Value> missing(zeros.begin(), zeros.end());
  SmallVector<Value> open(zeros);
  SmallVector<Operation *> updates;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<graph::OptimizerOpInterface>(user) && use.getOperandNumber() == 1)
        updates.push_back(user);
      else if (isMissingToo(user, missing) &&
               missing.insert(user->getResult(0)).second)
        open.push_back(user->getResult(0));
    }
  }
  for (Operation *update : updates)
    skip(update);
}

} // namespace dl
