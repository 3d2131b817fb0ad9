#pragma once
// Elementwise ops that keep integers, as PyTorch does.
#include "lists.h"

namespace dl {

namespace detail {

/// A tensor of integers or booleans.
inline bool is_whole(const Operand &x) {
  return x.kind == DL_PROMOTED && dl_dtype_of(x.tensor) > DL_FLOAT64;
}
inline Tensor tensor_of(const Operand &x) {
  Tensor result;
  result.id = x.tensor;
  return result;
}

inline Tensor power_of_integers(Tensor base, i64 exponent) {
  if (exponent < 0)
    fail("pow: integers have no negative powers, got {}; use "
         ".to(dl::kFloat)",
         exponent);
  base = base.dtype() == kBool ? base.to(kInt64) : base;
  if (exponent == 0)
    return base.mul(0).add(1);
  while (exponent % 2 == 0) {
    base = base.square();
    exponent /= 2;
  }
  Tensor result = copied(base);
  while (exponent /= 2) {
    base = base.square();
    if (exponent % 2)
      result = result.mul(base);
  }
  return result;
}
} // namespace detail

inline Tensor sign(const Operand &x) {
  detail::Called called("sign");
  if (!detail::is_whole(x))
    return detail::elementwise("sign", x);
  Tensor positive = detail::elementwise("gt", x, 0);
  Tensor negative = detail::elementwise("lt", x, 0);
  Tensor difference = positive.to(kInt64) - negative.to(kInt64);
  return difference.to(detail::tensor_of(x).dtype());
}
inline Tensor floor(const Operand &x) {
  detail::Called called("floor");
  return detail::is_whole(x) ? detail::copied(detail::tensor_of(x))
                             : detail::elementwise("floor", x);
}
inline Tensor relu(const Operand &x) {
  detail::Called called("relu");
  return detail::is_whole(x) ? detail::elementwise("maximum", x, 0)
                                   .to(detail::tensor_of(x).dtype())
                             : detail::elementwise("relu", x);
}
#define DL_METHOD(op)                                                          \
  inline Tensor Tensor::op() const { return dl::op(*this); }
DL_INTEGER_UNARY_OPS(DL_METHOD)
#undef DL_METHOD

/// Of two plain numbers: a plain number.
template <detail::Number A, detail::Number B> double pow(A base, B exponent) {
  return __builtin_pow(static_cast<double>(base),
                       static_cast<double>(exponent));
}
inline Tensor pow(const Operand &base, const Operand &exponent) {
  detail::Called called("pow");
  bool number = exponent.kind == DL_INT_SCALAR;
  if (detail::is_whole(base) && number)
    return detail::power_of_integers(detail::tensor_of(base), exponent.integer);
  if ((detail::is_whole(base) || base.kind == DL_INT_SCALAR) &&
      (detail::is_whole(exponent) || number))
    detail::unsupported("pow: integers with a tensor of exponents: not in this "
                        "version; use .to(dl::kFloat)");
  return detail::elementwise("pow", base, exponent);
}
inline Tensor Tensor::pow(const Operand &exponent) const {
  return dl::pow(*this, exponent);
}

} // namespace dl
