#include "dialects/graph/Payload.h"

using namespace mlir;
using namespace dl::graph;
using Scalars = SmallVector<Value>;

#define BODY(OpClass)                                                          \
  Scalars OpClass::buildBody(OpBuilder &builder, Location loc, ValueRange x,   \
                             ValueRange)

/// The float op or its integer counterpart.
template <typename FloatOp, typename IntOp>
static Scalars buildNumber(OpBuilder &builder, Location loc, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return {FloatOp::create(builder, loc, x[0], x[1])};
  return {IntOp::create(builder, loc, x[0], x[1])};
}

BODY(NegOp) {
  if (isa<FloatType>(x[0].getType()))
    return {arith::NegFOp::create(builder, loc, x[0])};
  Value zero = scalarConstant(builder, loc, x[0].getType(), 0);
  return {arith::SubIOp::create(builder, loc, zero, x[0])};
}

BODY(AbsOp) {
  if (isa<FloatType>(x[0].getType()))
    return {math::AbsFOp::create(builder, loc, x[0])};
  Value zero = scalarConstant(builder, loc, x[0].getType(), 0);
  Value negated = arith::SubIOp::create(builder, loc, zero, x[0]);
  return {arith::MaxSIOp::create(builder, loc, x[0], negated)};
}

BODY(ExpOp) { return {math::ExpOp::create(builder, loc, x[0])}; }
BODY(LogOp) { return {math::LogOp::create(builder, loc, x[0])}; }
BODY(SqrtOp) { return {math::SqrtOp::create(builder, loc, x[0])}; }
BODY(SinOp) { return {math::SinOp::create(builder, loc, x[0])}; }
BODY(CosOp) { return {math::CosOp::create(builder, loc, x[0])}; }
BODY(TanhOp) { return {math::TanhOp::create(builder, loc, x[0])}; }
BODY(ErfOp) { return {math::ErfOp::create(builder, loc, x[0])}; }
BODY(FloorOp) { return {math::FloorOp::create(builder, loc, x[0])}; }

BODY(RsqrtOp) {
  Value one = scalarConstant(builder, loc, x[0].getType(), 1);
  Value root = math::SqrtOp::create(builder, loc, x[0]);
  return {arith::DivFOp::create(builder, loc, one, root)};
}

BODY(Log1pOp) {
  // log(u) of u = 1 + x as rounded, times x / (u - 1), which makes up for what
  // the rounding lost. Dividing first keeps large x from overflowing.
  Value one = scalarConstant(builder, loc, x[0].getType(), 1);
  Value u = arith::AddFOp::create(builder, loc, one, x[0]);
  Value logarithm = math::LogOp::create(builder, loc, u);
  Value added = arith::SubFOp::create(builder, loc, u, one);
  Value factor = arith::DivFOp::create(builder, loc, x[0], added);
  Value scaled = arith::MulFOp::create(builder, loc, logarithm, factor);
  // Nothing was lost; an infinity has no quotient.
  Value exact = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                      added, x[0]);
  Value result =
      arith::SelectOp::create(builder, loc, exact, logarithm, scaled);
  // All was lost, and a zero keeps its sign.
  Value tiny =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, u, one);
  return {arith::SelectOp::create(builder, loc, tiny, x[0], result)};
}

BODY(SigmoidOp) {
  Value one = scalarConstant(builder, loc, x[0].getType(), 1);
  Value negated = arith::NegFOp::create(builder, loc, x[0]);
  Value exponential = math::ExpOp::create(builder, loc, negated);
  Value sum = arith::AddFOp::create(builder, loc, one, exponential);
  return {arith::DivFOp::create(builder, loc, one, sum)};
}

BODY(ReluOp) {
  // Not a maximum: a NaN is not less than zero and stays.
  Value zero = scalarConstant(builder, loc, x[0].getType(), 0);
  Value negative = arith::CmpFOp::create(builder, loc,
                                         arith::CmpFPredicate::OLT, x[0], zero);
  return {arith::SelectOp::create(builder, loc, negative, zero, x[0])};
}

BODY(SignOp) {
  Type type = x[0].getType();
  Value zero = scalarConstant(builder, loc, type, 0);
  Value one = scalarConstant(builder, loc, type, 1);
  Value minusOne = scalarConstant(builder, loc, type, -1);
  Value positive = arith::CmpFOp::create(builder, loc,
                                         arith::CmpFPredicate::OGT, x[0], zero);
  Value negative = arith::CmpFOp::create(builder, loc,
                                         arith::CmpFPredicate::OLT, x[0], zero);
  Value rest = arith::SelectOp::create(builder, loc, negative, minusOne, zero);
  return {arith::SelectOp::create(builder, loc, positive, one, rest)};
}

