#include "dialects/graph/GraphBuilder.h"
#include <numbers>

using namespace mlir;
using namespace dl::graph;
using Grads = SmallVector<Value>;

#define GRADIENT(OpClass)                                                      \
  Grads OpClass::buildGradient(OpBuilder &builder, ValueRange grads,           \
                               ArrayRef<bool> needed)

// Unary ops: dy times the derivative. Where the derivative follows from the
// result, it is used, so that the operand need not be kept.

GRADIENT(NegOp) {
  GraphBuilder g(builder, getLoc());
  return {g.make<NegOp>(grads[0])};
}

GRADIENT(AbsOp) {
  GraphBuilder g(builder, getLoc());
  Value sign = g.make<SignOp>(getX());
  return {g.make<MulOp>(grads[0], sign)};
}

GRADIENT(ExpOp) {
  GraphBuilder g(builder, getLoc());
  return {g.make<MulOp>(grads[0], getResult())};
}

GRADIENT(LogOp) {
  GraphBuilder g(builder, getLoc());
  return {g.make<DivOp>(grads[0], getX())};
}

GRADIENT(Log1pOp) {
  GraphBuilder g(builder, getLoc());
  Value one = g.constant(getX(), 1);
  Value sum = g.make<AddOp>(one, getX());
  return {g.make<DivOp>(grads[0], sum)};
}

GRADIENT(SqrtOp) {
  GraphBuilder g(builder, getLoc());
  Value two = g.constant(getX(), 2);
  Value twice = g.make<MulOp>(getResult(), two);
  return {g.make<DivOp>(grads[0], twice)};
}

GRADIENT(RsqrtOp) {
  GraphBuilder g(builder, getLoc());
  Value half = g.constant(getX(), -0.5);
  Value square = g.make<MulOp>(getResult(), getResult());
  Value cube = g.make<MulOp>(square, getResult());
  Value derivative = g.make<MulOp>(cube, half);
  return {g.make<MulOp>(grads[0], derivative)};
}

GRADIENT(SinOp) {
  GraphBuilder g(builder, getLoc());
  Value cosine = g.make<CosOp>(getX());
  return {g.make<MulOp>(grads[0], cosine)};
}

GRADIENT(CosOp) {
  GraphBuilder g(builder, getLoc());
  Value sine = g.make<SinOp>(getX());
  Value derivative = g.make<NegOp>(sine);
  return {g.make<MulOp>(grads[0], derivative)};
}

GRADIENT(TanhOp) {
  GraphBuilder g(builder, getLoc());
  Value one = g.constant(getX(), 1);
  Value square = g.make<MulOp>(getResult(), getResult());
  Value derivative = g.make<SubOp>(one, square);
  return {g.make<MulOp>(grads[0], derivative)};
}

GRADIENT(SigmoidOp) {
  GraphBuilder g(builder, getLoc());
  Value one = g.constant(getX(), 1);
  Value rest = g.make<SubOp>(one, getResult());
  Value derivative = g.make<MulOp>(getResult(), rest);
  return {g.make<MulOp>(grads[0], derivative)};
}

GRADIENT(ErfOp) {
  GraphBuilder g(builder, getLoc());
  Value scale = g.constant(getX(), 2 * std::numbers::inv_sqrtpi);
  Value square = g.make<MulOp>(getX(), getX());
  Value negated = g.make<NegOp>(square);
  Value bell = g.make<ExpOp>(negated);
  Value derivative = g.make<MulOp>(bell, scale);
  return {g.make<MulOp>(grads[0], derivative)};
}

GRADIENT(ReluOp) {
  // Where the result is NaN the gradient passes, as in PyTorch.
  GraphBuilder g(builder, getLoc());
  Value zero = g.constant(getX(), 0);
  Value off = g.make<LeOp>(getResult(), zero);
  return {g.make<SelectOp>(off, zero, grads[0])};
}

GRADIENT(SignOp) {
  GraphBuilder g(builder, getLoc());
  return {g.fullLike(getX(), 0)};
}

GRADIENT(FloorOp) {
  GraphBuilder g(builder, getLoc());
  return {g.fullLike(getX(), 0)};
}

// Binary ops: what broadcasting repeated is summed.

GRADIENT(AddOp) {
  GraphBuilder g(builder, getLoc());
  Grads result(2);
  if (needed[0])
    result[0] = g.sumTo(grads[0], getA());
  if (needed[1])
    result[1] = g.sumTo(grads[0], getB());
  return result;
}

