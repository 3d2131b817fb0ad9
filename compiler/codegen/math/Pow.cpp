// x^y = e^(y log x).
#include "compiler/codegen/math/Functions.h"
#include "compiler/codegen/math/Parts.h"

using llvm::ArrayRef;

namespace dl::formula {

// atanh(s) = s (1 + z / 3 + z^2 Q(z)), z = s^2, for |s| < 0.1716, error 2^-73.
static constexpr double powQDouble[] = {
    0x1.9999999999996p-3, 0x1.2492492493036p-3, 0x1.c71c71c5804b6p-4,
    0x1.745d18326095ep-4, 0x1.3b1362b261278p-4, 0x1.1120b62d3c5cfp-4,
    0x1.de335ab842fdbp-5, 0x1.eb11d6aa6cfd5p-5};
static constexpr double thirdHead = 0x1.5555555555555p-2;
static constexpr double thirdTail = 0x1.5555555555555p-56;

/// log x to about 2^-63, for positive finite x of type double: its error is
/// multiplied by as much as 745 before the power is taken.
static Pair preciseLog(Vec x) {
  SplitNumber parts = splitNumber(x);
  Vec f = (parts.mantissa - 1.0).named("f"); // exact
  // s = f / (mantissa + 1), by a quotient and its remainder.
  Pair divisor = exactSum(parts.mantissa, x.splat(1));
  Vec reciprocal = x.splat(1) / divisor.head;
  Vec s = f * reciprocal;
  Vec remainder = fma(-s, divisor.tail, fma(-s, divisor.head, f));
  Vec sTail = remainder * reciprocal;

  Pair z = exactProduct(s, s);
  z.tail = fma(s + s, sTail, z.tail);
  // t = 1 / 3 + z Q(z), u = z t, v = s u: log = 2 (s + v).
  Pair t =
      quickSum(x.splat(thirdHead), z.head * polynomial(z.head, powQDouble));
  t.tail = t.tail + thirdTail;
  Pair u = exactProduct(z.head, t.head);
  u.tail = fma(z.tail, t.head, fma(z.head, t.tail, u.tail));
  Pair v = exactProduct(s, u.head);
  v.tail = fma(sTail, u.head, fma(s, u.tail, v.tail));
  Pair half = quickSum(s, v.head);
  half.tail = half.tail + (sTail + v.tail);

  Pair sum = quickSum(parts.exponent * ln2DoubleHead, half.head * 2.0);
  sum.tail = sum.tail + fma(parts.exponent, ln2DoubleTail, half.tail * 2.0);
  return sum;
}

/// |x|^y for type double.
static Vec powerOfDouble(Vec x, Vec y) {
  Pair log = preciseLog(x);
  Pair product = exactProduct(y, log.head);
  Vec tail = fma(y, log.tail, product.tail);
  // Outside, the result is 0 or infinite, and the tail may be a NaN.
  Vec head = product.head.atMost(710.0).atLeast(-746.0);
  tail = select(head == product.head, tail, x.splat(0));
  Vec power = expandExp(reduceExp(Pair{head, tail}));

  Vec isInfinite = (x == x.infinity()).named("isInfinite");
  Vec grows = isInfinite ^ (y < 0.0);
  Vec extreme = select(grows, x.infinity(), x.splat(0));
  power = select(isInfinite | (x == 0.0), extreme, power);
  return select((x == x) & (y == y), power, x.nan());
}

Vec pow(Vec x, Vec y) {
  Vec size = x.abs().named("size");
  Vec power = x;
  if (x.isWide()) {
    power = powerOfDouble(size, y);
  } else {
    // In double, the plain logarithm has digits to spare.
    Vec wideLog = log(size.toDouble());
    power = exp(y.toDouble() * wideLog).toFloat();
  }

  Vec isInteger = (y.floor() == y).named("isInteger");
  Vec half = y * 0.5;
  Vec isOdd = (isInteger & !(half.floor() == half)).named("isOdd");
  // Odd powers keep the sign; others of negative numbers have no real value.
  power = select(isOdd, power.withSign(x.sign()), power);
  Vec hasNoValue = (x < 0.0) & (size < x.infinity()) & !isInteger & (y == y);
  power = select(hasNoValue.named("hasNoValue"), x.nan(), power);
  // 1 whatever the other argument is, NaN included.
  Vec isUnit =
      (y == 0.0) | (x == 1.0) | ((size == 1.0) & (y.abs() == y.infinity()));
  return select(isUnit.named("isUnit"), x.splat(1), power);
}

} // namespace dl::formula