BODY(AddOp) {
  return buildNumber<arith::AddFOp, arith::AddIOp>(builder, loc, x);
}
BODY(SubOp) {
  return buildNumber<arith::SubFOp, arith::SubIOp>(builder, loc, x);
}
BODY(MulOp) {
  return buildNumber<arith::MulFOp, arith::MulIOp>(builder, loc, x);
}
BODY(DivOp) { return {arith::DivFOp::create(builder, loc, x[0], x[1])}; }
BODY(PowOp) { return {math::PowFOp::create(builder, loc, x[0], x[1])}; }

/// Bytes and booleans have no sign.
static bool isUnsigned(Type element) {
  return element.isUnsignedInteger() || element.isInteger(1);
}

BODY(MaximumOp) {
  if (isUnsigned(elementOf(getA())))
    return {arith::MaxUIOp::create(builder, loc, x[0], x[1])};
  return buildNumber<arith::MaximumFOp, arith::MaxSIOp>(builder, loc, x);
}
BODY(MinimumOp) {
  if (isUnsigned(elementOf(getA())))
    return {arith::MinUIOp::create(builder, loc, x[0], x[1])};
  return buildNumber<arith::MinimumFOp, arith::MinSIOp>(builder, loc, x);
}

BODY(FloorDivideOp) {
  // A processor traps at x / 0, and at the least number / -1: both are divided
  // by 1 instead, and the second one is -x, which wraps.
  Type type = x[0].getType();
  using enum arith::CmpIPredicate;
  auto compare = [&](arith::CmpIPredicate how, Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, how, a, b);
  };
  auto choose = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  };
  Value zero = scalarConstant(builder, loc, type, 0);
  Value one = scalarConstant(builder, loc, type, 1);
  Value minusOne = scalarConstant(builder, loc, type, -1);
  Value byNone = compare(eq, x[1], zero);
  Value byMinusOne = compare(eq, x[1], minusOne);
  Value withoutNone = choose(byNone, one, x[1]);
  Value divisor = choose(byMinusOne, one, withoutNone);
  Value quotient = arith::DivSIOp::create(builder, loc, x[0], divisor);
  // Towards zero so far: one less where something is left and the signs differ.
  Value product = arith::MulIOp::create(builder, loc, quotient, divisor);
  Value inexact = compare(ne, product, x[0]);
  Value negative = compare(slt, x[0], zero);
  Value negativeDivisor = compare(slt, divisor, zero);
  Value differ = arith::XOrIOp::create(builder, loc, negative, negativeDivisor);
  Value below = arith::AndIOp::create(builder, loc, inexact, differ);
  Value less = arith::SubIOp::create(builder, loc, quotient, one);
  Value rounded = choose(below, less, quotient);
  Value negated = arith::SubIOp::create(builder, loc, zero, x[0]);
  Value signedOne = choose(byMinusOne, negated, rounded);
  return {choose(byNone, zero, signedOne)};
}

/// Integers compare as signed, except u8 and bool.
static Scalars buildCompare(OpBuilder &builder, Location loc, ValueRange x,
                            Type element, arith::CmpFPredicate floats,
                            arith::CmpIPredicate ints,
                            arith::CmpIPredicate unsignedInts) {
  if (isa<FloatType>(element))
    return {arith::CmpFOp::create(builder, loc, floats, x[0], x[1])};
  return {arith::CmpIOp::create(
      builder, loc, isUnsigned(element) ? unsignedInts : ints, x[0], x[1])};
}

#define COMPARE_BODY(OpClass, FLOATS, INTS, UNSIGNED)                          \
  BODY(OpClass) {                                                              \
    return buildCompare(                                                       \
        builder, loc, x, elementOf(getA()), arith::CmpFPredicate::FLOATS,      \
        arith::CmpIPredicate::INTS, arith::CmpIPredicate::UNSIGNED);           \
  }

COMPARE_BODY(EqOp, OEQ, eq, eq)
COMPARE_BODY(NeOp, UNE, ne, ne)
COMPARE_BODY(LtOp, OLT, slt, ult)
COMPARE_BODY(LeOp, OLE, sle, ule)
COMPARE_BODY(GtOp, OGT, sgt, ugt)
COMPARE_BODY(GeOp, OGE, sge, uge)

BODY(BitwiseAndOp) { return {arith::AndIOp::create(builder, loc, x[0], x[1])}; }
BODY(BitwiseOrOp) { return {arith::OrIOp::create(builder, loc, x[0], x[1])}; }
BODY(BitwiseXorOp) { return {arith::XOrIOp::create(builder, loc, x[0], x[1])}; }
BODY(LogicalAndOp) { return {arith::AndIOp::create(builder, loc, x[0], x[1])}; }
BODY(LogicalOrOp) { return {arith::OrIOp::create(builder, loc, x[0], x[1])}; }
BODY(LogicalNotOp) {
  Value yes = scalarConstant(builder, loc, x[0].getType(), 1);
  return {arith::XOrIOp::create(builder, loc, x[0], yes)};
}

BODY(SelectOp) {
  return {arith::SelectOp::create(builder, loc, x[0], x[1], x[2])};
}

BODY(CastOp) {
  return {castScalar(builder, loc, x[0], elementOf(getX()), getTo())};
}
