#pragma once
// Functions of PyTorch's that are a line or two of others.
#include "order.h"
#include "rounding.h"
#include "statistics.h"

namespace dl {

//===-- Elements ----------------------------------------------------------===//

inline Tensor Tensor::erfc() const {
  detail::Called called("erfc");
  return 1.0 - erf();
}
/// log(p / (1 - p)); with `eps` of p between eps and 1 - eps.
inline Tensor Tensor::logit(double eps) const {
  detail::Called called("logit");
  Tensor p = eps > 0 ? clamp(eps, 1 - eps) : *this;
  return (p / (1.0 - p)).log();
}
/// sin(pi x) / (pi x), and 1 at 0, where the gradient is 0.
inline Tensor Tensor::sinc() const {
  detail::Called called("sinc");
  Tensor none = eq(0.0);
  Tensor angle = dl::where(none, 1.0, mul(3.141592653589793));
  return dl::where(none, 1.0, angle.sin() / angle);
}
/// x log(y), and 0 where x is, whatever y.
inline Tensor Tensor::xlogy(const Operand &y) const {
  detail::Called called("xlogy");
  Tensor other = detail::as_tensor(y);
  Tensor none = eq(0.0).logical_and(other.le(0.0));
  return mul(dl::where(none, 1.0, other).log());
}
inline Tensor Tensor::hypot(Tensor y) const {
  detail::Called called("hypot");
  return (square() + y.square()).sqrt();
}
/// log(exp(x) + exp(y)).
inline Tensor Tensor::logaddexp(Tensor y) const {
  detail::Called called("logaddexp");
  // Equal infinities have no difference.
  Tensor apart = dl::where(eq(y), 0.0, *this - y);
  return maximum(y) + apart.abs().neg().exp().log1p();
}
inline Tensor Tensor::isclose(const Operand &y, double rtol,
                              double atol) const {
  detail::Called called("isclose");
  Tensor other = detail::as_tensor(y);
  Tensor near = (*this - other).abs().le(other.abs() * rtol + atol);
  return eq(other).logical_or(near.logical_and(other.isfinite()));
}

struct DivOptions {
  /// "floor" or "trunc".
  const char *rounding_mode = nullptr;
};
inline Tensor div(Tensor x, const Operand &y, DivOptions options) {
  detail::Called called("div");
  if (!options.rounding_mode)
    return x / y;
  if (detail::equal(options.rounding_mode, "floor"))
    return x.floor_divide(y);
  if (!detail::equal(options.rounding_mode, "trunc"))
    detail::fail("div: rounding_mode = \"{}\" is unknown; \"floor\" and "
                 "\"trunc\" are",
                 options.rounding_mode);
  Tensor quotient = (x / y).trunc();
  bool whole = !x.is_floating_point() && detail::is_whole_number(y);
  return whole ? quotient.to(kInt64) : quotient;
}

//===-- Reductions --------------------------------------------------------===//

inline Tensor Tensor::count_nonzero() const {
  detail::Called called("count_nonzero");
  return ne(0).sum();
}
inline Tensor Tensor::count_nonzero(const Dims &dims) const {
  detail::Called called("count_nonzero");
  return ne(0).sum(dims);
}
inline Tensor Tensor::nansum() const {
  detail::Called called("nansum");
  return dl::where(isnan(), 0.0, *this).sum();
}
inline Tensor Tensor::nanmean() const {
  detail::Called called("nanmean");
  return nansum() / isnan().logical_not().sum();
}
/// The k-th smallest, counted from 1.
inline ValuesAndIndices Tensor::kthvalue(i64 k, i64 dim, bool keepdim) const {
  detail::Called called("kthvalue");
  Shape from = sizes();
  i64 at = detail::wrap("kthvalue", dim, from.rank, from);
  i64 size = from.rank ? from[static_cast<int>(at)] : 1;
  if (k < 1 || k > size)
    detail::fail("kthvalue: k = {} of the {} along dim {} of {}", k, size, dim,
                 from);
  if (from.rank == 0)
    return sort();
  ValuesAndIndices all = sort(at);
  Tensor values = all.values.narrow(at, k - 1, 1);
  Tensor indices = all.indices.narrow(at, k - 1, 1);
  return keepdim ? ValuesAndIndices{values, indices}
                 : ValuesAndIndices{values.squeeze(at), indices.squeeze(at)};
}
/// Of two in the middle the lower one.
inline ValuesAndIndices Tensor::median(i64 dim, bool keepdim) const {
  detail::Called called("median");
  i64 size = this->dim() ? this->size(static_cast<int>(dim)) : 1;
  return kthvalue((size + 1) / 2, dim, keepdim);
}
inline Tensor Tensor::median() const {
  detail::Called called("median");
  return reshape(-1).median(0).values;
}
/// Between two elements the one in proportion.
inline Tensor Tensor::quantile(double q, i64 dim, bool keepdim) const {
  detail::Called called("quantile");
  if (!(q >= 0 && q <= 1))
    detail::fail("quantile: q = {}, from 0 to 1 is wanted", q);
  Tensor sorted = sort(dim).values;
  double at = q * static_cast<double>(size(static_cast<int>(dim)) - 1);
  i64 low = static_cast<i64>(at);
  Tensor value = sorted.narrow(dim, low, 1);
  if (static_cast<double>(low) != at)
    value = value.lerp(sorted.narrow(dim, low + 1, 1),
                       at - static_cast<double>(low));
  return keepdim ? value : value.squeeze(dim);
}
inline Tensor Tensor::quantile(double q) const {
  detail::Called called("quantile");
  return reshape(-1).quantile(q, 0);
}

//===-- Shapes ------------------------------------------------------------===//

inline Tensor Tensor::broadcast_to(const Shape &size) const {
  detail::Called called("broadcast_to");
  return expand(size);
}
inline Tensor Tensor::mT() const {
  detail::Called called("mT");
  return transpose(-2, -1);
}
inline Tensor Tensor::ravel() const {
  detail::Called called("ravel");
  return flatten();
}
/// Differences of neighbours, n times.
inline Tensor Tensor::diff(i64 n, i64 dim) const {
  detail::Called called("diff");
  Tensor x = *this;
  for (i64 i = 0; i < n; ++i)
    x = x.slice(dim, 1) - x.slice(dim, 0, -1);
  return x;
}
/// Windows of `size` along a dim, one each `step`; in a last dim of their own.
inline Tensor Tensor::unfold(i64 dim, i64 size, i64 step) const {
  detail::Called called("unfold");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("unfold", dim, from.rank, from));
  if (size < 1 || step < 1 || from.rank == 0 || size > from[at])
    detail::fail("unfold: windows of {}, each {}, along dim {} of {}", size,
                 step, dim, from);
  i64 windows = (from[at] - size) / step + 1;
  Tensor places = arange(windows).unsqueeze(1) * step + arange(size);
  return index_select(at, places.reshape(-1))
      .unflatten(at, {windows, size})
      .movedim(at + 1, -1);
}
/// The index has as many dims as x, and is as long along all but `dim`, or 1.
inline Tensor Tensor::take_along_dim(Tensor index, i64 dim) const {
  detail::Called called("take_along_dim");
  Shape from = sizes(), wanted = index.sizes();
  int at =
      static_cast<int>(detail::wrap("take_along_dim", dim, from.rank, from));
  if (from.rank != wanted.rank)
    detail::fail("take_along_dim: {} has other dims than the index {}", from,
                 wanted);
  Shape source = from;
  for (int i = 0; i < from.rank; ++i)
    if (i != at) {
      source[i] = from[i] == 1 ? wanted[i] : from[i];
      wanted[i] = source[i];
    }
  return expand(source).gather(dim, index.expand(wanted));
}

