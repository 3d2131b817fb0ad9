#pragma once
// torch.linalg for small matrices: batches of at most 128 rows and columns, by
// elimination that is unrolled. Golub and Van Loan, "Matrix Computations".
#include "diagonals.h"
#include "function.h"
#include "gather.h"

namespace dl::linalg {

namespace detail {
using namespace dl::detail;

inline constexpr i64 kMostRows = 128;

inline i64 rows_of(const char *what, const Tensor &a) {
  if (a.dim() < 2 || a.size(-1) != a.size(-2))
    fail("linalg.{}: the last two dims are those of a square matrix, got {}",
         what, a.sizes());
  if (!a.is_floating_point())
    fail("linalg.{}: a matrix of floats is wanted", what);
  if (a.size(-1) > kMostRows)
    fail("linalg.{}: in this version a matrix has up to {} rows, got {}", what,
         kMostRows, a.sizes());
  return a.size(-1);
}
inline Tensor unit(const Tensor &like) {
  return zeros_like(like) + eye(like.size(-1)).to(like.dtype());
}

/// Of [A, B], by Gauss and Jordan with partial pivoting: A^-1 B, and the sign
/// and the logarithm of the absolute value of det(A), 0 and -inf where A is
/// singular; the solution then holds inf or NaN.
struct Eliminated {
  Tensor solution, sign, logabsdet;
};
inline Eliminated eliminate(const char *what, const Tensor &a,
                            const Tensor &b = {}) {
  i64 n = rows_of(what, a);
  Tensor all = b.defined() ? cat({a, b}, -1) : a, row = arange(n);
  Eliminated result;
  for (i64 k = 0; k < n; ++k) {
    Tensor column = all.select(-1, k);
    Tensor pivot = where(row.ge(k), column.abs(), -1.0).argmax(-1);
    Tensor is_pivot = row.eq(pivot.unsqueeze(-1)).unsqueeze(-1);
    Tensor chosen = where(is_pivot, all, 0.0).sum(-2, true);
    Tensor by = chosen.select(-1, k).unsqueeze(-1);
    Tensor sign = where(pivot.eq(k), 1.0, -1.0).to(a.dtype()) *
                  by.squeeze(-1).squeeze(-1).sign();
    Tensor size = by.squeeze(-1).squeeze(-1).abs().log();
    result.sign = k == 0 ? sign : result.sign * sign;
    result.logabsdet = k == 0 ? size : result.logabsdet + size;
    Tensor swapped = where(is_pivot, all.narrow(-2, k, 1), all);
    Tensor unit_row = chosen / (b.defined() ? by : where(by.eq(0), 1.0, by));
    Tensor cleared = swapped - swapped.narrow(-1, k, 1) * unit_row;
    all = where(row.eq(k).unsqueeze(-1), unit_row, cleared);
  }
  if (b.defined())
    result.solution = all.narrow(-1, n, b.size(-1));
  return result;
}

/// X of L X = B, or of U X = B; what is in the other triangle is not read.
inline Tensor substitute(const Tensor &a, Tensor b, bool upper, bool unit) {
  i64 n = a.size(-1);
  TensorList rows;
  for (i64 step = 0; step < n; ++step) {
    i64 k = upper ? n - 1 - step : step;
    Tensor row = b.narrow(-2, k, 1);
    if (!unit)
      row = row / a.narrow(-2, k, 1).narrow(-1, k, 1);
    rows.push_back(row);
    b = b - a.narrow(-1, k, 1) * row;
  }
  TensorList ordered;
  for (i64 k = 0; k < n; ++k)
    ordered.push_back(rows[static_cast<int>(upper ? n - 1 - k : k)]);
  return cat(ordered, -2);
}

inline Tensor factor(const Tensor &a) {
  i64 n = a.size(-1);
  Tensor left = a, row = arange(n);
  TensorList columns;
  for (i64 k = 0; k < n; ++k) {
    Tensor column = left.narrow(-1, k, 1);
    Tensor scaled = column / left.narrow(-2, k, 1).narrow(-1, k, 1).sqrt();
    Tensor lower = where(row.ge(k).unsqueeze(-1), scaled, 0.0);
    columns.push_back(lower);
    left = left - lower.matmul(lower.mT());
  }
  return cat(columns, -1);
}

using autograd::AutogradContext;

struct Inverse : autograd::Function<Inverse> {
  static Tensor forward(AutogradContext *ctx, Tensor a) {
    Tensor inverse = eliminate("inv", a, unit(a)).solution;
    ctx->save_for_backward({inverse});
    return inverse;
  }
  static TensorList backward(AutogradContext *ctx, TensorList grads) {
    Tensor inverse = ctx->get_saved_variables()[0].mT();
    return {inverse.matmul(grads[0]).matmul(inverse).neg()};
  }
};
struct Solve : autograd::Function<Solve> {
  static Tensor forward(AutogradContext *ctx, Tensor a, Tensor b) {
    Tensor x = eliminate("solve", a, b).solution;
    ctx->save_for_backward({a, x});
    return x;
  }
  static TensorList backward(AutogradContext *ctx, TensorList grads) {
    const TensorList &saved = ctx->get_saved_variables();
    Tensor to_b = eliminate("solve", saved[0].mT(), grads[0]).solution;
    return {to_b.matmul(saved[1].mT()).neg(), to_b};
  }
};
struct SlogDet : autograd::Function<SlogDet> {
  static Tensors<2> forward(AutogradContext *ctx, Tensor a) {
    Eliminated found = eliminate("slogdet", a);
    ctx->save_for_backward({a});
    ctx->mark_non_differentiable({found.sign});
    return {found.sign, found.logabsdet};
  }
  static TensorList backward(AutogradContext *ctx, TensorList grads) {
    Tensor a = ctx->get_saved_variables()[0].mT();
    return {eliminate("slogdet", a, unit(a)).solution *
            grads[1].unsqueeze(-1).unsqueeze(-1)};
  }
};
struct SolveTriangular : autograd::Function<SolveTriangular> {
  static Tensor forward(AutogradContext *ctx, Tensor a, Tensor b, bool upper,
                        bool unit) {
    Tensor x = substitute(a, b, upper, unit);
    ctx->save_for_backward({a, x});
    ctx->saved_data["upper"] = upper ? 1 : 0;
    ctx->saved_data["unit"] = unit ? 1 : 0;
    return x;
  }
  static TensorList backward(AutogradContext *ctx, TensorList grads) {
    const TensorList &saved = ctx->get_saved_variables();
    bool upper = ctx->saved_data["upper"].toBool(),
         unit = ctx->saved_data["unit"].toBool();
    Tensor to_b = substitute(saved[0].mT(), grads[0], !upper, unit);
    Tensor to_a = to_b.matmul(saved[1].mT()).neg();
    i64 off = unit ? 1 : 0;
    return {upper ? triu(to_a, off) : tril(to_a, -off), to_b, {}, {}};
  }
};
/// Murray, "Differentiation of the Cholesky decomposition", 2016.
struct Cholesky : autograd::Function<Cholesky> {
  static Tensor forward(AutogradContext *ctx, Tensor a) {
    Tensor lower = factor(a);
    ctx->save_for_backward({lower});
    return lower;
  }
  static TensorList backward(AutogradContext *ctx, TensorList grads) {
    Tensor lower = ctx->get_saved_variables()[0];
    Tensor product = tril(lower.mT().matmul(grads[0]));
    Tensor half = product - product * (unit(lower) * 0.5);
    Tensor inverse = substitute(lower, unit(lower), false, false);
    Tensor found = inverse.mT().matmul(half).matmul(inverse);
    return {(found + found.mT()) * 0.5};
  }
};

/// The dims in front are those of both, as those of matmul.
inline void broadcast(const char *what, Tensor &a, Tensor &b) {
  auto front = [](const Tensor &x) {
    Shape shape;
    for (int i = 0; i + 2 < x.dim(); ++i)
      shape.push_back(x.size(i));
    return shape;
  };
  Shape common =
      common_shape(what, "matrices' dims in front", front(a), front(b));
  auto expanded = [&](const Tensor &x) {
    Shape shape = common;
    shape.push_back(x.size(-2));
    shape.push_back(x.size(-1));
    return x.sizes() == shape ? x : x.expand(shape);
  };
  a = expanded(a), b = expanded(b);
}
} // namespace detail

/// The inverse; of a singular matrix inf or NaN.
inline Tensor inv(Tensor a) {
  detail::Called called("linalg.inv");
  detail::rows_of("inv", a);
  return detail::Inverse::apply(a);
}
struct LogDet {
  Tensor sign, logabsdet;
  Tensor operator[](int i) const { return i ? logabsdet : sign; }
};
inline LogDet slogdet(Tensor a) {
  detail::Called called("linalg.slogdet");
  detail::rows_of("slogdet", a);
  auto [sign, logabsdet] = detail::SlogDet::apply(a);
  return {sign, logabsdet};
}
inline Tensor det(Tensor a) {
  detail::Called called("linalg.det");
  detail::rows_of("det", a);
  auto [sign, logabsdet] = detail::SlogDet::apply(a);
  return sign * logabsdet.exp();
}
/// X of A X = B. B is a matrix, or a vector where it has a dim less than A.
inline Tensor solve(Tensor a, Tensor b) {
  detail::Called called("linalg.solve");
  detail::rows_of("solve", a);
  bool is_vector = b.dim() + 1 == a.dim();
  if (is_vector)
    b = b.unsqueeze(-1);
  if (b.dim() < 2 || b.size(-2) != a.size(-1))
    detail::fail("linalg.solve: {} rows of A, and B is {}", a.size(-1),
                 b.sizes());
  detail::broadcast("linalg.solve", a, b);
  Tensor x = detail::Solve::apply(a, b);
  return is_vector ? x.squeeze(-1) : x;
}
/// The lower factor of a symmetric, positive definite matrix, of which the
/// lower triangle is read; of another one it holds NaN.
inline Tensor cholesky(Tensor a) {
  detail::Called called("linalg.cholesky");
  detail::rows_of("cholesky", a);
  return detail::Cholesky::apply(a);
}
struct SolveTriangularOptions {
  bool upper = false, left = true, unitriangular = false;
};
/// X of A X = B, or of X A = B, where A is a triangle.
inline Tensor solve_triangular(Tensor a, Tensor b,
                               const SolveTriangularOptions &options = {}) {
  detail::Called called("linalg.solve_triangular");
  detail::rows_of("solve_triangular", a);
  if (!options.left)
    return solve_triangular(a.mT(), b.mT(),
                            {.upper = !options.upper,
                             .unitriangular = options.unitriangular})
        .mT();
  if (b.dim() < 2 || b.size(-2) != a.size(-1))
    detail::fail("linalg.solve_triangular: {} rows of A, and B is {}",
                 a.size(-1), b.sizes());
  detail::broadcast("linalg.solve_triangular", a, b);
  return detail::SolveTriangular::apply(a, b, options.upper,
                                        options.unitriangular);
}

} // namespace dl::linalg
