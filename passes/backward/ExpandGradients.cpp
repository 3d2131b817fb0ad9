#include "dialects/graph/StepRole.h"
#include "passes/backward/GradientSums.h"
#include "passes/backward/ModelError.h"
#include "passes/backward/Passes.h"
#include "passes/backward/StepValues.h"

namespace dl {
#define GEN_PASS_DEF_EXPANDGRADIENTS
#include "passes/backward/Passes.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;
using namespace dl;

namespace {

/// Reverse mode over the ops between the parameters and a loss.
class Reverse {
public:
  explicit Reverse(graph::GradientsOp op) : op(op), builder(op, &marker) {}

  LogicalResult run() {
    markDependents();
    graph::GraphBuilder g(builder, op.getLoc());
    gradients[op.getLoss()] = g.fullLike(op.getLoss(), 1);
    for (Operation *forward : llvm::reverse(path))
      if (failed(goBack(forward)))
        return failure();
    return replace();
  }

private:
  /// Whether the loss is made of gradients.
  bool isOfSecondOrder() {
    llvm::DenseSet<Value> seen(op.getParams().begin(), op.getParams().end());
    SmallVector<Value> worklist{op.getLoss()};
    while (!worklist.empty()) {
      Operation *made = worklist.pop_back_val().getDefiningOp();
      if (!made || isEnd(made))
        continue;
      if (graph::roleOf(made->getLoc()) == graph::StepRole::Backward)
        return true;
      for (Value operand : made->getOperands())
        if (seen.insert(operand).second)
          worklist.push_back(operand);
    }
    return false;
  }

  /// No gradient goes through it.
  bool isEnd(Operation *forward) const {
    auto detach = dyn_cast<graph::DetachOp>(forward);
    return detach && !(detach.getStationary() && passesStationary);
  }

  /// Finds the ops whose results depend on a parameter.
  void markDependents() {
    passesStationary = true;
    passesStationary = isOfSecondOrder();
    for (Value param : op.getParams())
      dependents.insert(param);
    for (Operation &forward : *op->getBlock()) {
      if (&forward == op.getOperation())
        return;
      if (isEnd(&forward) || llvm::none_of(forward.getOperands(), depends))
        continue;
      path.push_back(&forward);
      for (Value operand : forward.getOperands())
        ++uses[operand];
      for (Value result : forward.getResults())
        if (isa<FloatType>(graph::elementOf(result)))
          dependents.insert(result);
    }
  }

  LogicalResult goBack(Operation *forward) {
    SmallVector<Value> resultGrads;
    for (Value result : forward->getResults())
      resultGrads.push_back(gradientOf(result));
    if (llvm::none_of(resultGrads, [](Value v) { return bool(v); }))
      return success();
    if (isa<graph::DetachOp>(forward)) {
      add(forward->getOperand(0), resultGrads.front(), forward->getLoc());
      return success();
    }
    auto differentiable = dyn_cast<graph::DifferentiableOpInterface>(forward);
    if (!differentiable)
      return emitModelError(forward)
             << "backward: " << forward->getName().stripDialect()
             << " has no gradient";
    marker.of = forward->getName().stripDialect();
    SmallVector<bool> needed(llvm::map_range(forward->getOperands(), depends));
    SmallVector<Value> operandGrads =
        differentiable.buildGradient(builder, resultGrads, needed);
    for (auto [operand, gradient] :
         llvm::zip_equal(forward->getOperands(), operandGrads))
      if (gradient && depends(operand))
        add(operand, gradient, forward->getLoc());
    return success();
  }

  void add(Value value, Value gradient, Location loc) {
    if (uses.lookup(value) >= kManyContributions || isCutUp(value)) {
      many[value].push_back(gradient);
      return;
    }
    Value &total = gradients[value];
    if (!total) {
      total = gradient;
      return;
    }
    graph::GraphBuilder g(builder, loc);
    total = g.make<graph::AddOp>(total, gradient);
  }

  /// All that was added; null where nothing was.
  Value gradientOf(Value value) {
    auto found = many.find(value);
    if (found == many.end())
      return gradients.lookup(value);
    return sumOfMany(builder, value.getLoc(), found->second);
  }

  LogicalResult replace() {
    SmallVector<Value> results;
    for (Value param : op.getParams()) {
      Value gradient = gradientOf(param);
      if (!gradient)
        return emitModelError(op)
               << "backward: the loss does not depend on " << describe(param);
      results.push_back(gradient);
    }
    op->replaceAllUsesWith(results);
    op->erase();
    return success();
  }

  graph::GradientsOp op;
  graph::RoleMarker marker{graph::StepRole::Backward};
  OpBuilder builder;
  llvm::DenseSet<Value> dependents;
  std::function<bool(Value)> depends = [this](Value value) {
    return dependents.contains(value);
  };
  /// See graph.detach.
  bool passesStationary = false;
  SmallVector<Operation *> path;
  llvm::DenseMap<Value, size_t> uses; // by the path
  llvm::DenseMap<Value, Value> gradients;
  /// Contributions to what is used many times, which are added together.
  llvm::DenseMap<Value, SmallVector<Value>> many;
};

struct ExpandGradients : dl::impl::ExpandGradientsBase<ExpandGradients> {
  void runOnOperation() override {
    // In program order: a later one may differentiate an earlier one's result.
    SmallVector<graph::GradientsOp> ops(
        getOperation().getOps<graph::GradientsOp>());
    for (graph::GradientsOp op : ops)
      if (failed(Reverse(op).run()))
        return signalPassFailure();
    for (auto detach :
         llvm::make_early_inc_range(getOperation().getOps<graph::DetachOp>())) {
      detach.replaceAllUsesWith(detach.getX());
      detach->erase();
    }
  }
};

} // namespace
