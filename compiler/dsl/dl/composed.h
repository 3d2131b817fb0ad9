#pragma once
// Functions of PyTorch's that are a line or two of others.
#include "order.h"
#include "rounding.h"
#include "statistics.h"

namespace dl {

//===-- Elements ----------------------------------------------------------===//

/// log(p / (1 - p)); with `eps` of p between eps and 1 - eps.
inline Tensor Tensor::logit(double eps) const {
  detail::Called called("logit");
  Tensor p = eps > 0 ? clamp(eps, 1 - eps) : *this;
  return (p / (1.0 - p)).log();
}
/// sin(pi x) / (pi x), and near 0, where that has no derivatives, its series.
inline Tensor Tensor::sinc() const {
  detail::Called called("sinc");
  Tensor angle = mul(3.141592653589793), near = angle.abs().lt(0.5);
  Tensor far = dl::where(near, 1.0, angle);
  Tensor square = dl::where(near, angle, 0.0).square();
  Tensor series = 1.0 - square / (2.0 * 8 * 17); // to 1e-17
  for (int k = 7; k > 0; --k)
    series = 1.0 - square / (2.0 * k * (2 * k + 1)) * series;
  return dl::where(near, series, far.sin() / far);
}
/// x log(y), and 0 where x is, unless y is NaN.
inline Tensor Tensor::xlogy(const Operand &y) const {
  detail::Called called("xlogy");
  Tensor other = detail::as_tensor(y);
  // Whose logarithm is not finite.
  Tensor border = other.le(0.0).logical_or(other.eq(__builtin_inf()));
  return mul(dl::where(eq(0.0).logical_and(border), 1.0, other).log());
}
/// Squares of what is large or small have no room: divided by the larger one,
/// they have.
inline Tensor Tensor::hypot(Tensor y) const {
  detail::Called called("hypot");
  Tensor top = detach().abs().maximum(y.detach().abs());
  Tensor plain = top.eq(0.0).logical_or(top.eq(__builtin_inf()));
  Tensor scale = dl::where(plain, 1.0, top);
  return ((*this / scale).square() + (y / scale).square()).sqrt() * scale;
}
/// log(exp(x) + exp(y)): the larger one, and what the other adds to it. Equal
/// ones are on one side of the choice, whose derivatives are those of both.
inline Tensor Tensor::logaddexp(Tensor y) const {
  detail::Called called("logaddexp");
  Tensor larger = gt(y);
  // Equal infinities have no difference.
  Tensor none = eq(y).logical_and(abs().eq(__builtin_inf()));
  Tensor apart = dl::where(none, 0.0, *this - y);
  return dl::where(larger, *this, y) +
         dl::where(larger, apart.neg(), apart).exp().log1p();
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
namespace detail {
/// Without NaN, which integers have not.
inline Tensor numbers(const Tensor &x) {
  return x.is_floating_point() ? where(x.isnan(), 0.0, x) : x;
}
} // namespace detail
inline Tensor Tensor::nansum() const {
  detail::Called called("nansum");
  return detail::numbers(*this).sum();
}
inline Tensor Tensor::nansum(const Dims &dims, bool keepdim) const {
  detail::Called called("nansum");
  return detail::numbers(*this).sum(dims, keepdim);
}
inline Tensor Tensor::nanmean() const {
  detail::Called called("nanmean");
  return nansum() / isnan().logical_not().sum();
}
inline Tensor Tensor::nanmean(const Dims &dims, bool keepdim) const {
  detail::Called called("nanmean");
  return nansum(dims, keepdim) / isnan().logical_not().sum(dims, keepdim);
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
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("diff", dim, from.rank, from));
  if (from.rank == 0 || n < 0 || n >= from[at])
    detail::fail(
        "diff: n = {} along dim {} of {}; less than its size is wanted", n, dim,
        from);
  Tensor x = *this;
  for (i64 i = 0; i < n; ++i) {
    Tensor later = x.slice(at, 1), earlier = x.slice(at, 0, -1);
    x = x.dtype() == kBool ? later.ne(earlier) : later - earlier;
  }
  return x;
}
/// Windows of `size` along a dim, one each `step`; in a last dim of their own.
inline Tensor Tensor::unfold(i64 dim, i64 size, i64 step) const {
  detail::Called called("unfold");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("unfold", dim, from.rank, from));
  if (size < 1 || step < 1 || from.rank == 0 || size > from[at])
    detail::fail("unfold: windows of {}, one each {}, along dim {} of {}; at "
                 "least 1 and at most its size is wanted",
                 size, step, dim, from);
  i64 windows = (from[at] - size) / step + 1;
  Tensor places = arange(windows).unsqueeze(1) * step + arange(size);
  Tensor copy = index_select(at, places.reshape(-1));
  dl_copied_part(copy.id, DL_COPIED_VIEW);
  return copy.unflatten(at, {windows, size}).movedim(at + 1, -1);
}
/// Of the elements in the order of memory.
inline Tensor Tensor::take_along_dim(Tensor index) const {
  detail::Called called("take_along_dim");
  return reshape(-1).gather(0, index.reshape(-1));
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
  if (n < 1)
    detail::fail("randperm: n = {}; at least 1 is wanted", n);
  return rand(Shape{n}).argsort();
}
inline Tensor randint_like(Tensor x, i64 low, i64 high) {
  detail::Called called("randint_like");
  return randint(low, high, x.sizes());
}
inline Tensor randint_like(Tensor x, i64 high) {
  return randint_like(x, 0, high);
}
/// 1 with the probability that stands in its place, else 0.
inline Tensor Tensor::bernoulli() const {
  detail::Called called("bernoulli");
  return rand_like(*this).lt(*this).to(kFloat);
}
inline Tensor bernoulli(Tensor p) { return p.bernoulli(); }

