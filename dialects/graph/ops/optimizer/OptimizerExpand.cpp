// PyTorch's formulas in the order of its operations.
#include "dialects/graph/StepScalars.h"

using namespace mlir;
using namespace dl::graph;

/// a + factor * b.
static Value addScaled(GraphBuilder &g, Value a, double factor, Value b) {
  Value constant = g.constant(b, factor);
  Value scaled = g.make<MulOp>(b, constant);
  return g.make<AddOp>(a, scaled);
}

static Value scale(GraphBuilder &g, Value a, double factor) {
  Value constant = g.constant(a, factor);
  return g.make<MulOp>(a, constant);
}

/// momentum * buffer + (1 - dampening) * grad; at first the gradient. With no
/// dampening the zero that a buffer starts from gives just that.
static FailureOr<Value> newBuffer(SgdOp op, GraphBuilder &g, Value scalars,
                                  Value grad) {
  double dampening = op.getDampening().convertToDouble();
  Value kept =
      scale(g, op.getMomentumBuffer(), op.getMomentum().convertToDouble());
  if (dampening == 0)
    return g.make<AddOp>(kept, grad);
  Value later = addScaled(g, kept, 1 - dampening, grad);
  if (op.getCall() > 0)
    return later;
  if (!scalars)
    return op.emitError()
           << "SGD: dampening needs the step's scalars as an argument";
  Value step = readScalar(g, scalars, StepScalar::Step, grad);
  Value zero = g.constant(step, 0);
  Value first = g.make<EqOp>(step, zero);
  return g.make<SelectOp>(first, grad, later);
}

FailureOr<SmallVector<Value>> SgdOp::expandUpdate(OpBuilder &builder,
                                                  Value scalars) {
  GraphBuilder g(builder, getLoc());
  Value param = getParam(), grad = getGrad();
  if (getMaximize())
    grad = g.make<NegOp>(grad);
  double decay = getWeightDecay().convertToDouble();
  if (decay != 0)
    grad = addScaled(g, grad, decay, param);
  SmallVector<Value> results(1);
  if (getMomentumBuffer()) {
    FailureOr<Value> buffer = newBuffer(*this, g, scalars, grad);
    if (failed(buffer))
      return failure();
    double momentum = getMomentum().convertToDouble();
    grad = getNesterov() ? addScaled(g, grad, momentum, *buffer) : *buffer;
    results.push_back(*buffer);
  }
  Value delta = scale(g, grad, getLr().convertToDouble());
  results.front() = g.make<SubOp>(param, delta);
  return results;
}

/// 1 - beta^t, in f64. `count` is t.
static Value biasCorrection(GraphBuilder &g, double beta, Value count) {
  Value base = g.constant(count, beta), one = g.constant(count, 1);
  Value power = g.make<PowOp>(base, count);
  return g.make<SubOp>(one, power);
}

FailureOr<SmallVector<Value>> AdamOp::expandUpdate(OpBuilder &builder,
                                                   Value scalars) {
  GraphBuilder g(builder, getLoc());
  if (!scalars)
    return emitError() << "Adam needs the step's scalars as an argument";
  double lr = getLr().convertToDouble(), beta1 = getBeta1().convertToDouble(),
         beta2 = getBeta2().convertToDouble(),
         decay = getWeightDecay().convertToDouble();
  Value param = getParam(), grad = getGrad();
  Type element = elementOf(param);

  // One number for all elements; both corrections are rounded once.
  Value step = readScalar(g, scalars, StepScalar::Step, param);
  Value done = g.cast(step, builder.getF64Type());
  if (getCalls() != 1)
    done = scale(g, done, static_cast<double>(getCalls()));
  Value after = g.constant(done, static_cast<double>(getCall() + 1));
  Value count = g.make<AddOp>(done, after);
  Value correction1 = biasCorrection(g, beta1, count);
  Value correction2 = biasCorrection(g, beta2, count);
  Value rate = g.constant(count, lr);
  Value stepSize = g.make<DivOp>(rate, correction1);
  Value rootScale = g.make<RsqrtOp>(correction2);
  stepSize = g.cast(stepSize, element);
  rootScale = g.cast(rootScale, element);

  if (getMaximize())
    grad = g.make<NegOp>(grad);
  if (decay != 0 && getDecoupled())
    param = scale(g, param, 1 - lr * decay);
  else if (decay != 0)
    grad = addScaled(g, grad, decay, param);
  Value kept = scale(g, getExpAvg(), beta1);
  Value average = addScaled(g, kept, 1 - beta1, grad);
  Value keptSquare = scale(g, getExpAvgSq(), beta2);
  Value square = g.make<MulOp>(grad, grad);
  Value averageSquare = addScaled(g, keptSquare, 1 - beta2, square);
  SmallVector<Value> results = {Value(), average, averageSquare};
  Value largest = averageSquare;
  if (getMaxExpAvgSq()) {
    largest = g.make<MaximumOp>(getMaxExpAvgSq(), averageSquare);
    results.push_back(largest);
  }
  Value root = g.make<SqrtOp>(largest);
  Value scaled = g.make<MulOp>(root, rootScale);
  Value eps = g.constant(scaled, getEps().convertToDouble());
  Value denominator = g.make<AddOp>(scaled, eps);
  Value numerator = g.make<MulOp>(average, stepSize);
  Value delta = g.make<DivOp>(numerator, denominator);
  results.front() = g.make<SubOp>(param, delta);
  return results;
}
