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

/// By squaring what Taylor's series gives of a part of it, as often as its norm
/// asks for (Higham, "Functions of Matrices", 10.3). NaN where 2^10 parts are
/// not enough: beyond a norm of 1000.
inline Tensor Tensor::matrix_exp() const {
  detail::Called called("matrix_exp");
  if (dim() < 2 || size(-1) != size(-2) || !is_floating_point())
    detail::fail("matrix_exp: the last two dims are those of a square matrix "
                 "of floats, got {}",
                 sizes());
  constexpr int kSquarings = 10;
  // What 18 terms are enough for.
  double most = dl_float_is_double() ? 1.09 : 3.01;
  Tensor size = detach().abs().sum(-2, true).amax(-1, true);
  Tensor squarings = zeros_like(size), part = ones_like(size);
  for (int i = 0; i < kSquarings; ++i) {
    Tensor isMore = size.gt(most * static_cast<double>(1 << i));
    squarings = squarings + isMore.to(kFloat);
    part = dl::where(isMore, part * 0.5, part);
  }
  part = dl::where(size.gt(most * (1 << kSquarings)), __builtin_nan(""), part);
  constexpr int kPowers = 6;
  Tensor powers[kPowers + 1] = {linalg::detail::unit(*this), *this * part};
  for (int i = 2; i <= kPowers; ++i)
    powers[i] = powers[i / 2].matmul(powers[i - i / 2]);
  double factorials[3 * kPowers + 1] = {1};
  for (int i = 1; i <= 3 * kPowers; ++i)
    factorials[i] = factorials[i - 1] * i;
  Tensor sum; // by Horner's rule in the sixth power
  for (int j = 3; j-- > 0;) {
    sum = sum.defined() ? powers[kPowers].matmul(sum)
                        : powers[kPowers] / factorials[3 * kPowers];
    for (int i = kPowers; i-- > 0;)
      sum = sum + powers[i] / factorials[j * kPowers + i];
  }
  for (int i = 0; i < kSquarings; ++i)
    sum = dl::where(squarings.gt(i), sum.matmul(sum), sum);
  return sum;
}
namespace linalg {
inline Tensor matrix_exp(Tensor a) { return a.matrix_exp(); }
inline Tensor matrix_power(Tensor a, i64 n) { return a.matrix_power(n); }
/// The product of all, in the order that multiplies least; the first and the
/// last may be vectors.
inline Tensor multi_dot(const TensorList &tensors) {
  detail::Called called("linalg.multi_dot");
  int n = tensors.size();
  constexpr int kMost = 64;
  if (n < 2 || n > kMost)
    detail::fail("multi_dot: {} tensors; 2 to {} are wanted", n, kMost);
  TensorList product;
  double size[kMost + 1], cost[kMost][kMost]{};
  int split[kMost][kMost]{};
  for (int i = 0; i < n; ++i) {
    Tensor x = tensors[i];
    if (x.dim() == 1 && (i == 0 || i == n - 1))
      x = x.unsqueeze(i == 0 ? 0 : 1);
    if (x.dim() != 2)
      detail::fail("multi_dot: tensor {} is {}; matrices are wanted", i,
                   tensors[i].sizes());
    size[i] = static_cast<double>(x.size(0));
    size[i + 1] = static_cast<double>(x.size(1));
    product.push_back(x);
  }
  for (int length = 2; length <= n; ++length)
    for (int i = 0; i + length <= n; ++i) {
      int last = i + length - 1;
      for (int k = i; k < last; ++k) {
        double sum = cost[i][k] + cost[k + 1][last] +
                     size[i] * size[k + 1] * size[last + 1];
        if (k == i || sum < cost[i][last])
          cost[i][last] = sum, split[i][last] = k;
      }
    }
  auto multiply = [&](const auto &self, int i, int last) -> Tensor {
    int k = split[i][last];
    return i == last ? product[i]
                     : self(self, i, k).matmul(self(self, k + 1, last));
  };
  Tensor result = multiply(multiply, 0, n - 1);
  if (tensors[n - 1].dim() == 1)
    result = result.squeeze(1);
  return tensors[0].dim() == 1 ? result.squeeze(0) : result;
}
} // namespace linalg
using linalg::matrix_exp;
using linalg::matrix_power;

inline Tensor Tensor::inverse() const { return linalg::inv(*this); }
inline Tensor Tensor::det() const { return linalg::det(*this); }
inline Tensor Tensor::logdet() const { return dl::logdet(*this); }
inline Tensor Tensor::cholesky() const { return linalg::cholesky(*this); }
} // namespace dl
