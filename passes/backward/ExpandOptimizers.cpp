#include "passes/backward/Passes.h"
#include "passes/backward/StepValues.h"

namespace dl {
#define GEN_PASS_DEF_EXPANDOPTIMIZERS
#include "passes/backward/Passes.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;
using namespace dl;

namespace {

/// a + factor * b.
Value addScaled(graph::GraphBuilder &g, Value a, double factor, Value b) {
  Value constant = g.constant(b, factor);
  Value scaled = g.make<graph::MulOp>(b, constant);
  return g.make<graph::AddOp>(a, scaled);
}

/// momentum * buffer + (1 - dampening) * grad; at first the gradient. With no
/// dampening the zero that a buffer starts from gives just that.
FailureOr<Value> newBuffer(graph::SgdOp op, graph::GraphBuilder &g,
                           Value grad) {
  double dampening = op.getDampening().convertToDouble();
  Value momentum = g.constant(grad, op.getMomentum().convertToDouble());
  Value kept = g.make<graph::MulOp>(op.getMomentumBuffer(), momentum);
  if (dampening == 0)
    return g.make<graph::AddOp>(kept, grad);
  Value scalars = scalarsOf(op->getParentOfType<func::FuncOp>());
  if (!scalars)
    return op.emitError()
           << "SGD: dampening needs the step's scalars as an argument";
  Value later = addScaled(g, kept, 1 - dampening, grad);
  Value step = readScalar(g, scalars, StepScalar::Step, grad);
  Value zero = g.constant(step, 0);
  Value first = g.make<graph::EqOp>(step, zero);
  return g.make<graph::SelectOp>(first, grad, later);
}

LogicalResult expand(graph::SgdOp op) {
  OpBuilder builder(op);
  graph::GraphBuilder g(builder, op.getLoc());
  Value param = op.getParam(), grad = op.getGrad();
  double decay = op.getWeightDecay().convertToDouble();
  if (decay != 0)
    grad = addScaled(g, grad, decay, param);
  if (op.getMomentumBuffer()) {
    FailureOr<Value> buffer = newBuffer(op, g, grad);
    if (failed(buffer))
      return failure();
    double momentum = op.getMomentum().convertToDouble();
    grad = op.getNesterov() ? addScaled(g, grad, momentum, *buffer) : *buffer;
    op.getNewBuffer().replaceAllUsesWith(*buffer);
  }
  Value rate = g.constant(grad, op.getLr().convertToDouble());
  Value delta = g.make<graph::MulOp>(grad, rate);
  Value updated = g.make<graph::SubOp>(param, delta);
  op.getNewParam().replaceAllUsesWith(updated);
  op->erase();
  return success();
}

struct ExpandOptimizers : dl::impl::ExpandOptimizersBase<ExpandOptimizers> {
  void runOnOperation() override {
    SmallVector<graph::SgdOp> ops(getOperation().getOps<graph::SgdOp>());
    for (graph::SgdOp op : ops)
      if (failed(expand(op)))
        return signalPassFailure();
  }
};

} // namespace