//===-- As functions ------------------------------------------------------===//

#define DL_FUNCTION(op)                                                        \
  inline Tensor op(Tensor x) { return x.op(); }
DL_FUNCTION(sinc)
DL_FUNCTION(nansum)
DL_FUNCTION(nanmean)
DL_FUNCTION(count_nonzero)
DL_FUNCTION(ravel)
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
inline Tensor broadcast_to(Tensor x, const Shape &size) {
  return x.broadcast_to(size);
}
/// 0 below 0, 1 above, and values there.
inline Tensor heaviside(const Tensor &x, const Tensor &values) {
  detail::Called called("heaviside");
  return where(x.eq(0), values, x.gt(0).to(values.dtype()));
}
/// Of a plane, k times by 90 degrees from the first of the dims to the second.
inline Tensor rot90(const Tensor &x, i64 k = 1, const Dims &dims = {0, 1}) {
  detail::Called called("rot90");
  if (dims.rank != 2)
    detail::fail("rot90: two dims are wanted, got {}", dims);
  i64 turns = ((k % 4) + 4) % 4;
  if (turns == 0)
    return x;
  if (turns == 2)
    return x.flip(dims);
  return x.flip({dims[turns == 1 ? 1 : 0]}).transpose(dims[0], dims[1]);
}
inline Tensor diff(Tensor x, i64 n = 1, i64 dim = -1) { return x.diff(n, dim); }
inline Tensor count_nonzero(Tensor x, const Dims &dims) {
  return x.count_nonzero(dims);
}
inline Tensor nansum(Tensor x, const Dims &dims, bool keepdim = false) {
  return x.nansum(dims, keepdim);
}
inline Tensor nanmean(Tensor x, const Dims &dims, bool keepdim = false) {
  return x.nanmean(dims, keepdim);
}
inline Tensor take_along_dim(Tensor x, Tensor index) {
  return x.take_along_dim(index);
}
inline Tensor take_along_dim(Tensor x, Tensor index, i64 dim) {
  return x.take_along_dim(index, dim);
}

} // namespace dl
