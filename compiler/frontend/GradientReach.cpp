#include "compiler/frontend/GradientReach.h"
#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Inference.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dl::frontend {

/// In reverse, as expand-gradients, which tells what has no gradient.
static void writeOut(graph::GradientsOp op) {
  OpBuilder builder(op);
  graph::GraphBuilder g(builder, op.getLoc());
  llvm::DenseSet<Value> dependents(op.getParams().begin(),
                                   op.getParams().end());
  auto depends = [&](Value x) { return dependents.contains(x); };
  SmallVector<Operation *> path;
  for (Operation &forward : *op->getBlock()) {
    if (&forward == op.getOperation())
      break;
    if (isa<graph::DetachOp, graph::OutputGradientOp>(forward) ||
        llvm::none_of(forward.getOperands(), depends))
      continue;
    path.push_back(&forward);
    for (Value result : forward.getResults())
      if (isa<FloatType>(graph::elementOf(result)))
        dependents.insert(result);
  }
  llvm::DenseMap<Value, Value> gradients;
  gradients[op.getLoss()] = g.fullLike(op.getLoss(), 1);
  for (Operation *forward : llvm::reverse(path)) {
    SmallVector<Value> ofResults;
    for (Value result : forward->getResults())
      ofResults.push_back(gradients.lookup(result));
    auto differentiable = dyn_cast<graph::DifferentiableOpInterface>(forward);
    if (!differentiable ||
        llvm::none_of(ofResults, [](Value x) { return bool(x); }))
      continue;
    SmallVector<bool> needed(llvm::map_range(forward->getOperands(), depends));
    SmallVector<Value> made =
        differentiable.buildGradient(builder, ofResults, needed);
    for (auto [operand, gradient] :
         llvm::zip_equal(forward->getOperands(), made))
      if (gradient && depends(operand)) {
        Value &total = gradients[operand];
        total = total ? g.make<graph::AddOp>(total, gradient) : gradient;
      }
  }
  for (auto [param, result] : llvm::zip(op.getParams(), op.getResults())) {
    Value gradient = gradients.lookup(param);
    result.replaceAllUsesWith(
        gradient ? gradient
                 : g.make<graph::FullOp>(APFloat(0.0), param.getType()));
  }
  op->erase();
}

llvm::DenseSet<Value> reachedLeaves(Value loss, ArrayRef<Value> leaves) {
  IRMapping copies;
  Operation *step = loss.getDefiningOp()->getParentOp()->clone(copies);
  Block &body = step->getRegion(0).front();
  SmallVector<graph::GradientsOp> gradients(body.getOps<graph::GradientsOp>());
  // (It may be such a gradient itself, which goes.)
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  Value from =
      graph::CopyOp::create(builder, loss.getLoc(), copies.lookup(loss));
  for (graph::GradientsOp one : gradients)
    writeOut(one);
  llvm::DenseMap<Value, Value> leafOf;
  for (Value leaf : leaves)
    leafOf[copies.lookup(leaf)] = leaf;
  llvm::DenseSet<Value> seen, reached;
  SmallVector<Value> open{from};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto leaf = leafOf.find(value); leaf != leafOf.end()) {
      reached.insert(leaf->second);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!op)
      continue;
    // By a mask, too: F::leaky_relu chooses, as the gradient of F::relu does.
    auto detach = dyn_cast<graph::DetachOp>(op);
    if (auto custom = dyn_cast<graph::CustomGradientOp>(op))
      llvm::append_range(open, custom.getInputs());
    else if (!detach || detach.getStationary())
      llvm::append_range(open, op->getOperands());
  }
  step->erase();
  return reached;
}

} // namespace dl::frontend
