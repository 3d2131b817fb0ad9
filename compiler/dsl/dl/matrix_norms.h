#pragma once
// torch.linalg: norms of matrices and of vectors, and what follows from
// singular values.
#include "factorizations.h"

namespace dl::linalg {

/// The norm of all elements, or of vectors along dims: Tensor::norm.
template <class... A> Tensor vector_norm(const Tensor &x, const A &...options) {
  return x.norm(options...);
}

/// Of the last two dims: 1, -1 the greatest, the least sum of a column, inf,
/// -inf of a row, 2, -2 the greatest, the least singular value, "nuc" the sum
/// of these, "fro" Frobenius' norm.
inline Tensor matrix_norm(const Tensor &x, double ord, bool keepdim = false) {
  detail::Called called("linalg.matrix_norm");
  if (x.dim() < 2)
    detail::fail("linalg.matrix_norm: a matrix is wanted, got {}", x.sizes());
  double size = ord < 0 ? -ord : ord;
  Tensor sums;
  if (size == 2)
    sums = svdvals(x);
  else if (size == 1)
    sums = x.abs().sum(-2);
  else if (size == __builtin_inf())
    sums = x.abs().sum(-1);
  else
    detail::fail("linalg.matrix_norm: ord = {}; 1, 2, inf, their negatives, "
                 "\"fro\" and \"nuc\" are norms of matrices",
                 ord);
  Tensor norm = ord > 0 ? sums.amax(-1) : sums.amin(-1);
  return keepdim ? norm.unsqueeze(-1).unsqueeze(-1) : norm;
}
inline Tensor matrix_norm(const Tensor &x, const char *ord = "fro",
                          bool keepdim = false) {
  detail::Called called("linalg.matrix_norm");
  if (detail::equal(ord, "fro"))
    return x.norm(2, {-2, -1}, keepdim);
  if (!detail::equal(ord, "nuc"))
    detail::fail("linalg.matrix_norm: ord = \"{}\"; 1, 2, inf, their "
                 "negatives, \"fro\" and \"nuc\" are norms of matrices",
                 ord);
  Tensor norm = svdvals(x).sum(-1);
  return keepdim ? norm.unsqueeze(-1).unsqueeze(-1) : norm;
}

/// Of all elements: Frobenius' norm.
inline Tensor norm(const Tensor &x) { return x.norm(); }
/// Of vectors: x, or those along a dim.
inline Tensor norm(const Tensor &x, detail::NormOrder ord, i64 dim,
                   bool keepdim = false) {
  return x.norm({ord, dim, keepdim});
}
/// Of a vector or of a matrix.
inline Tensor norm(const Tensor &x, double ord) {
  detail::Called called("linalg.norm");
  if (x.dim() > 2)
    detail::fail("linalg.norm: a vector or a matrix is wanted, got {}; "
                 "dl::linalg::vector_norm(x, p) is that of all elements, "
                 "matrix_norm(x, ord) that of the last two dims",
                 x.sizes());
  return x.dim() > 1 ? matrix_norm(x, ord) : x.norm(ord);
}
inline Tensor norm(const Tensor &x, const char *ord) {
  detail::Called called("linalg.norm");
  return matrix_norm(x, ord);
}

/// How many singular values are above max(m, n) times the precision of floats
/// times the greatest.
inline Tensor matrix_rank(const Tensor &x) {
  detail::Called called("linalg.matrix_rank");
  Tensor values = svdvals(x);
  i64 most = x.size(-2) > x.size(-1) ? x.size(-2) : x.size(-1);
  double rtol = static_cast<double>(most) * finfo(x.dtype()).eps;
  return values.gt(values.narrow(-1, 0, 1) * rtol).sum(-1);
}
/// The greatest singular value by the least.
inline Tensor cond(const Tensor &x) {
  detail::Called called("linalg.cond");
  Tensor values = svdvals(x);
  return values.select(-1, 0) / values.select(-1, -1);
}

} // namespace dl::linalg
