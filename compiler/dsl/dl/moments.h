#pragma once
// Statistics of which several come at once, and of variables with one another.
#include "keywords.h"

namespace dl {

/// auto [var, mean] = dl::var_mean(x, {0, 1}, {.keepdim = true});
inline Tensors<2> var_mean(const Tensor &x) { return {x.var(), x.mean()}; }
inline Tensors<2> var_mean(const Tensor &x, const Dims &dims,
                           VarOptions o = {}) {
  return {x.var(dims, o), x.mean(dims, o.keepdim)};
}
inline Tensors<2> var_mean(const Tensor &x, const SpreadOptions &o) {
  return {x.var(o), x.mean(SumOptions{{}, o.dim, o.keepdim})};
}
inline Tensors<2> std_mean(const Tensor &x) { return {x.std(), x.mean()}; }
inline Tensors<2> std_mean(const Tensor &x, const Dims &dims,
                           VarOptions o = {}) {
  return {x.std(dims, o), x.mean(dims, o.keepdim)};
}
inline Tensors<2> std_mean(const Tensor &x, const SpreadOptions &o) {
  return {x.std(o), x.mean(SumOptions{{}, o.dim, o.keepdim})};
}

/// auto [min, max] = dl::aminmax(x, {.dim = 1});
inline Tensors<2> aminmax(const Tensor &x) { return {x.amin(), x.amax()}; }
inline Tensors<2> aminmax(const Tensor &x, const DimsKeepdimOptions &o) {
  return {x.amin(o), x.amax(o)};
}

struct CovOptions {
  detail::ByName by_name = {};
  i64 correction = 1;
};
/// Covariances of variables, rows of [variables, observations]; of a vector its
/// variance.
inline Tensor cov(const Tensor &x, const CovOptions &o = {}) {
  detail::Called called("cov");
  if (x.dim() != 1 && x.dim() != 2)
    detail::fail("cov: [variables, observations] or a vector is wanted, got {}",
                 x.sizes());
  Tensor rows = x.dim() == 1 ? x.unsqueeze(0) : x;
  Tensor apart = rows - rows.mean(1, true);
  i64 count = rows.size(1) - o.correction;
  if (count <= 0)
    detail::fail("cov: {} observations with correction = {}", rows.size(1),
                 o.correction);
  Tensor all = apart.matmul(apart.t()) / static_cast<double>(count);
  return x.dim() == 1 ? all.squeeze() : all;
}
/// Pearson's correlations of the same.
inline Tensor corrcoef(const Tensor &x) {
  detail::Called called("corrcoef");
  Tensor all = cov(x);
  if (x.dim() == 1)
    return all / all;
  Tensor deviation = all.diagonal().sqrt();
  return (all / deviation.unsqueeze(1) / deviation.unsqueeze(0)).clamp(-1, 1);
}

} // namespace dl
