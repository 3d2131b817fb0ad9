#pragma once
// Eigenvalues and singular values by rotations that are unrolled: Jacobi's
// methods, of all pairs of columns that have nothing in common at once (Golub
// and Van Loan, "Matrix Computations", 8.5 and 8.6.3).
#include "linalg.h"

namespace dl::linalg::detail {

inline constexpr i64 kMostRotated = 32;
/// Of all pairs; more than enough for that many columns.
inline i64 sweeps() { return dl_float_is_double() ? 10 : 8; }

/// The columns in another order: [..., m, n] by [..., n].
inline Tensor reordered(const Tensor &a, const Tensor &order) {
  return a.take_along_dim(order.unsqueeze(-2), -1);
}

/// Cosine and sine that make `mixed` 0 of [[first, mixed], [mixed, second]].
struct Rotation {
  Tensor cosine, sine;
  Rotation(const Tensor &first, const Tensor &second, const Tensor &mixed) {
    Tensor none = mixed.eq(0),
           slope = (second - first) / (where(none, 1.0, mixed) * 2.0);
    Tensor tangent = where(slope.lt(0), -1.0, 1.0) /
                     (slope.abs() + (slope.square() + 1.0).sqrt());
    tangent = where(none, 0.0, tangent);
    cosine = (tangent.square() + 1.0).rsqrt();
    sine = tangent * cosine;
  }
  /// Column i of the first half with column i of the second; then they change
  /// partners, as the teams of a league, and after n - 1 rounds each stands
  /// where it began.
  Tensor columns(const Tensor &a) const {
    i64 half = a.size(-1) / 2;
    Tensor c = cosine.unsqueeze(-2), s = sine.unsqueeze(-2);
    Tensor left = a.narrow(-1, 0, half), right = a.narrow(-1, half, half);
    Tensor first = left * c - right * s, second = left * s + right * c;
    if (half == 1)
      return cat({first, second}, -1);
    TensorList next{first.narrow(-1, 0, 1), second.narrow(-1, 0, 1)};
    if (half > 2)
      next.push_back(first.narrow(-1, 1, half - 2));
    next.push_back(second.narrow(-1, 1, half - 1));
    next.push_back(first.narrow(-1, half - 1, 1));
    return cat(next, -1);
  }
};

/// Of a symmetric matrix: values in ascending order, vectors in columns.
inline Tensors<2> rotated_symmetric(const Tensor &a) {
  i64 n = a.size(-1), even = n + n % 2, half = even / 2;
  Tensor lower = tril(a), all = lower + tril(a, -1).mT();
  Tensor vectors = unit(all);
  if (even != n) { // a row and a column of 0, which no rotation touches
    all = nn::functional::pad(all, {0, 1, 0, 1});
    vectors = nn::functional::pad(vectors, {0, 1});
  }
  for (i64 round = 0; n > 1 && round < sweeps() * (even - 1); ++round) {
    Tensor values = all.diagonal(0, -2, -1);
    Rotation rotation(
        values.narrow(-1, 0, half), values.narrow(-1, half, half),
        all.narrow(-2, 0, half).narrow(-1, half, half).diagonal(0, -2, -1));
    all = rotation.columns(rotation.columns(all).mT()).mT();
    vectors = rotation.columns(vectors);
  }
  Tensor values = all.diagonal(0, -2, -1).narrow(-1, 0, n);
  auto sorted = values.sort(-1);
  return {sorted.values, reordered(vectors.narrow(-1, 0, n), sorted.indices)};
}

/// Of a matrix with no more columns than rows (Hestenes): U, S and V, with
/// columns of 0 in U where S is, so that a singular value of 0 has a gradient
/// of 0, one of those that it can have.
inline Tensors<3> rotated_tall(const Tensor &a) {
  i64 n = a.size(-1), even = n + n % 2, half = even / 2;
  Tensor largest = a.abs().amax({-2, -1}, true);
  largest = where(largest.eq(0), 1.0, largest);
  Tensor all = a / largest; // whose squares have room
  Tensor vectors = zeros_like(all.narrow(-2, 0, n)) + eye(n).to(a.dtype());
  if (even != n) {
    all = nn::functional::pad(all, {0, 1});
    vectors = nn::functional::pad(vectors, {0, 1});
  }
  for (i64 round = 0; n > 1 && round < sweeps() * (even - 1); ++round) {
    Tensor left = all.narrow(-1, 0, half), right = all.narrow(-1, half, half);
    Rotation rotation(left.square().sum(-2), right.square().sum(-2),
                      (left * right).sum(-2));
    all = rotation.columns(all);
    vectors = rotation.columns(vectors);
  }
  all = all.narrow(-1, 0, n);
  auto sorted = all.square().sum(-2).sqrt().sort(-1, true);
  Tensor sizes = sorted.values.unsqueeze(-2);
  Tensor u = reordered(all, sorted.indices) / where(sizes.eq(0), 1.0, sizes);
  return {u, sorted.values * largest.squeeze(-1),
          reordered(vectors.narrow(-1, 0, n), sorted.indices)};
}
inline Tensors<3> rotated(const Tensor &a) {
  if (a.size(-2) >= a.size(-1))
    return rotated_tall(a);
  auto [v, s, u] = rotated_tall(a.mT());
  return {u, s, v};
}

} // namespace dl::linalg::detail
