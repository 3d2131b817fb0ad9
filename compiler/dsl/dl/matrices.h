#pragma once
// What small matrices give, of dl::linalg or made of it, as functions and
// methods.
#include "linalg.h"

namespace dl {
using linalg::cholesky;
using linalg::det;
using linalg::slogdet;
inline Tensor inverse(Tensor a) { return linalg::inv(a); }
/// X of A X = B, by the factor of A: cholesky(A), or its transpose.
inline Tensor cholesky_solve(const Tensor &b, const Tensor &l,
                             bool upper = false) {
  detail::Called called("cholesky_solve");
  Tensor low = upper ? l.mT() : l;
  return linalg::solve_triangular(low.mT(), linalg::solve_triangular(low, b),
                                  {.upper = true});
}
inline Tensor cholesky_inverse(const Tensor &l, bool upper = false) {
  detail::Called called("cholesky_inverse");
  return cholesky_solve(eye(l.size(-1)), l, upper);
}
inline Tensor logdet(Tensor a) {
  auto [sign, logabsdet] = linalg::slogdet(a);
  return where(sign.lt(0), __builtin_nan(""), logabsdet);
}

/// By squaring; of a negative n that of the inverse.
inline Tensor Tensor::matrix_power(i64 n) const {
  detail::Called called("matrix_power");
  linalg::detail::rows_of("matrix_power", *this);
  Tensor square = n < 0 ? linalg::inv(*this) : *this, power;
  for (i64 left = n < 0 ? -n : n; left; left /= 2) {
    if (left % 2)
      power = power.defined() ? power.matmul(square) : square;
    if (left > 1)
      square = square.matmul(square);
  }
  return power.defined() ? power
                         : zeros_like(*this) + eye(size(-1)).to(dtype());
}
namespace linalg {
inline Tensor matrix_power(Tensor a, i64 n) { return a.matrix_power(n); }
} // namespace linalg
using linalg::matrix_power;

inline Tensor Tensor::inverse() const { return linalg::inv(*this); }
inline Tensor Tensor::det() const { return linalg::det(*this); }
inline Tensor Tensor::logdet() const { return dl::logdet(*this); }
inline Tensor Tensor::cholesky() const { return linalg::cholesky(*this); }
} // namespace dl
