#pragma once
// torch.linalg: matrices as products of others, by rotations and by reflections
// (Golub and Van Loan, "Matrix Computations", 5.2).
#include "bins.h"
#include "rotations.h"

namespace dl::linalg {

namespace detail {

/// The last two dims, of floats, of which the shorter one is at most `most`.
struct Sides {
  i64 rows, columns;
  Sides(const char *what, const Tensor &a, i64 most) {
    if (a.dim() < 2 || !a.is_floating_point())
      fail("linalg.{}: a matrix of floats is wanted, got {}", what, a.sizes());
    rows = a.size(-2), columns = a.size(-1);
    if (least() > most)
      fail("linalg.{}: in this version the shorter side of a matrix is up to "
           "{}, got {}",
           what, most, a.sizes());
  }
  i64 least() const { return rows < columns ? rows : columns; }
};
inline Tensor as_diagonal(const Tensor &values) { return values.diag_embed(); }
inline Tensor unit_diagonal(const Tensor &square) {
  return eye(square.size(-1)).gt(0);
}
/// x / y, and 0 where x is: what the loss does not use has a gradient of 0,
/// whatever it is divided by.
inline Tensor quotient(const Tensor &x, const Tensor &y) {
  Tensor none = x.eq(0);
  return where(none, 0.0, x / where(none, 1.0, y));
}
/// x - x^T, by how far b[j] is beyond b[i]; 0 on the diagonal.
inline Tensor by_gaps(const Tensor &x, const Tensor &b) {
  return quotient(x - x.mT(), b.unsqueeze(-2) - b.unsqueeze(-1));
}

struct Eigh : autograd::Function<Eigh> {
  static Tensors<2> forward(AutogradContext *ctx, Tensor a) {
    auto [values, vectors] = rotated_symmetric(a);
    ctx->save_for_backward({values, vectors});
    return {values, vectors};
  }
  static TensorList backward(AutogradContext *ctx, TensorList grads) {
    Tensor values = ctx->get_saved_variables()[0],
           vectors = ctx->get_saved_variables()[1];
    Tensor inner = by_gaps(vectors.mT().matmul(grads[1]), values) * 0.5 +
                   as_diagonal(grads[0]);
    return {vectors.matmul(inner).matmul(vectors.mT())};
  }
};
/// Without vectors, whose gaps may be 0.
struct Eigvalsh : autograd::Function<Eigvalsh> {
  static Tensor forward(AutogradContext *ctx, Tensor a) {
    auto [values, vectors] = rotated_symmetric(a);
    ctx->save_for_backward({vectors});
    return values;
  }
  static TensorList backward(AutogradContext *ctx, TensorList grads) {
    Tensor vectors = ctx->get_saved_variables()[0];
    return {(vectors * grads[0].unsqueeze(-2)).matmul(vectors.mT())};
  }
};
struct Svd : autograd::Function<Svd> {
  static Tensors<3> forward(AutogradContext *ctx, Tensor a) {
    auto [u, s, v] = rotated(a);
    ctx->save_for_backward({u, s, v});
    return {u, s, v};
  }
  static TensorList backward(AutogradContext *ctx, TensorList grads) {
    const TensorList &saved = ctx->get_saved_variables();
    Tensor u = saved[0], v = saved[2], s = saved[1].unsqueeze(-2);
    Tensor of_u = u.mT().matmul(grads[0]), of_v = v.mT().matmul(grads[2]);
    Tensor squares = saved[1].square();
    Tensor inner = by_gaps(of_u, squares) * s +
                   by_gaps(of_v, squares) * s.mT() + as_diagonal(grads[1]);
    Tensor result = u.matmul(inner).matmul(v.mT());
    if (u.size(-2) > u.size(-1)) // what u does not span
      result = result + quotient(grads[0] - u.matmul(of_u), s).matmul(v.mT());
    if (v.size(-2) > v.size(-1))
      result = result + u.matmul(quotient(grads[2] - v.matmul(of_v), s).mT());
    return {result};
  }
};
/// Without vectors: where two values are equal, too.
struct SvdVals : autograd::Function<SvdVals> {
  static Tensor forward(AutogradContext *ctx, Tensor a) {
    auto [u, s, v] = rotated(a);
    ctx->save_for_backward({u, v});
    return s;
  }
  static TensorList backward(AutogradContext *ctx, TensorList grads) {
    const TensorList &saved = ctx->get_saved_variables();
    return {(saved[0] * grads[0].unsqueeze(-2)).matmul(saved[1].mT())};
  }
};
/// Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear
/// least squares problems whose variables separate", 1973.
struct Pinv : autograd::Function<Pinv> {
  static Tensor forward(AutogradContext *ctx, Tensor a, double rtol) {
    auto [u, s, v] = rotated(a);
    Tensor counts = s.gt(s.narrow(-1, 0, 1) * rtol);
    Tensor inverse = where(counts, 1.0 / where(counts, s, 1.0), 0.0);
    Tensor result = (v * inverse.unsqueeze(-2)).matmul(u.mT());
    ctx->save_for_backward({a, result});
    return result;
  }
  static TensorList backward(AutogradContext *ctx, TensorList grads) {
    Tensor a = ctx->get_saved_variables()[0], p = ctx->get_saved_variables()[1],
           g = grads[0].mT();
    Tensor of_rows = g.matmul(p).matmul(p.mT()),
           of_columns = p.mT().matmul(p).matmul(g);
    return {of_rows - a.matmul(p).matmul(of_rows) + of_columns -
                of_columns.matmul(p).matmul(a) -
                p.mT().matmul(g.mT()).matmul(p.mT()),
            {}};
  }
};
/// By reflections, with LAPACK's signs.
struct Qr : autograd::Function<Qr> {
  static Tensors<2> forward(AutogradContext *ctx, Tensor a) {
    i64 m = a.size(-2), n = a.size(-1);
    Tensor left = a, row = arange(m).unsqueeze(-1);
    TensorList reflections, weights;
    for (i64 k = 0; k < n && k < m - 1; ++k) {
      Tensor column = left.narrow(-1, k, 1);
      Tensor head = column.narrow(-2, k, 1);
      Tensor below = where(row.gt(k), column, 0.0);
      Tensor rest = below.square().sum(-2, true), none = rest.eq(0);
      Tensor size = (head.square() + rest).sqrt();
      Tensor to = where(head.lt(0), size, size.neg());
      Tensor reflection =
          below / where(none, 1.0, head - to) + row.eq(k).to(a.dtype());
      Tensor weight = where(none, 0.0, (to - head) / where(none, 1.0, to));
      left = left - (reflection * weight).matmul(reflection.mT().matmul(left));
      reflections.push_back(reflection);
      weights.push_back(weight);
    }
    Tensor q = zeros_like(a) + eye(m, n).to(a.dtype());
    for (int k = reflections.size(); k-- > 0;)
      q = q -
          (reflections[k] * weights[k]).matmul(reflections[k].mT().matmul(q));
    Tensor r = triu(left.narrow(-2, 0, n));
    ctx->save_for_backward({q, r});
    return {q, r};
  }
  static TensorList backward(AutogradContext *ctx, TensorList grads) {
    Tensor q = ctx->get_saved_variables()[0], r = ctx->get_saved_variables()[1];
    Tensor inner = grads[1].matmul(r.mT()) - q.mT().matmul(grads[0]),
           upper = triu(inner, 1);
    Tensor both = where(unit_diagonal(inner), inner, upper + upper.mT());
    Tensor found = grads[0] + q.matmul(both);
    return {substitute(r, found.mT(), true, false).mT()};
  }
};

} // namespace detail

struct QrResult {
  Tensor Q, R;
  Tensor operator[](int i) const { return i ? R : Q; }
};
/// A = Q R, reduced: Q has as many columns as the shorter side of A, R is an
/// upper triangle. Gradients are those of matrices whose first columns are
/// independent.
inline QrResult qr(Tensor a, const char *mode = "reduced") {
  detail::Called called("linalg.qr");
  detail::Sides sides("qr", a, detail::kMostRows);
  if (!detail::equal(mode, "reduced") &&
      !(detail::equal(mode, "complete") && sides.rows <= sides.columns))
    detail::unsupported("linalg.qr: mode = \"{}\" of {}: not in this version; "
                        "\"reduced\" is",
                        mode, a.sizes());
  i64 least = sides.least();
  Tensor first = least < sides.columns ? a.narrow(-1, 0, least) : a;
  auto [q, r] = detail::Qr::apply(first);
  if (least < sides.columns)
    r = cat({r, q.mT().matmul(a.narrow(-1, least, sides.columns - least))}, -1);
  return {q, r};
}

struct EighResult {
  Tensor eigenvalues, eigenvectors;
  Tensor operator[](int i) const { return i ? eigenvectors : eigenvalues; }
};
/// Of a symmetric matrix of up to 32 rows, of which the lower triangle is read:
/// eigenvalues in ascending order, eigenvectors in columns, whose signs are
/// chance. Those of equal eigenvalues have no gradient: it is inf or NaN.
inline EighResult eigh(Tensor a, const char *uplo = "L") {
  detail::Called called("linalg.eigh");
  detail::Sides sides("eigh", a, detail::kMostRotated);
  detail::rows_of("eigh", a);
  auto [values, vectors] =
      detail::Eigh::apply(detail::equal(uplo, "U") ? a.mT() : a);
  return {values, vectors};
}
inline Tensor eigvalsh(Tensor a, const char *uplo = "L") {
  detail::Called called("linalg.eigvalsh");
  detail::Sides sides("eigvalsh", a, detail::kMostRotated);
  detail::rows_of("eigvalsh", a);
  return detail::Eigvalsh::apply(detail::equal(uplo, "U") ? a.mT() : a);
}

struct SvdResult {
  Tensor U, S, Vh;
  Tensor operator[](int i) const { return i == 0 ? U : i == 1 ? S : Vh; }
};
struct SvdOptions {
  bool full_matrices = true;
};
/// A = U diag(S) Vh, of matrices whose shorter side is up to 32, reduced: what
/// is not square says {.full_matrices = false}. S descends; signs are chance.
/// Vectors of equal values have no gradient: it is inf or NaN.
inline SvdResult svd(Tensor a, SvdOptions options = {}) {
  detail::Called called("linalg.svd");
  detail::Sides sides("svd", a, detail::kMostRotated);
  if (options.full_matrices && sides.rows != sides.columns)
    detail::unsupported("linalg.svd: full matrices of {}: not in this version; "
                        "write dl::linalg::svd(a, {.full_matrices = false})",
                        a.sizes());
  auto [u, s, v] = detail::Svd::apply(a);
  return {u, s, v.mT()};
}
template <dl::detail::Bool T> SvdResult svd(Tensor a, T full_matrices) {
  return svd(a, SvdOptions{full_matrices});
}
inline Tensor svdvals(Tensor a) {
  detail::Called called("linalg.svdvals");
  detail::Sides sides("svdvals", a, detail::kMostRotated);
  return detail::SvdVals::apply(a);
}

struct PinvOptions {
  /// Of the largest singular value; below 0: max(m, n) times the precision of
  /// floats.
  double rtol = -1;
};
/// The pseudo-inverse of Moore and Penrose.
inline Tensor pinv(Tensor a, PinvOptions options = {}) {
  detail::Called called("linalg.pinv");
  detail::Sides sides("pinv", a, detail::kMostRotated);
  double most = static_cast<double>(sides.rows > sides.columns ? sides.rows
                                                               : sides.columns);
  double rtol = options.rtol >= 0 ? options.rtol : most * finfo(a.dtype()).eps;
  return detail::Pinv::apply(a, rtol);
}

struct LstsqResult {
  Tensor solution;
};
/// The X of least |A X - B|, or of those with A X = B the least, where A has
/// full rank; else inf or NaN.
inline LstsqResult lstsq(Tensor a, Tensor b) {
  detail::Called called("linalg.lstsq");
  detail::Sides sides("lstsq", a, detail::kMostRows);
  bool is_vector = b.dim() + 1 == a.dim();
  if (is_vector)
    b = b.unsqueeze(-1);
  if (b.dim() < 2 || b.size(-2) != sides.rows)
    detail::fail("linalg.lstsq: {} rows of A, and B is {}", sides.rows,
                 b.sizes());
  Tensor x;
  if (sides.rows >= sides.columns) {
    auto [q, r] = qr(a);
    x = solve_triangular(r, q.mT().matmul(b), {.upper = true});
  } else {
    auto [q, r] = qr(a.mT());
    x = q.matmul(solve_triangular(r.mT(), b));
  }
  return {is_vector ? x.squeeze(-1) : x};
}

} // namespace dl::linalg
