#pragma once
// torch.special: what consists of many ops.
#include "composed.h"
#include "scans.h"
#include "trigonometry.h"

namespace dl {

namespace detail {

/// log Gamma for x >= 8: Stirling's series, to 1e-15 of it (Abramowitz and
/// Stegun 6.1.41).
inline Tensor stirling(const Tensor &x) {
  Tensor inverse = 1.0 / x, square = inverse.square();
  Tensor series = square * (1.0 / 156) - 691.0 / 360360;
  for (double term :
       {1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12})
    series = series * square + term;
  constexpr double kHalfLog2Pi = 0.91893853320467274178;
  return (x - 0.5) * x.log() - x + kHalfLog2Pi + series * inverse;
}
/// Its derivative, for x >= 8 (6.3.18).
inline Tensor digamma_series(const Tensor &x) {
  Tensor inverse = 1.0 / x, square = inverse.square();
  Tensor series = square * (-1.0 / 12) + 691.0 / 32760;
  for (double term : {-1.0 / 132, 1.0 / 240, -1.0 / 252, 1.0 / 120, -1.0 / 12})
    series = series * square + term;
  return x.log() - 0.5 * inverse + series * square;
}
inline constexpr int kShift = 8;
/// How far x is from the integer below it, where the reflection needs it.
inline Tensor beyond_floor(const Tensor &x, const Tensor &isLow) {
  return dl::where(isLow, x - x.detach().floor(), 0.5);
}
} // namespace detail

/// log |Gamma(x)|: of small x by that of x + 8, below 0.5 by the reflection.
inline Tensor Tensor::lgamma() const {
  detail::Called called("lgamma");
  Tensor x = mul(1.0), isLow = x.lt(0.5);
  Tensor y = dl::where(isLow, 1.0 - x, x), isSmall = y.lt(detail::kShift);
  Tensor small = dl::where(isSmall, y, 1.0), product = small;
  for (int k = 1; k < detail::kShift; ++k)
    product = product * (small + double(k));
  Tensor high =
      detail::stirling(dl::where(isSmall, y + double(detail::kShift), y)) -
      dl::where(isSmall, product, 1.0).log();
  Tensor sine = detail::beyond_floor(x, isLow).mul(detail::kPi).sin();
  return dl::where(isLow, (detail::kPi / sine).log() - high, high);
}

/// The derivative of log Gamma(x).
inline Tensor Tensor::digamma() const {
  detail::Called called("digamma");
  Tensor x = mul(1.0), isLow = x.lt(0.5);
  Tensor y = dl::where(isLow, 1.0 - x, x), isSmall = y.lt(detail::kShift);
  Tensor small = dl::where(isSmall, y, 1.0), sum = 1.0 / small;
  for (int k = 1; k < detail::kShift; ++k)
    sum = sum + 1.0 / (small + double(k));
  Tensor high =
      detail::digamma_series(dl::where(isSmall, y + double(detail::kShift), y));
  high = dl::where(isSmall, high - sum, high);
  Tensor angle = detail::beyond_floor(x, isLow).mul(detail::kPi);
  return dl::where(isLow, high - detail::kPi * angle.cos() / angle.sin(), high);
}

/// A rational approximation and two of Newton's steps, as in PyTorch.
inline Tensor Tensor::erfinv() const {
  detail::Called called("erfinv");
  Tensor y = mul(1.0), size = y.detach().abs();
  Tensor isOut = size.ge(1.0), isFar = size.gt(0.7);
  Tensor inner = dl::where(isFar, 0.0, y), z = inner.square();
  Tensor near =
      inner *
      (((z * -0.140543331 + 0.914624893) * z - 1.645349621) * z + 0.886226899) /
      ((((z * 0.012229801 - 0.329097515) * z + 1.442710462) * z - 2.118377725) *
           z +
       1.0);
  Tensor outer = dl::where(isFar.logical_and(isOut.logical_not()), y, 0.75);
  z = (((1.0 - outer.abs()) * 0.5).log().neg()).sqrt();
  Tensor far =
      outer.sign() *
      (((z * 1.641345311 + 3.429567803) * z - 1.624906493) * z - 1.970840454) /
      ((z * 1.637067800 + 3.543889200) * z + 1.0);
  Tensor x = dl::where(isFar, far, near), inside = dl::where(isOut, 0.0, y);
  x = dl::where(isOut, 0.0, x);
  constexpr double kTwoOverRootPi = 1.12837916709551257390;
  for (int step = 0; step < 2; ++step)
    x = x - (x.erf() - inside) / (kTwoOverRootPi * x.square().neg().exp());
  Tensor edge =
      dl::where(size.eq(1.0), y.detach() * __builtin_inf(), __builtin_nan(""));
  return dl::where(isOut, edge, x);
}

inline Tensor lgamma(Tensor x) { return x.lgamma(); }
inline Tensor digamma(Tensor x) { return x.digamma(); }
inline Tensor erfinv(Tensor x) { return x.erfinv(); }

namespace special {
using dl::digamma, dl::erf, dl::erfinv, dl::exp2, dl::expm1, dl::log1p;
using dl::log_softmax, dl::logit, dl::logsumexp, dl::sinc, dl::softmax;
using dl::xlogy;
inline Tensor expit(Tensor x) { return x.sigmoid(); }
inline Tensor gammaln(Tensor x) { return x.lgamma(); }
inline Tensor psi(Tensor x) { return x.digamma(); }
/// -x log(x): 0 at 0, and -inf below.
inline Tensor entr(Tensor x) {
  detail::Called called("special.entr");
  return where(x.lt(0), -inf, x.xlogy(x).neg());
}
/// x log(1 + y), and 0 where x is.
inline Tensor xlog1py(Tensor x, const Operand &y) {
  detail::Called called("special.xlog1py");
  Tensor other = dl::detail::as_tensor(y);
  Tensor border = other.le(-1).logical_or(other.eq(inf));
  return x * where(x.eq(0).logical_and(border), 0.0, other).log1p();
}
/// The share of a normal distribution that is below.
inline Tensor ndtr(Tensor x) {
  detail::Called called("special.ndtr");
  return ((x * 0.70710678118654752440).erf() + 1.0) * 0.5;
}
} // namespace special

} // namespace dl
