#pragma once
// Signs, extremes and distances: a line or two of other functions.
#include "rounding.h"
#include "statistics.h"
#include "trigonometry.h"

namespace dl {

/// Also of -0. (Of NaN it is false.)
inline Tensor Tensor::signbit() const {
  detail::Called called("signbit");
  if (!is_floating_point())
    return lt(0);
  return detail::with_sign(*this).lt(0);
}
/// |x| with the sign of y.
inline Tensor Tensor::copysign(const Operand &y) const {
  detail::Called called("copysign");
  Tensor negative = detail::as_tensor(y).signbit();
  return dl::where(negative.logical_xor(signbit()), neg(), *this);
}
/// x 2^y.
inline Tensor Tensor::ldexp(const Operand &y) const {
  detail::Called called("ldexp");
  return mul(detail::as_tensor(y).exp2());
}
/// The other one where one is NaN.
inline Tensor Tensor::fmax(const Operand &y) const {
  detail::Called called("fmax");
  Tensor other = detail::as_tensor(y);
  return dl::where(isnan(), other,
                   dl::where(other.isnan(), *this, maximum(other)));
}
inline Tensor Tensor::fmin(const Operand &y) const {
  detail::Called called("fmin");
  Tensor other = detail::as_tensor(y);
  return dl::where(isnan(), other,
                   dl::where(other.isnan(), *this, minimum(other)));
}
inline Tensor Tensor::deg2rad() const {
  return mul(3.14159265358979323846 / 180);
}
inline Tensor Tensor::rad2deg() const {
  return mul(180 / 3.14159265358979323846);
}
inline Tensor Tensor::dist(Tensor other, double p) const {
  detail::Called called("dist");
  return sub(other).norm(p);
}
/// A boolean tensor, where PyTorch gives a bool: a value of the step.
inline Tensor Tensor::equal(Tensor other) const {
  detail::Called called("equal");
  if (sizes() != other.sizes())
    return full({}, false, kBool);
  return eq(other).all();
}
inline Tensor Tensor::allclose(Tensor other, double rtol, double atol) const {
  detail::Called called("allclose");
  return isclose(other, rtol, atol).all();
}

#define DL_FUNCTION(op)                                                        \
  inline Tensor op(Tensor x) { return x.op(); }
DL_FUNCTION(signbit)
DL_FUNCTION(deg2rad)
DL_FUNCTION(rad2deg)
#undef DL_FUNCTION
#define DL_FUNCTION(op)                                                        \
  inline Tensor op(Tensor x, const Operand &y) { return x.op(y); }
DL_FUNCTION(copysign)
DL_FUNCTION(ldexp)
DL_FUNCTION(fmax)
DL_FUNCTION(fmin)
#undef DL_FUNCTION
inline Tensor dist(Tensor x, Tensor y, double p = 2) { return x.dist(y, p); }
inline Tensor equal(Tensor x, Tensor y) { return x.equal(y); }
inline Tensor allclose(Tensor x, Tensor y, double rtol = 1e-5,
                       double atol = 1e-8) {
  return x.allclose(y, rtol, atol);
}

} // namespace dl
