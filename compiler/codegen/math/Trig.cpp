// sin x and cos x.
#include "compiler/codegen/math/Functions.h"
#include "compiler/codegen/math/Parts.h"

#include <optional>

using llvm::ArrayRef;

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

namespace {

/// x = quadrant * pi / 2 + angle, the angle in [-pi / 4, pi / 4].
struct ReducedAngle {
  Vec quadrant; // low bits of an integer as wide as the angle
  Vec angle;
  std::optional<Vec> tail; // what the angle's rounding took
};

/// For x >= 0 of type double.
ReducedAngle reduceDouble(Vec x) {
  Rounded n = roundScaled(x, twoOverPi);
  Vec head = fma(-n.number, halfPi0, x);
  Pair product = exactProduct(n.number, x.splat(halfPi1));
  Pair angle = exactSum(head, -product.head);
  Vec rest = fma(-n.number, halfPi2, angle.tail - product.tail);
  Pair sum = exactSum(angle.head, rest);
  // Where n is too large to be exact there are no digits left of the angle.
  Vec lost = sum.head.abs() > 0.8;
  Vec zero = x.splat(0);
  return {n.bits, select(lost, zero, sum.head), select(lost, zero, sum.tail)};
}

/// For x >= 0 of type float: in double, two parts of pi / 2 are plenty.
ReducedAngle reduceFloat(Vec single) {
  Vec x = single.toDouble();
  Rounded n = roundScaled(x, twoOverPi);
  Vec angle = fma(-n.number, halfPi0, x);
  angle = fma(-n.number, halfPi1, angle);
  angle = select(angle.abs() > 0.8, x.splat(0), angle);
  return {n.bits.toInt32(), angle.toFloat(), std::nullopt};
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

/// sin(x + quarterTurns * pi / 2) for x >= 0.
Vec sinOfTurned(Vec x, int quarterTurns) {
  ReducedAngle a = x.isWide() ? reduceDouble(x) : reduceFloat(x);
  Vec z = (a.angle * a.angle).named("z");
  Vec quadrant = a.quadrant.addInt(a.quadrant.splatInt(quarterTurns));
  Vec odd = (quadrant & quadrant.splatInt(1)).isNotZero().named("isOdd");
  Vec result = select(odd, cosOf(a, z), sinOf(a, z));
  // Bit 1 of the quadrant becomes the sign.
  return result.withSign((quadrant << x.pick(30, 62)).number().sign());
}

} // namespace

Vec sin(Vec x) { return sinOfTurned(x.abs(), 0).withSign(x.sign()); }

Vec cos(Vec x) { return sinOfTurned(x.abs(), 1); }

} // namespace dl::formula
