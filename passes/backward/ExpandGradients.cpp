#include "dialects/graph/DropCustomGradients.h"
#include "dialects/graph/StepRole.h"
#include "mlir/IR/IRMapping.h"
#include "passes/backward/GradientSums.h"
#include "passes/backward/ModelError.h"
#include "passes/backward/Passes.h"
#include "passes/backward/StepValues.h"
#include "llvm/ADT/SetVector.h"

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
    Operation *before = op->getPrevNode();
    graph::GraphBuilder g(builder, op.getLoc());
    gradients[op.getLoss()] = g.fullLike(op.getLoss(), 1);
    for (Operation *forward : llvm::reverse(path))
      if (failed(goBack(forward)))
        return failure();
    if (op.getWithinStep() && before)
      readAttached(before);
    return replace();
  }

private:
  /// Finds the ops whose results depend on a parameter.
  void markDependents() {
    for (Value param : op.getParams())
      dependents.insert(param);
    for (Operation &forward : *op->getBlock()) {
      if (&forward == op.getOperation())
        return;
      if (isa<graph::DetachOp, graph::OutputGradientOp>(forward) ||
          llvm::none_of(forward.getOperands(), depends))
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

  /// What was made behind an op may be differentiated itself: of what depends
  /// on a stationary detach it reads copies that have none. (Without one it is
  /// the same, and CSE finds that.) What some gradient is asked for stays: that
  /// would be a gradient by another value than the one that is read.
  void readAttached(Operation *before) {
    auto made =
        llvm::make_range(std::next(before->getIterator()), op->getIterator());
    llvm::DenseSet<Value> asked;
    for (auto other : op->getBlock()->getOps<graph::GradientsOp>())
      asked.insert(other.getParams().begin(), other.getParams().end());
    auto isAffected = [&](Value value) {
      Operation *def = value.getDefiningOp();
      return def && affected.contains(def) && !asked.contains(value);
    };
    for (Operation &forward : *op->getBlock()) {
      auto detach = dyn_cast<graph::DetachOp>(forward);
      if (detach ? detach.getStationary()
                 : llvm::any_of(forward.getOperands(), isAffected))
        affected.insert(&forward);
      if (&forward == before)
        break;
    }
    llvm::SetVector<Operation *> needed;
    auto need = [&](Operation &reader) {
      for (Value operand : reader.getOperands())
        if (isAffected(operand))
          needed.insert(operand.getDefiningOp());
    };
    llvm::for_each(made, need);
    for (size_t i = 0; i < needed.size(); ++i) // it grows
      need(*needed[i]);
    auto inOrder = needed.takeVector();
    llvm::sort(inOrder, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    IRMapping attached;
    OpBuilder copies(op->getContext());
    copies.setInsertionPointAfter(before);
    SmallVector<Operation *> readers(llvm::make_pointer_range(made));
    for (Operation *forward : inOrder)
      if (isa<graph::DetachOp>(forward))
        attached.map(forward->getResult(0),
                     attached.lookupOrDefault(forward->getOperand(0)));
      else
        copies.clone(*forward, attached);
    for (Operation *reader : readers)
      for (OpOperand &operand : reader->getOpOperands())
        operand.set(attached.lookupOrDefault(operand.get()));
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
      // It depends on it through a mask alone, as the derivative of a ReLU;
      // within a step maybe not at all.
      if (!gradient && (op.getWithinStep() || isReadFrom(param))) {
        graph::GraphBuilder g(builder, op.getLoc());
        gradient = g.make<graph::FullOp>(APFloat(0.0), param.getType());
      }
      if (!gradient)
        return emitModelError(op)
               << "backward: the loss does not depend on " << describe(param);
      results.push_back(gradient);
    }
    op->replaceAllUsesWith(results);
    op->erase();
    return success();
  }

  /// The loss is computed from it, however.
  bool isReadFrom(Value param) {
    llvm::DenseSet<Value> readers{param};
    for (Operation &forward : *op->getBlock()) {
      if (&forward == op.getOperation())
        break;
      if (!isa<graph::DetachOp>(forward) &&
          llvm::any_of(forward.getOperands(),
                       [&](Value x) { return readers.contains(x); }))
        readers.insert(forward.result_begin(), forward.result_end());
    }
    return readers.contains(op.getLoss());
  }

  graph::GradientsOp op;
  graph::RoleMarker marker{graph::StepRole::Backward};
  OpBuilder builder;
  llvm::DenseSet<Value> dependents;
  llvm::DenseSet<Operation *> affected; // by a stationary detach
  std::function<bool(Value)> depends = [this](Value value) {
    return dependents.contains(value);
  };
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
    graph::dropCustomGradients(getOperation());
    for (auto left : getOperation().getOps<graph::OutputGradientOp>()) {
      emitModelError(left)
          << "autograd::Function: what backward() gets is a gradient of each "
             "that is asked for; no metric, state or other value of the step "
             "can be made of it";
      return signalPassFailure();
    }
    for (auto detach :
         llvm::make_early_inc_range(getOperation().getOps<graph::DetachOp>())) {
      detach.replaceAllUsesWith(detach.getX());
      detach->erase();
    }
    for (auto copy :
         llvm::make_early_inc_range(getOperation().getOps<graph::CopyOp>())) {
      copy.replaceAllUsesWith(copy.getX());
      copy->erase();
    }
  }
};

} // namespace
