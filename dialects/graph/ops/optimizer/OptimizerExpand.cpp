// PyTorch's formulas in the order of its operations.
#include "dialects/graph/StepScalars.h"
#include "dialects/graph/ops/optimizer/Optimizer.h"

using namespace mlir;
using namespace dl::graph;

namespace {
/// A number in f64, known or read in the step.
struct Number {
  double known;
  Value read = nullptr; // one f64
};

/// Writes the ops of an update. What is known when code is made is computed
/// here, what is read by ops; both in f64, and rounded once.
class UpdateBuilder : public GraphBuilder {
public:
  UpdateBuilder(OpBuilder &builder, Location loc, ValueRange numbers)
      : GraphBuilder(builder, loc), numbers(numbers),
        f64(builder.getF64Type()) {}

  Number number(Attribute option) {
    if (auto setting = dyn_cast<SettingAttr>(option))
      return {0, make<SettingOp>(setting)};
    if (auto operand = dyn_cast<OperandNumberAttr>(option))
      return {0, numbers[static_cast<size_t>(operand.getIndex())]};
    return {numberOf(option)};
  }
  Number minus(Number a, Number b) {
    if (!a.read && !b.read)
      return {a.known - b.known};
    Value lhs = inDouble(a), rhs = inDouble(b);
    return {0, make<SubOp>(lhs, rhs)};
  }
  Number times(Number a, Number b) {
    if (!a.read && !b.read)
      return {a.known * b.known};
    Value lhs = inDouble(a), rhs = inDouble(b);
    return {0, make<MulOp>(lhs, rhs)};
  }
  /// Of the element type of `like`, in a shape that broadcasts to it.
  Value rounded(Number a, Value like) {
    if (!a.read)
      return constant(like, a.known);
    Value value = cast(a.read, elementOf(like));
    bool isOne = shapeOf(like).empty() && !shapeOf(value).empty();
    return isOne ? reshape(value, {}) : value;
  }
  /// a + factor * b.
  Value addScaled(Value a, Number factor, Value b) {
    Value scaled = scale(b, factor);
    return make<AddOp>(a, scaled);
  }
  Value scale(Value a, Number factor) {
    Value constant = rounded(factor, a);
    return make<MulOp>(a, constant);
  }

private:
  Value inDouble(Number a) { return a.read ? a.read : constant(f64, a.known); }

  ValueRange numbers;
  Type f64;
};
} // namespace

/// momentum * buffer + (1 - dampening) * grad; at first the gradient. With no
/// dampening the zero that a buffer starts from gives just that.
static FailureOr<Value> newBuffer(SgdOp op, UpdateBuilder &g, Value scalars,
                                  Value grad) {
  Number momentum = g.number(op.getMomentum());
  Value kept = g.scale(op.getMomentumBuffer(), momentum);
  if (isNone(op.getDampening()))
    return g.make<AddOp>(kept, grad);
  Number share = g.minus({1}, g.number(op.getDampening()));
  Value later = g.addScaled(kept, share, grad);
  if (!isNone(op.getCount())) {
    Value count = g.number(op.getCount()).read, one = g.constant(count, 1);
    Value first = g.make<EqOp>(count, one);
    return g.make<SelectOp>(first, grad, later);
  }
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
  UpdateBuilder g(builder, getLoc(), numbersOf(*this));
  Value param = getParam(), grad = getGrad();
  if (getMaximize())
    grad = g.make<NegOp>(grad);
  if (!isNone(getWeightDecay())) {
    Number decay = g.number(getWeightDecay());
    grad = g.addScaled(grad, decay, param);
  }
  SmallVector<Value> results(1);
  if (getMomentumBuffer()) {
    FailureOr<Value> buffer = newBuffer(*this, g, scalars, grad);
    if (failed(buffer))
      return failure();
    Number momentum = g.number(getMomentum());
    grad = getNesterov() ? g.addScaled(grad, momentum, *buffer) : *buffer;
    results.push_back(*buffer);
  }
  Number lr = g.number(getLr());
  Value delta = g.scale(grad, lr);
  results.front() = g.make<SubOp>(param, delta);
  return results;
}

/// The number of this update, from 1, in f64.
static Value countOf(AdamOp op, UpdateBuilder &g, Value scalars) {
  if (!isNone(op.getCount()))
    return g.number(op.getCount()).read;
  Value step = readScalar(g, scalars, StepScalar::Step, op.getParam());
  Value done = g.cast(step, Float64Type::get(op.getContext()));
  if (op.getCalls() != 1)
    done = g.scale(done, {static_cast<double>(op.getCalls())});
  Value after = g.constant(done, static_cast<double>(op.getCall() + 1));
  return g.make<AddOp>(done, after);
}

/// 1 - beta^t, in f64. `count` is t.
static Value biasCorrection(UpdateBuilder &g, Number beta, Value count) {
  Value base = g.rounded(beta, count), one = g.constant(count, 1);
  Value power = g.make<PowOp>(base, count);
  return g.make<SubOp>(one, power);
}

FailureOr<SmallVector<Value>> AdamOp::expandUpdate(OpBuilder &builder,
                                                   Value scalars) {
  UpdateBuilder g(builder, getLoc(), numbersOf(*this));
  if (!scalars && isNone(getCount()))
    return emitError() << "Adam needs the step's scalars as an argument";
  Number lr = g.number(getLr()), beta1 = g.number(getBeta1()),
         beta2 = g.number(getBeta2());
  Value param = getParam(), grad = getGrad();
  Type element = elementOf(param);

  // One number for all elements; both corrections are rounded once.
  Value count = countOf(*this, g, scalars);
  Value correction1 = biasCorrection(g, beta1, count);
  Value correction2 = biasCorrection(g, beta2, count);
  Value rate = g.rounded(lr, count);
  Value stepSize = g.make<DivOp>(rate, correction1);
  Value rootScale = g.make<RsqrtOp>(correction2);
  stepSize = g.cast(stepSize, element);
  rootScale = g.cast(rootScale, element);

  if (getMaximize())
    grad = g.make<NegOp>(grad);
  if (!isNone(getWeightDecay())) {
    Number decay = g.number(getWeightDecay());
    if (getDecoupled())
      param = g.scale(param, g.minus({1}, g.times(lr, decay)));
    else
      grad = g.addScaled(grad, decay, param);
  }
  Value kept = g.scale(getExpAvg(), beta1);
  Value average = g.addScaled(kept, g.minus({1}, beta1), grad);
  Value keptSquare = g.scale(getExpAvgSq(), beta2);
  Value square = g.make<MulOp>(grad, grad);
  Value averageSquare = g.addScaled(keptSquare, g.minus({1}, beta2), square);
  SmallVector<Value> results = {Value(), average, averageSquare};
  Value largest = averageSquare;
  if (getMaxExpAvgSq()) {
    largest = g.make<MaximumOp>(getMaxExpAvgSq(), averageSquare);
    results.push_back(largest);
  }
  Value root = g.make<SqrtOp>(largest);
  Value scaled = g.make<MulOp>(root, rootScale);
  Value eps = g.rounded(g.number(getEps()), scaled);
  Value denominator = g.make<AddOp>(scaled, eps);
  Value numerator = g.make<MulOp>(average, stepSize);
  Value delta = g.make<DivOp>(numerator, denominator);
  results.front() = g.make<SubOp>(param, delta);
  return results;
}
