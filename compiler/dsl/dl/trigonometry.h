#pragma once
// Angles, and the functions of hyperbolas. In f64 they are exact to some units
// in the last place; of no number that is in their range a gradient is NaN.
#include "bitwise.h"
#include "rounding.h"

namespace dl {

namespace detail {
/// The arc tangent of t in [-1, 1]: twice that of t / (1 + sqrt(1 + t^2)),
/// until the angle is so small that twelve terms of the series are enough.
inline Tensor small_arctangent(Tensor t) {
  for (int i = 0; i < 2; ++i)
    t = t / ((t * t + 1.0).sqrt() + 1.0);
  Tensor square = t * t, sum = full_like(t, 1.0 / 23);
  for (int n = 21; n > 0; n -= 2)
    sum = 1.0 / n - square * sum;
  return t * sum * 4.0;
}
inline constexpr double kPi = 3.141592653589793;
/// x or, of an x of 0, what tells +0 from -0.
inline Tensor with_sign(const Tensor &x) {
  return where(x.eq(0), 1.0 / x, x).detach();
}
} // namespace detail

/// The angle of the point (x, *this), in [-pi, pi]: -pi and pi beside the
/// negative axis, by the sign of a zero. The origin has no gradient.
inline Tensor Tensor::atan2(const Operand &other) const {
  detail::Called called("atan2");
  Tensor y = mul(1.0), x = detail::as_tensor(other).mul(1.0);
  Tensor steep = y.abs() > x.abs();
  Tensor below = dl::where(steep, y, x);
  Tensor above = dl::where(steep, x, y), origin = above.eq(0) & below.eq(0);
  Tensor t = dl::where(origin, above.detach(), above) /
             dl::where(below.eq(0), 1.0, below);
  Tensor angle = detail::small_arctangent(t);
  Tensor isLow = detail::with_sign(y).lt(0),
         isLeft = detail::with_sign(x).lt(0);
  Tensor half = dl::where(isLow, -detail::kPi / 2, detail::kPi / 2);
  Tensor left = dl::where(isLeft, half * 2.0, half * 0.0);
  return dl::where(steep, half - angle, left + angle);
}
inline Tensor atan2(Tensor y, const Operand &x) { return y.atan2(x); }

inline Tensor Tensor::atan() const {
  detail::Called called("atan");
  Tensor x = mul(1.0), steep = x.abs() > 1.0;
  Tensor angle = detail::small_arctangent(
      dl::where(steep, 1.0 / dl::where(steep, x, 1.0), x));
  Tensor half = dl::where(x.lt(0), -detail::kPi / 2, detail::kPi / 2);
  return dl::where(steep, half - angle, angle);
}
inline Tensor Tensor::asin() const {
  detail::Called called("asin");
  return atan2((1.0 - *this).sqrt() * (*this + 1.0).sqrt());
}
inline Tensor Tensor::acos() const {
  detail::Called called("acos");
  return (1.0 - *this).sqrt().atan2((*this + 1.0).sqrt()) * 2.0;
}
inline Tensor Tensor::tan() const {
  detail::Called called("tan");
  return sin() / cos();
}

/// (exp(x) - exp(-x)) / 2, near 0 as (exp(x) - 1) (1 + exp(-x)) / 2.
inline Tensor Tensor::sinh() const {
  detail::Called called("sinh");
  Tensor large = abs().gt(1.0), far = dl::where(large, *this, 1.0);
  Tensor near = dl::where(large, 0.0, *this);
  return dl::where(large, far.exp() - far.neg().exp(),
                   detail::expm1_to_1(near) * (near.neg().exp() + 1.0)) *
         0.5;
}
inline Tensor Tensor::cosh() const {
  detail::Called called("cosh");
  return (exp() + neg().exp()) * 0.5;
}
inline Tensor Tensor::atanh() const {
  detail::Called called("atanh");
  return (log1p() - neg().log1p()) * 0.5;
}
/// Near 0 the inverse tangent of x / sqrt(1 + x^2), elsewhere the logarithm.
inline Tensor Tensor::asinh() const {
  detail::Called called("asinh");
  Tensor x = mul(1.0), large = x.abs() > 1.0;
  Tensor near = dl::where(large, 0.0, x), far = dl::where(large, x, 1.0);
  Tensor size = far.abs();
  Tensor logarithm =
      size.log() + ((1.0 / (far * far) + 1.0).sqrt() + 1.0).log();
  return dl::where(large, far.sign() * logarithm,
                   (near / (near * near + 1.0).sqrt()).atanh());
}
inline Tensor Tensor::acosh() const {
  detail::Called called("acosh");
  Tensor above = *this - 1.0;
  return (above + above.sqrt() * (above + 2.0).sqrt()).log1p();
}
#define DL_FUNCTION(op)                                                        \
  inline Tensor op(Tensor x) { return x.op(); }
DL_TRIGONOMETRIC_OPS(DL_FUNCTION)
#undef DL_FUNCTION

} // namespace dl