//===-- Random numbers ----------------------------------------------------===//

inline Tensor randperm(i64 n) {
  detail::Called called("randperm");
  return rand(Shape{n}).argsort();
}
inline Tensor randint_like(Tensor x, i64 low, i64 high) {
  detail::Called called("randint_like");
  return randint(low, high, x.sizes());
}
/// 1 with the probability that stands in its place, else 0.
inline Tensor bernoulli(Tensor p) {
  detail::Called called("bernoulli");
  return rand_like(p).lt(p).to(kFloat);
}

//===-- As functions ------------------------------------------------------===//

#define DL_FUNCTION(op)                                                        \
  inline Tensor op(Tensor x) { return x.op(); }
DL_FUNCTION(erfc)
DL_FUNCTION(sinc)
DL_FUNCTION(nansum)
DL_FUNCTION(nanmean)
DL_FUNCTION(count_nonzero)
DL_FUNCTION(ravel)
DL_FUNCTION(median)
#undef DL_FUNCTION
#define DL_FUNCTION(op)                                                        \
  inline Tensor op(Tensor x, Tensor y) { return x.op(y); }
DL_FUNCTION(hypot)
DL_FUNCTION(logaddexp)
#undef DL_FUNCTION
inline Tensor logit(Tensor x, double eps = 0) { return x.logit(eps); }
inline Tensor xlogy(Tensor x, const Operand &y) { return x.xlogy(y); }
inline Tensor isclose(Tensor x, const Operand &y, double rtol = 1e-5,
                      double atol = 1e-8) {
  return x.isclose(y, rtol, atol);
}
inline ValuesAndIndices median(Tensor x, i64 dim, bool keepdim = false) {
  return x.median(dim, keepdim);
}
inline ValuesAndIndices kthvalue(Tensor x, i64 k, i64 dim = -1,
                                 bool keepdim = false) {
  return x.kthvalue(k, dim, keepdim);
}
inline Tensor quantile(Tensor x, double q) { return x.quantile(q); }
inline Tensor quantile(Tensor x, double q, i64 dim, bool keepdim = false) {
  return x.quantile(q, dim, keepdim);
}
inline Tensor broadcast_to(Tensor x, const Shape &size) {
  return x.broadcast_to(size);
}
inline Tensor diff(Tensor x, i64 n = 1, i64 dim = -1) { return x.diff(n, dim); }
inline Tensor take_along_dim(Tensor x, Tensor index, i64 dim) {
  return x.take_along_dim(index, dim);
}

} // namespace dl
