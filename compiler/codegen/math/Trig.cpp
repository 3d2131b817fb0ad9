// sin x and cos x.
#include "compiler/codegen/math/Functions.h"
#include "compiler/codegen/math/Parts.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>
#include <optional>

using llvm::ArrayRef;
using llvm::SmallVector;

namespace dl::formula {

// sin r = r + r z S(z), cos r = 1 - z / 2 + z^2 C(z), z = r^2, for |r| <= pi /
// 4: relative errors 2^-28 and 2^-58 for S, 2^-33 and 2^-64 for C.
static constexpr double sinSFloat[] = {-0x1.555546p-3, 0x1.110756p-7,
                                       -0x1.994b4p-13};
static constexpr double sinSDouble[] = {
    -0x1.5555555555549p-3, 0x1.111111110f841p-7,   -0x1.a01a019c0a269p-13,
    0x1.71de3570fbe31p-19, -0x1.ae5e60c39154dp-26, 0x1.5d915dd27eb9fp-33};
static constexpr double cosCFloat[] = {0x1.55554ap-5, -0x1.6c0c82p-10,
                                       0x1.99ff42p-16};
static constexpr double cosCDouble[] = {
    0x1.555555555554cp-5,   -0x1.6c16c16c1514p-10, 0x1.a01a019cab752p-16,
    -0x1.27e4f805346dbp-22, 0x1.1ee9e8912f084p-29, -0x1.8facd192f74a5p-37};

static constexpr double twoOverPi = 0x1.45f306dc9c883p-1;
// pi / 2 in three parts. The first has 30 bits: x minus a multiple of it is
// exact while the multiple is an exact integer.
static constexpr double halfPi0 = 0x1.921fb548p+0;
static constexpr double halfPi1 = -0x1.de973dcb3b39ap-31;
static constexpr double halfPi2 = 0x1.45c06e0e68948p-86;

// pi / 2 in two parts.
static constexpr double halfPiHead = 0x1.921fb54442d18p+0;
static constexpr double halfPiTail = 0x1.1a62633145c07p-54;

// Beyond these, angles are reduced by the digits of 1 / (2 pi): a word in front
// of the point, and those behind it.
static constexpr double farFloat = 1e12, farDouble = 1e9;
static constexpr uint64_t turnWords[] = {0,
                                         0x28be60db9391054a,
                                         0x7f09d5f47d4d3770,
                                         0x36d8a5664f10e410,
                                         0x7f9458eaf7aef158,
                                         0x6dc91b8e909374b8,
                                         0x01924bba82746487,
                                         0x3f877ac72c4a69cf,
                                         0xba208d7d4baed121,
                                         0x3a671c09ad17df90,
                                         0x4e64758e60d4ce7d,
                                         0x272117e2ef7e4a0e,
                                         0xc7fe25fff7816603,
                                         0xfbcbc462d6829b47,
                                         0xdb4d9fb3c9f2c26d,
                                         0xd3d18fd9a797fa8b,
                                         0x5d49eeb1faf97c5e,
                                         0xcf41ce7de294a4ba,
                                         0x9afed7ec47e35742,
                                         0x1580cc11bf1edaea};

namespace {

/// x = quadrant * pi / 2 + angle, the angle in [-pi / 4, pi / 4].
struct ReducedAngle {
  Vec quadrant; // low bits of an integer as wide as the angle
  Vec angle;
  std::optional<Vec> tail; // what the angle's rounding took
};

/// For 0 <= x <= farDouble.
ReducedAngle reduceDouble(Vec x) {
  Rounded n = roundScaled(x, twoOverPi);
  Vec head = fma(-n.number, halfPi0, x);
  Pair product = exactProduct(n.number, x.splat(halfPi1));
  Pair angle = exactSum(head, -product.head);
  Vec rest = fma(-n.number, halfPi2, angle.tail - product.tail);
  Pair sum = exactSum(angle.head, rest);
  return {n.bits, sum.head, sum.tail};
}

/// For 0 <= x <= farFloat: in double, two parts of pi / 2 are plenty.
ReducedAngle reduceFloat(Vec single) {
  Vec x = single.toDouble();
  Rounded n = roundScaled(x, twoOverPi);
  Vec angle = fma(-n.number, halfPi0, x);
  angle = fma(-n.number, halfPi1, angle);
  return {n.bits.toInt32(), angle.toFloat(), std::nullopt};
}

/// The high half of the product, for factors of 53 and 64 bits.
Vec highProduct(Vec x, Vec y) {
  Vec low = x.splatInt(0xffffffff);
  Vec x0 = x & low, x1 = x >> 32, y0 = y & low, y1 = y >> 32;
  Vec x0y1 = x0.mulInt(y1), x1y0 = x1.mulInt(y0);
  Vec middle =
      (x0.mulInt(y0) >> 32).addInt(x0y1 & low).addInt(x1y0 & low) >> 32;
  return x1.mulInt(y1).addInt(x0y1 >> 32).addInt(x1y0 >> 32).addInt(middle);
}

/// An integer below 2^32, times 2^exponent.
Vec scaled(Vec integer, int exponent) {
  Vec biased = integer | integer.splatInt(0x4330000000000000);
  return (biased.number() - 0x1p52) * std::ldexp(1.0, exponent);
}

/// For finite x >= 2^20, after Payne and Hanek: x is an integer of 53 bits
/// times 2^k. Of 1 / (2 pi) the bits in front of the k-th make whole turns, and
/// the next 192 times the integer are the fraction of a turn, to 2^-128. What
/// is left of an angle near a multiple of pi / 2 has 60 leading zeros at most.
ReducedAngle reduceFarDouble(Vec x) {
  Vec bits = x.bits();
  Vec mantissa =
      (bits & bits.splatInt(0xfffffffffffff)) | bits.splatInt(0x10000000000000);
  // The table begins 64 bits in front of the point, and k is at least -32.
  Vec place = (bits >> 52).subInt(bits.splatInt(1075 - 64));
  Vec word = place >> 6;
  SmallVector<Vec> words;
  for (uint64_t constant : turnWords)
    words.push_back(bits.splatInt(static_cast<int64_t>(constant)));
  // Words `word` to `word` + 3, by the bits of that number.
  for (int64_t step : {16, 8, 4, 2, 1}) {
    Vec isSet = (word & word.splatInt(step)).isNotZero();
    SmallVector<Vec> chosen;
    for (int64_t i = 0; i < std::min<int64_t>(step + 3, words.size()); ++i)
      chosen.push_back(i + step < static_cast<int64_t>(words.size())
                           ? select(isSet, words[i + step], words[i])
                           : words[i]);
    words = chosen;
  }
  Vec shift = place & place.splatInt(63);
  Vec back = shift.splatInt(63).subInt(shift);
  auto window = [&](unsigned i) {
    return (words[i] << shift) | ((words[i + 1] >> 1) >> back);
  };
  Vec middle = mantissa.mulInt(window(1));
  Vec last = highProduct(mantissa, window(2));
  Vec low = middle.addInt(last);
  Vec carry = ((middle & last) | ((middle | last) & !low)) >> 63;
  Vec high = mantissa.mulInt(window(0))
                 .addInt(highProduct(mantissa, window(1)))
                 .addInt(carry);
  // In quarter turns from the nearest one; ones' complement is close enough.
  Vec quarterHigh = (high << 2) | (low >> 62), quarterLow = low << 2;
  Vec isBelow = quarterHigh >> 63;
  Vec mask = bits.splatInt(0).subInt(isBelow);
  quarterHigh = quarterHigh ^ mask;
  quarterLow = quarterLow ^ mask;
  Vec half = bits.splatInt(0xffffffff);
  Pair first =
      exactSum(scaled(quarterHigh >> 32, -32), scaled(quarterHigh & half, -64));
  Vec rest = scaled(quarterLow >> 32, -96) + scaled(quarterLow & half, -128);
  Pair part = quickSum(first.head, first.tail + rest);
  // Times pi / 2.
  Pair product = exactProduct(part.head, x.splat(halfPiHead));
  Vec below =
      fma(part.head, halfPiTail, fma(part.tail, halfPiHead, product.tail));
  Pair angle = quickSum(product.head, below);
  Vec sign = isBelow << 63;
  return {(high >> 62).addInt(isBelow), angle.head.withSign(sign),
          angle.tail.withSign(sign)};
}

Vec sinOf(const ReducedAngle &a, Vec z) {
  Vec s = polynomial(z, z.pick<ArrayRef<double>>(sinSFloat, sinSDouble));
  Vec cube = a.angle * z;
  if (!a.tail)
    return fma(cube, s, a.angle);
  // sin(r + t) = sin r + t cos r, and cos r is near 1 - z / 2.
  Vec correction = *a.tail * fma(z, -0.5, 1.0);
  return a.angle + fma(cube, s, correction);
}

Vec cosOf(const ReducedAngle &a, Vec z) {
  Vec c = polynomial(z, z.pick<ArrayRef<double>>(cosCFloat, cosCDouble));
  Vec half = z * 0.5;
  Pair start = quickSum(z.splat(1), -half);
  Vec rest = start.tail;
  if (a.tail) // cos(r + t) = cos r - t sin r
    rest = fma(-a.angle, *a.tail, rest);
  return start.head + fma(z * z, c, rest);
}

/// sin(x + quarterTurns * pi / 2).
Vec sinOfTurned(const ReducedAngle &a, int quarterTurns) {
  Vec z = (a.angle * a.angle).named("z");
  Vec quadrant = a.quadrant.addInt(a.quadrant.splatInt(quarterTurns));
  Vec odd = (quadrant & quadrant.splatInt(1)).isNotZero().named("isOdd");
  Vec result = select(odd, cosOf(a, z), sinOf(a, z));
  // Bit 1 of the quadrant becomes the sign.
  return result.withSign((quadrant << quadrant.pick(30, 62)).number().sign());
}

/// For x >= 0.
ReducedAngle reduceNear(Vec x) {
  return x.isWide() ? reduceDouble(x) : reduceFloat(x);
}
ReducedAngle reduceFar(Vec x) {
  if (x.isWide())
    return reduceFarDouble(x);
  ReducedAngle a = reduceFarDouble(x.toDouble());
  return {a.quadrant.toInt32(), a.angle.toFloat(), std::nullopt};
}

Vec unlessInfinite(Vec x, Vec result) {
  return select(x < x.infinity(), result, x.nan());
}

} // namespace

Vec sin(Vec x) {
  return sinOfTurned(reduceNear(x.abs()), 0).withSign(x.sign());
}
Vec cos(Vec x) { return sinOfTurned(reduceNear(x.abs()), 1); }

Vec isFarAngle(Vec x) { return x.abs() > x.pick(farFloat, farDouble); }
Vec sinFar(Vec x) {
  Vec size = x.abs();
  Vec result = sinOfTurned(reduceFar(size), 0).withSign(x.sign());
  return unlessInfinite(size, result);
}
Vec cosFar(Vec x) {
  Vec size = x.abs();
  return unlessInfinite(size, sinOfTurned(reduceFar(size), 1));
}

} // namespace dl::formula