GRADIENT(SubOp) {
  GraphBuilder g(builder, getLoc());
  Grads result(2);
  if (needed[0])
    result[0] = g.sumTo(grads[0], getA());
  if (needed[1]) {
    Value summed = g.sumTo(grads[0], getB());
    // Before it gets the operand's shape, where the sum's kernel ends.
    auto shaped = summed.getDefiningOp<ReshapeOp>();
    bool isOurs = shaped && summed != grads[0];
    Value negated = g.make<NegOp>(isOurs ? shaped.getX() : summed);
    result[1] =
        g.reshape(negated, cast<RankedTensorType>(summed.getType()).getShape());
  }
  return result;
}

GRADIENT(MulOp) {
  GraphBuilder g(builder, getLoc());
  Grads result(2);
  if (needed[0]) {
    Value product = g.make<MulOp>(grads[0], getB());
    result[0] = g.sumTo(product, getA());
  }
  if (needed[1]) {
    Value product = g.make<MulOp>(grads[0], getA());
    result[1] = g.sumTo(product, getB());
  }
  return result;
}

GRADIENT(DivOp) {
  GraphBuilder g(builder, getLoc());
  Grads result(2);
  Value quotient = g.make<DivOp>(grads[0], getB());
  if (needed[0])
    result[0] = g.sumTo(quotient, getA());
  if (needed[1]) {
    Value product = g.make<MulOp>(quotient, getResult());
    Value negated = g.make<NegOp>(product);
    result[1] = g.sumTo(negated, getB());
  }
  return result;
}

GRADIENT(PowOp) {
  GraphBuilder g(builder, getLoc());
  Grads result(2);
  Value zero = g.constant(getA(), 0);
  if (needed[0]) {
    // b * a^(b-1), and 0 where b is 0, even for a = 0, in whose own gradient no
    // 1 / a is to appear.
    Value one = g.constant(getA(), 1);
    Value constant = g.make<EqOp>(getB(), zero);
    Value lower = g.make<SubOp>(getB(), one);
    Value less = g.make<SelectOp>(constant, one, lower);
    Value power = g.make<PowOp>(getA(), less);
    Value scaled = g.make<MulOp>(getB(), power);
    Value derivative = g.make<SelectOp>(constant, zero, scaled);
    Value product = g.make<MulOp>(grads[0], derivative);
    result[0] = g.sumTo(product, getA());
  }
  if (needed[1]) {
    // a^b * log(a), and 0 where a is 0 and b is not negative.
    Value logarithm = g.make<LogOp>(getA());
    Value scaled = g.make<MulOp>(getResult(), logarithm);
    Value flat = g.make<EqOp>(getA(), zero);
    Value rising = g.make<GeOp>(getB(), zero);
    Value constant = g.make<LogicalAndOp>(flat, rising);
    Value derivative = g.make<SelectOp>(constant, zero, scaled);
    Value product = g.make<MulOp>(grads[0], derivative);
    result[1] = g.sumTo(product, getB());
  }
  return result;
}

/// The operand that `Wins` over the other gets dy, equal ones get half each.
template <typename Wins>
static Grads shareGradient(OpBuilder &builder, Operation *op, Value dy,
                           ArrayRef<bool> needed) {
  GraphBuilder g(builder, op->getLoc());
  Value zero = g.constant(dy, 0);
  Value factor = g.constant(dy, 0.5);
  Value half = g.make<MulOp>(dy, factor);
  Grads result(2);
  for (int i = 0; i < 2; ++i) {
    if (!needed[i])
      continue;
    Value mine = op->getOperand(i), other = op->getOperand(1 - i);
    Value equal = g.make<EqOp>(mine, other);
    Value wins = g.make<Wins>(mine, other);
    Value whole = g.make<SelectOp>(wins, dy, zero);
    Value share = g.make<SelectOp>(equal, half, whole);
    result[i] = g.sumTo(share, mine);
  }
  return result;
}

GRADIENT(MaximumOp) {
  return shareGradient<GtOp>(builder, *this, grads[0], needed);
}

GRADIENT(MinimumOp) {
  return shareGradient<LtOp>(builder, *this, grads[0], needed);
}

GRADIENT(SelectOp) {
  GraphBuilder g(builder, getLoc());
  Grads result(3);
  Value zero = g.constant(grads[0], 0);
  if (needed[1]) {
    Value chosen = g.make<SelectOp>(getCond(), grads[0], zero);
    result[1] = g.sumTo(chosen, getA());
  }
  if (needed[2]) {
    Value chosen = g.make<SelectOp>(getCond(), zero, grads[0]);
    result[2] = g.sumTo(chosen, getB());
  }
  return result;
}

GRADIENT(CastOp) {
  GraphBuilder g(builder, getLoc());
  if (!isa<FloatType>(elementOf(getX())))
    return {Value()};
  return {g.cast(grads[0], elementOf(getX()))};
}
