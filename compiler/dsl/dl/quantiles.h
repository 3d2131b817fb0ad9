#pragma once
// What stands at a place of sorted elements.
#include "order.h"
#include "rounding.h"
#include "statistics.h"

namespace dl {

/// The k-th smallest, counted from 1.
inline ValuesAndIndices Tensor::kthvalue(i64 k, i64 dim, bool keepdim) const {
  detail::Called called("kthvalue");
  Shape from = sizes();
  i64 at = detail::wrap("kthvalue", dim, from.rank, from);
  i64 size = from.rank ? from[static_cast<int>(at)] : 1;
  if (k < 1 || k > size)
    detail::fail("kthvalue: k = {} along dim {} of {}; from 1 to {} is wanted",
                 k, dim, from, size);
  if (from.rank == 0)
    return sort();
  Tensor indices = detail::places_of_first(k, *this, at, /*descending=*/false)
                       .narrow(at, k - 1, 1);
  Tensor values = detail::gathered(*this, static_cast<int>(at), indices);
  return keepdim ? ValuesAndIndices{values, indices}
                 : ValuesAndIndices{values.squeeze(at), indices.squeeze(at)};
}
namespace detail {
/// NaN where there is one along the dim, as PyTorch has it.
inline Tensor unless_nan(const Tensor &x, const Tensor &value, i64 dim,
                         bool keepdim) {
  return x.is_floating_point()
             ? where(x.isnan().any(dim, keepdim), __builtin_nan(""), value)
             : value;
}
} // namespace detail
/// Of two in the middle the lower one; of equal ones the first in memory.
inline ValuesAndIndices Tensor::median(i64 dim, bool keepdim) const {
  detail::Called called("median");
  if (this->dim() == 0)
    return sort();
  ValuesAndIndices middle =
      kthvalue((size(static_cast<int>(dim)) + 1) / 2, dim, keepdim);
  return {detail::unless_nan(*this, middle.values, dim, keepdim),
          middle.indices};
}
inline Tensor Tensor::median() const {
  detail::Called called("median");
  return reshape(-1).median(0).values;
}
/// The median of those that are no NaN; NaN where there are none.
inline ValuesAndIndices Tensor::nanmedian(i64 dim, bool keepdim) const {
  detail::Called called("nanmedian");
  if (!is_floating_point() || this->dim() == 0)
    return median(this->dim() ? dim : 0, keepdim);
  int at =
      static_cast<int>(detail::wrap("nanmedian", dim, this->dim(), sizes()));
  Tensor isNumber = eq(*this), count = isNumber.sum(at, true);
  Tensor order = dl::where(isNumber, detach(), __builtin_inf()).argsort(at);
  Tensor indices =
      order.gather(at, (count - 1).floor_divide(2).clamp_min(0).to(kInt64));
  Tensor values = gather(at, indices);
  return keepdim ? ValuesAndIndices{values, indices}
                 : ValuesAndIndices{values.squeeze(at), indices.squeeze(at)};
}
inline Tensor Tensor::nanmedian() const {
  detail::Called called("nanmedian");
  return reshape(-1).nanmedian(0).values;
}
/// Which element is there most often, of several the least; the index is that
/// of the last of them in sorted order.
inline ValuesAndIndices Tensor::mode(i64 dim, bool keepdim) const {
  detail::Called called("mode");
  Shape from = sizes();
  if (from.rank == 0)
    return sort();
  int at = static_cast<int>(detail::wrap("mode", dim, from.rank, from));
  auto [sorted, order] = detach().sort(at);
  Tensor place = detail::along(arange(from[at]), at, from.rank).expand(from);
  Tensor begins = place.eq(0).logical_or(sorted.ne(sorted.roll(1, at)));
  Tensor length = place - dl::where(begins, place, 0).cummax(at).values;
  Tensor indices = order.gather(at, length.argmax(at, true));
  Tensor values = gather(at, indices);
  return keepdim ? ValuesAndIndices{values, indices}
                 : ValuesAndIndices{values.squeeze(at), indices.squeeze(at)};
}
/// Between two elements the one in proportion.
inline Tensor Tensor::quantile(double q, i64 dim, bool keepdim) const {
  detail::Called called("quantile");
  if (!(q >= 0 && q <= 1))
    detail::fail("quantile: q = {}; from 0 to 1 is wanted", q);
  if (this->dim() == 0)
    return detail::copied(*this);
  Shape from = sizes();
  int along = static_cast<int>(detail::wrap("quantile", dim, from.rank, from));
  i64 last = from[along] - 1;
  double at = q * static_cast<double>(last);
  i64 low = static_cast<i64>(at), high = low + (static_cast<double>(low) != at);
  // From the nearer end.
  bool descending = low > last / 2;
  if (descending) {
    low = last - low;
    high = last - high;
  }
  Tensor sorted =
      detail::gathered(*this, along,
                       detail::places_of_first((low > high ? low : high) + 1,
                                               *this, along, descending));
  Tensor value = sorted.narrow(along, low, 1);
  if (high != low)
    value = value.lerp(sorted.narrow(along, high, 1),
                       at - static_cast<double>(static_cast<i64>(at)));
  return detail::unless_nan(*this, keepdim ? value : value.squeeze(dim), dim,
                            keepdim);
}
inline Tensor Tensor::quantile(double q) const {
  detail::Called called("quantile");
  return reshape(-1).quantile(q, 0);
}
/// Several, in a dim in front.
inline Tensor Tensor::quantile(list<double> q, i64 dim, bool keepdim) const {
  detail::Called called("quantile");
  TensorList values;
  for (double each : q)
    values.push_back(quantile(each, dim, keepdim));
  return stack(values);
}
inline Tensor Tensor::quantile(list<double> q) const {
  return reshape(-1).quantile(q, 0);
}
inline Tensor median(Tensor x) { return x.median(); }
inline ValuesAndIndices median(Tensor x, i64 dim, bool keepdim = false) {
  return x.median(dim, keepdim);
}
inline ValuesAndIndices kthvalue(Tensor x, i64 k, i64 dim = -1,
                                 bool keepdim = false) {
  return x.kthvalue(k, dim, keepdim);
}
inline Tensor nanmedian(Tensor x) { return x.nanmedian(); }
inline ValuesAndIndices nanmedian(Tensor x, i64 dim, bool keepdim = false) {
  return x.nanmedian(dim, keepdim);
}
inline ValuesAndIndices mode(Tensor x, i64 dim = -1, bool keepdim = false) {
  return x.mode(dim, keepdim);
}
template <class... Rest>
Tensor quantile(Tensor x, Tensor q, Rest...) = delete (
    "dl: q is a number, or several in braces: dl::quantile(x, {0.25, 0.5}, 1)");
inline Tensor quantile(Tensor x, double q) { return x.quantile(q); }
inline Tensor quantile(Tensor x, list<double> q) { return x.quantile(q); }
inline Tensor quantile(Tensor x, list<double> q, i64 dim,
                       bool keepdim = false) {
  return x.quantile(q, dim, keepdim);
}
inline Tensor quantile(Tensor x, double q, i64 dim, bool keepdim = false) {
  return x.quantile(q, dim, keepdim);
}

} // namespace dl
