#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Reference.h"
#include <cmath>

using namespace mlir;
using namespace dl::graph;

namespace {
/// What the loss and its gradient share.
class NllWriter {
public:
  NllWriter(NllLossOp op, OpBuilder &builder)
      : op(op), g(builder, op.getLoc()), withClasses(shapeOf(op.getLogprob())) {
    withClasses[1] = 1;
  }

  /// [N,C,...]: the class is the target, and the target counts.
  Value chosen() {
    SmallVector<int64_t> along(withClasses.size(), 1);
    along[1] = shapeOf(op.getLogprob())[1];
    Value classes = g.iota(along, 1, elementOf(op.getTarget()));
    Value target = g.reshape(op.getTarget(), withClasses);
    Value isTarget = g.make<EqOp>(classes, target);
    int64_t ignored = op.getIgnoreIndex();
    if (ignored < 0 || ignored >= along[1])
      return isTarget; // No class is the ignored one.
    Value counts = g.reshape(counted(), withClasses);
    return g.make<LogicalAndOp>(isTarget, counts);
  }

  /// [N,...]: the target is not ignored.
  Value counted() {
    Value ignored =
        g.constant(op.getTarget(), static_cast<int64_t>(op.getIgnoreIndex()));
    return g.make<NeOp>(op.getTarget(), ignored);
  }

  /// How many targets count, a scalar.
  Value count() {
    Value counts = counted();
    Value ones = g.cast(counts, elementOf(op.getLogprob()));
    return g.sum(ones, allDims(ones), /*keepdim=*/false);
  }

  static SmallVector<int64_t> allDims(Value x) {
    return llvm::to_vector(llvm::seq<int64_t>(shapeOf(x).size()));
  }

  NllLossOp op;
  GraphBuilder g;
  SmallVector<int64_t> withClasses;
};
} // namespace

SmallVector<Value> NllLossOp::buildGradient(OpBuilder &builder,
                                            ValueRange grads, ArrayRef<bool>) {
  NllWriter w(*this, builder);
  GraphBuilder &g = w.g;
  Value dy = grads[0];
  if (getReduction() == "none")
    dy = g.reshape(dy, w.withClasses);
  Value negated = g.make<NegOp>(dy);
  if (getReduction() == "mean") {
    Value count = w.count();
    negated = g.make<DivOp>(negated, count);
  }
  Value chosen = w.chosen();
  Value zero = g.constant(getLogprob(), 0);
  Value dx = g.make<SelectOp>(chosen, negated, zero);
  return {dx, Value()};
}

FailureOr<SmallVector<Value>> NllLossOp::decompose(OpBuilder &builder) {
  NllWriter w(*this, builder);
  GraphBuilder &g = w.g;
  // Known before anything is computed, so that ranks may exchange it early.
  Value count = getReduction() == "mean" ? w.count() : Value();
  Value chosen = w.chosen();
  Value zero = g.constant(getLogprob(), 0);
  Value picked = g.make<SelectOp>(chosen, getLogprob(), zero);
  // Row by row: what is picked need not be stored for that.
  Value loss = g.sum(picked, 1, /*keepdim=*/false);
  if (getReduction() != "none")
    loss = g.sum(loss, NllWriter::allDims(loss), /*keepdim=*/false);
  loss = g.make<NegOp>(loss);
  if (count)
    loss = g.make<DivOp>(loss, count);
  return SmallVector<Value>{loss};
}

HostTensors NllLossOp::evaluate(ArrayRef<HostTensor> operands) {
  const HostTensor &logprob = operands[0], &target = operands[1];
  int64_t classes = logprob.shape()[1];
  int64_t inner = product(logprob.shape().drop_front(2));
  HostTensor result(getType());
  double total = 0, count = 0;
  for (int64_t i = 0; i < target.size(); ++i) {
    int64_t chosen = target.ints[i];
    if (chosen == static_cast<int64_t>(getIgnoreIndex()))
      continue;
    count += 1;
    if (chosen < 0 || chosen >= classes)
      continue; // index_check reports it.
    int64_t at = (i / inner * classes + chosen) * inner + i % inner;
    total -= logprob.floats[at];
    if (getReduction() == "none")
      result.floats[i] = -logprob.floats[at];
  }
  if (getReduction() != "none")
    result.floats[0] = getReduction() == "mean" ? total / count : total;
  return {result};
}

int64_t NllLossOp::getFlops() { return numElements(getTarget()); }
