#pragma once
// Sums, products and maxima of the elements so far; recurrences.
#include "gather.h"

namespace dl {

inline Tensor Tensor::cumsum(i64 dim) const {
  detail::Called called("cumsum");
  Shape from = sizes();
  i64 at = detail::wrap("cumsum", dim, from.rank, from);
  Tensor x = is_floating_point() ? *this : to(kInt64);
  return from.rank ? detail::emit("cumsum", x, {{"dim", at}})
                   : detail::copied(x);
}

/// h[t] = a[t] * h[t-1] + b[t] along `dim`, from h = 0 on; with `reverse` from
/// the last element on, with h[t+1]. a and b are broadcast. One pass, forward
/// and backward, where a loop over t would be unrolled: gated and state-space
/// layers, discounted returns (`linear_recurrence(gamma * alive, rewards, 1,
/// true)`).
inline Tensor linear_recurrence(const Operand &a, const Operand &b, i64 dim,
                                bool reverse = false) {
  detail::Called called("linear_recurrence");
  Tensor yes = ones(Shape(), {.dtype = kBool});
  Tensor factor = where(yes, a, b), more = where(yes, b, a);
  Shape to = more.sizes();
  if (to.rank == 0)
    detail::fail("linear_recurrence: a scalar has no dim to go along");
  return detail::emit(
      "linear_recurrence", factor, more,
      {{"dim", detail::wrap("linear_recurrence", dim, to.rank, to)},
       {"reverse", reverse}});
}

/// The gradient is exact where factors are 0.
inline Tensor Tensor::cumprod(i64 dim) const {
  detail::Called called("cumprod");
  Shape from = sizes(), along;
  int at = static_cast<int>(detail::wrap("cumprod", dim, from.rank, from));
  Tensor x = is_floating_point() ? *this : to(kInt64);
  if (from.rank == 0)
    return detail::copied(x);
  for (int i = 0; i < from.rank; ++i)
    along.push_back(i == at ? from[at] : 1);
  Tensor first = arange(from[at]).reshape(along).eq(0);
  return linear_recurrence(dl::where(first, 0, x), dl::where(first, x, 0), at);
}

namespace detail {
/// The last greatest one counts.
inline ValuesAndIndices running_best(const char *what, const Tensor &x, i64 dim,
                                     bool least) {
  Called called(what);
  Shape from = x.sizes();
  int at = static_cast<int>(wrap(what, dim, from.rank, from));
  if (from.rank == 0)
    return {copied(x), zeros(Shape(), {.dtype = kInt64})};
  Tensor key = x.is_floating_point() ? x : x.to(kInt64);
  if (least) // the least integer has no opposite
    key = x.is_floating_point() ? key.neg() : -1 - key;
  Tensor places = emit("argcummax", key, {{"dim", at}});
  return {gathered(x, at, places), places};
}
} // namespace detail

inline ValuesAndIndices Tensor::cummax(i64 dim) const {
  return detail::running_best("cummax", *this, dim, /*least=*/false);
}
inline ValuesAndIndices Tensor::cummin(i64 dim) const {
  return detail::running_best("cummin", *this, dim, /*least=*/true);
}

/// With m[t], the greatest so far: s[t] = exp(m[t-1] - m[t]) * s[t-1] +
/// exp(x[t] - m[t]), so that nothing overflows, and log s[t] + m[t].
inline Tensor Tensor::logcumsumexp(i64 dim) const {
  detail::Called called("logcumsumexp");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("logcumsumexp", dim, from.rank, from));
  Tensor x = is_floating_point() ? *this : to(kFloat);
  if (from.rank == 0 || from[at] == 1)
    return detail::copied(x);
  constexpr double kInf = __builtin_inf();
  Tensor best = x.detach().cummax(at).values;
  Tensor most = best.masked_fill(best.isinf(), 0.0);
  Shape one = from;
  one[at] = 1;
  Tensor before = cat({full(one, -kInf, {.dtype = x.dtype()}),
                       best.narrow(at, 0, from[at] - 1)},
                      at);
  Tensor decay = (before.masked_fill(before.eq(kInf), 0.0) - most).exp();
  Tensor sum = linear_recurrence(decay, (x - most).exp(), at);
  Tensor none = sum.eq(0);
  return dl::where(none, -kInf, dl::where(none, 1.0, sum).log() + most);
}

inline Tensor cumsum(Tensor x, i64 dim) { return x.cumsum(dim); }
inline Tensor cumprod(Tensor x, i64 dim) { return x.cumprod(dim); }
inline Tensor logcumsumexp(Tensor x, i64 dim) { return x.logcumsumexp(dim); }
inline ValuesAndIndices cummax(Tensor x, i64 dim) { return x.cummax(dim); }
inline ValuesAndIndices cummin(Tensor x, i64 dim) { return x.cummin(dim); }

} // namespace dl
