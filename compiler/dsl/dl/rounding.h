#pragma once
// Functions of elements and of a few tensors that consist of other ops.
#include "create.h"

namespace dl {

namespace detail {
/// exp(x) - 1 for x that are at most 1: near 0, where that has no digits left,
/// tanh(x/2) (exp(x) + 1).
inline Tensor expm1_to_1(const Tensor &x) {
  Tensor power = x.exp();
  return dl::where(x.lt(-1.0), power - 1.0, x.mul(0.5).tanh() * (power + 1.0));
}
} // namespace detail

inline Tensor Tensor::expm1() const {
  detail::Called called("expm1");
  Tensor large = gt(1.0);
  return dl::where(large, dl::where(large, *this, 1.0).exp() - 1.0,
                   detail::expm1_to_1(dl::where(large, 0.0, *this)));
}
inline Tensor Tensor::exp2() const {
  detail::Called called("exp2");
  return mul(0.6931471805599453).exp();
}
inline Tensor Tensor::log2() const {
  detail::Called called("log2");
  return log().mul(1.4426950408889634);
}
inline Tensor Tensor::log10() const {
  detail::Called called("log10");
  return log().mul(0.4342944819032518);
}
inline Tensor Tensor::ceil() const {
  detail::Called called("ceil");
  return is_floating_point() ? neg().floor().neg() : detail::copied(*this);
}
inline Tensor Tensor::trunc() const {
  detail::Called called("trunc");
  return is_floating_point() ? dl::where(lt(0), ceil(), floor())
                             : detail::copied(*this);
}
inline Tensor Tensor::frac() const {
  detail::Called called("frac");
  return *this - trunc();
}
/// To the nearest whole number, of two to the even one; -0.2 to -0.
inline Tensor Tensor::round() const {
  detail::Called called("round");
  if (!is_floating_point())
    return detail::copied(*this);
  Tensor low = floor(), rest = *this - low;
  Tensor odd = (low - low.mul(0.5).floor() * 2.0).eq(1.0);
  Tensor up = rest.gt(0.5).logical_or(rest.eq(0.5).logical_and(odd));
  return dl::where(up, (low.neg() - 1.0).neg(), low);
}
/// To so many digits behind the point; of -2, to hundreds.
inline Tensor Tensor::round(i64 decimals) const {
  detail::Called called("round");
  if (decimals < -300 || decimals > 300)
    detail::fail("round: decimals = {}; from -300 to 300 is wanted", decimals);
  if (!is_floating_point() && decimals)
    detail::fail("round: decimals = {} of integers; floats are wanted",
                 decimals);
  double ten = 1;
  for (i64 i = decimals < 0 ? -decimals : decimals; i > 0; --i)
    ten *= 10;
  return decimals < 0 ? (*this / ten).round() * ten
         : decimals   ? (*this * ten).round() / ten
                      : round();
}
inline Tensor Tensor::isnan() const {
  detail::Called called("isnan");
  return ne(*this);
}
inline Tensor Tensor::isinf() const {
  detail::Called called("isinf");
  return is_floating_point() ? abs().eq(__builtin_inf()) : ne(*this);
}
inline Tensor Tensor::isfinite() const {
  detail::Called called("isfinite");
  return is_floating_point() ? abs().lt(__builtin_inf()) : eq(*this);
}
#define DL_FUNCTION(op)                                                        \
  inline Tensor op(Tensor x) { return x.op(); }
DL_COMPOSED_OPS(DL_FUNCTION)
#undef DL_FUNCTION
inline Tensor round(Tensor x, i64 decimals) { return x.round(decimals); }
inline Tensor round(Tensor x, const RoundOptions &o) { return x.round(o); }

inline Tensor Tensor::logical_xor(Tensor other) const {
  detail::Called called("logical_xor");
  return detail::truth(*this).ne(detail::truth(other));
}
/// *this + weight * (end - *this).
inline Tensor Tensor::lerp(Tensor end, const Operand &weight) const {
  detail::Called called("lerp");
  // From the nearer end, as PyTorch has it: with infinite ones it matters.
  if (weight.kind == DL_FLOAT_SCALAR && weight.number >= 0.5)
    return end - (end - *this) * (1 - weight.number);
  return *this + (end - *this) * weight;
}
/// posinf and neginf are the greatest and the least number of the type, unless
/// given.
inline Tensor Tensor::nan_to_num(double nan,
                                 const detail::OptionalOperand &posinf,
                                 const detail::OptionalOperand &neginf) const {
  detail::Called called("nan_to_num");
  double most = dl_float_is_double() ? 0x1.fffffffffffffp1023 : 0x1.fffffep127;
  Operand high = most, low = -most;
  if (posinf.given)
    high = posinf;
  if (neginf.given)
    low = neginf;
  Tensor x = dl::where(ne(*this), nan, *this);
  x = dl::where(eq(__builtin_inf()), high, x);
  return dl::where(eq(-__builtin_inf()), low, x);
}
inline Tensor logical_xor(Tensor a, Tensor b) { return a.logical_xor(b); }
inline Tensor lerp(Tensor x, Tensor end, const Operand &weight) {
  return x.lerp(end, weight);
}
inline Tensor nan_to_num(Tensor x, double nan = 0,
                         const detail::OptionalOperand &posinf = {},
                         const detail::OptionalOperand &neginf = {}) {
  return x.nan_to_num(nan, posinf, neginf);
}

/// x + value * a * b.
inline Tensor addcmul(Tensor x, Tensor a, Tensor b, ScaledOptions o = {}) {
  detail::Called called("addcmul");
  return x + a * b * o.value;
}
/// x + value * a / b.
inline Tensor addcdiv(Tensor x, Tensor a, Tensor b, ScaledOptions o = {}) {
  detail::Called called("addcdiv");
  return x + a / b * o.value;
}
template <detail::Number T>
Tensor addcmul(Tensor x, Tensor a, Tensor b, T value) {
  return addcmul(x, a, b, ScaledOptions{static_cast<double>(value)});
}
template <detail::Number T>
Tensor addcdiv(Tensor x, Tensor a, Tensor b, T value) {
  return addcdiv(x, a, b, ScaledOptions{static_cast<double>(value)});
}

/// As in PyTorch the gradient of a 2-norm of zeros is 0.
inline Tensor Tensor::norm(double p, const Dims &dims, bool keepdim) const {
  detail::Called called("norm");
  // The root of nothing has a gradient of 0, as in PyTorch.
  auto root = [&](Tensor sum) {
    Tensor none = sum.eq(0.0), some = dl::where(none, 1.0, sum);
    return dl::where(none, 0.0, p == 2 ? some.sqrt() : some.pow(1 / p));
  };
  if (p == 2)
    return root(square().sum(dims, keepdim));
  Tensor sizes = abs();
  if (p == 1)
    return sizes.sum(dims, keepdim);
  if (p == __builtin_inf())
    return sizes.amax(dims, keepdim);
  if (p == -__builtin_inf())
    return sizes.amin(dims, keepdim);
  if (p == 0)
    return ne(0.0).to(kFloat).sum(dims, keepdim);
  if (p > 0 && p < 1) { // and so has that of a zero here
    Tensor none = sizes.eq(0.0);
    sizes = dl::where(none, 0.0, dl::where(none, 1.0, sizes).pow(p));
  } else {
    sizes = sizes.pow(p);
  }
  Tensor sum = sizes.sum(dims, keepdim);
  return p > 1 ? root(sum) : sum.pow(1 / p);
}
inline Tensor Tensor::norm(double p) const {
  return norm(p, Dims(list<i64>{}), false);
}
inline Tensor norm(Tensor x, double p = 2) { return x.norm(p); }
inline Tensor norm(Tensor x, double p, const Dims &dims, bool keepdim = false) {
  return x.norm(p, dims, keepdim);
}
inline Tensor norm(Tensor x, double p, const Dims &dims, ReduceOptions o) {
  return x.norm(p, dims, o);
}
inline Tensor norm(Tensor x, NormOptions options) { return x.norm(options); }

/// Slices along a dim whose p-norm is more than maxnorm become as long as that.
inline Tensor Tensor::renorm(double p, i64 dim, double maxnorm) const {
  detail::Called called("renorm");
  Shape from = sizes();
  i64 at = detail::wrap("renorm", dim, from.rank, from);
  if (from.rank < 2 || !(p > 0) || !(maxnorm >= 0))
    detail::fail("renorm: p = {}, maxnorm = {} of {}; a norm above 0, a length "
                 "of at least 0 and slices of numbers are wanted",
                 p, maxnorm, from);
  Dims others(list<i64>{});
  for (i64 i = 0; i < from.rank; ++i)
    if (i != at)
      others.push_back(i);
  Tensor size = norm(p, others, true), isLong = size.gt(maxnorm);
  return *this *
         dl::where(isLong, maxnorm / (dl::where(isLong, size, 1.0) + 1e-7), 1);
}
inline Tensor renorm(Tensor x, double p, i64 dim, double maxnorm) {
  return x.renorm(p, dim, maxnorm);
}

inline Tensor Tensor::any(const Dims &dims, bool keepdim) const {
  detail::Called called("any");
  return detail::amax("any", detail::truth(*this), dims, keepdim);
}
inline Tensor Tensor::all(const Dims &dims, bool keepdim) const {
  detail::Called called("all");
  return detail::amin("all", detail::truth(*this), dims, keepdim);
}
inline Tensor Tensor::any() const { return any(Dims(list<i64>{})); }
inline Tensor Tensor::all() const { return all(Dims(list<i64>{})); }
#define DL_FUNCTION(any)                                                       \
  inline Tensor any(Tensor x) { return x.any(); }                              \
  inline Tensor any(Tensor x, const Dims &dims, bool keepdim = false) {        \
    return x.any(dims, keepdim);                                               \
  }
DL_FUNCTION(any)
DL_FUNCTION(all)
#undef DL_FUNCTION

} // namespace dl
