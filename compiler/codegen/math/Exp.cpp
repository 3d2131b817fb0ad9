// e^x and what follows from it: e^x - 1, tanh x.
#include "compiler/codegen/math/Functions.h"
#include "compiler/codegen/math/Parts.h"

using llvm::ArrayRef;

namespace dl::formula {

// e^r - 1 = r + r^2 Q(r) for |r| <= ln(2) / 2, relative errors 2^-26.2 and
// 2^-55.6.
static constexpr double expQFloat[] = {0x1p-1, 0x1.5554bp-3, 0x1.555486p-5,
                                       0x1.1227fep-7, 0x1.6d991cp-10};
static constexpr double expQDouble[] = {
    0x1.0000000000005p-1,  0x1.555555555555cp-3,  0x1.55555555520f3p-5,
    0x1.111111110e6e6p-7,  0x1.6c16c17f378d1p-10, 0x1.a01a01b5d1b08p-13,
    0x1.a019a685a727ep-16, 0x1.71ddea14af46cp-19, 0x1.28a2ab9cabe5cp-22,
    0x1.af7692a9c622dp-26};

static Vec fractionOf(Vec r) {
  Vec q = polynomial(r, r.pick<ArrayRef<double>>(expQFloat, expQDouble));
  return fma(r * r, q, r).named("fraction");
}

ReducedExp reduceExp(Vec x) {
  Rounded n = roundScaled(x, log2e);
  Vec r = fma(-n.number, x.pick(ln2FloatHead, ln2DoubleHead), x);
  r = fma(-n.number, x.pick(ln2FloatTail, ln2DoubleTail), r).named("r");
  return {n, fractionOf(r)};
}

ReducedExp reduceExp(Pair x) {
  Rounded n = roundScaled(x.head, log2e);
  Vec head = fma(-n.number, x.head.pick(ln2FloatHead, ln2DoubleHead), x.head);
  Vec tail = fma(-n.number, x.head.pick(ln2FloatTail, ln2DoubleTail), x.tail);
  return {n, fractionOf((head + tail).named("r"))};
}

Vec expandExp(const ReducedExp &x) {
  // 2^n may be denormal or too large where the result is not; its halves are
  // neither.
  Rounded half = roundScaled(x.power.number, 0.5);
  Vec rest = x.power.bits.subInt(half.bits).named("rest");
  return (x.fraction + 1.0) * powerOfTwo(half.bits) * powerOfTwo(rest);
}

Vec expm1(Vec x) {
  ReducedExp e = reduceExp(x);
  Vec scale = powerOfTwo(e.power.bits);
  return fma(scale, e.fraction, scale - 1.0);
}

Vec exp(Vec x) {
  // Above the first bound the result is infinite. Below the second it is half
  // of the least number or less, and no part of it is computed: processors take
  // a hundred cycles and more for a product that is denormal or vanishes, and
  // what a softmax hides is e^-infinity.
  Vec vanishes = (x < x.pick(-103.98, -745.14)).named("vanishes");
  Vec limited = select(vanishes, x.splat(0), x.atMost(x.pick(89.0, 710.0)));
  return select(vanishes, x.splat(0), expandExp(reduceExp(limited)));
}

Vec tanh(Vec x) {
  // tanh |x| = (e^2|x| - 1) / (e^2|x| + 1), which keeps small results exact; at
  // the limit it has long been 1.
  Vec e = expm1((x.abs() * 2.0).atMost(x.pick(20.0, 44.0))).named("e");
  // A quotient, corrected by what its rounding and the divisor's took.
  Pair divisor = quickSum(x.splat(2), e);
  Vec reciprocal = (x.splat(1) / divisor.head).named("reciprocal");
  Vec quotient = (e * reciprocal).named("quotient");
  Vec remainder = fma(-quotient, divisor.head, e);
  remainder = fma(-quotient, divisor.tail, remainder).named("remainder");
  return fma(remainder, reciprocal, quotient).withSign(x.sign());
}

} // namespace dl::formula
