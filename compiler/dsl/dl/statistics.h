#pragma once
// Variances, and sums and shares of exponentials.
#include "math.h"

namespace dl {

namespace detail {

/// In two passes, as PyTorch does: the squares of differences cannot cancel.
inline Tensor var(const char *what, const Tensor &x, const Shape &dims,
                  const VarOptions &options) {
  Called called(what);
  if (!x.is_floating_point())
    fail("{}: needs floats; use .to(dl::kFloat)", what);
  i64 count = 1, correction = options.unbiased ? options.correction : 0;
  for (i64 dim : axes(what, x, dims))
    count *= x.size(static_cast<int>(dim));
  if (count <= correction)
    fail("{}: {} elements leave nothing to divide by with correction {}; use "
         "{.unbiased = false}",
         what, count, correction);
  Tensor rest = x - mean(x, dims, true);
  return sum(what, rest.square(), dims, options.keepdim)
      .mul(1.0 / static_cast<double>(count - correction));
}

/// Where nothing varies the gradient is 0, not infinite. Squares of very large
/// and very small numbers have no room: these are scaled first, by a power of
/// two, and so exactly.
inline Tensor std(const Tensor &x, const Shape &dims,
                  const VarOptions &options) {
  Called called("std");
  if (!x.is_floating_point())
    return var("std", x, dims, options); // which says why not
  Tensor top = amax("std", x.abs(), dims, true).detach();
  Tensor scale =
      where(top.gt(0x1p50), 0x1p-80, where(top.lt(0x1p-40), 0x1p80, 1.0));
  Tensor variance = var("std", x * scale, dims, options);
  Tensor constant = variance.eq(0.0);
  Tensor root = where(constant, 0.0, where(constant, 1.0, variance).sqrt());
  return root / (options.keepdim ? scale : scale.reshape(root.sizes()));
}

inline Tensor logsumexp(const Tensor &x, const Shape &dims, bool keepdim) {
  Called called("logsumexp");
  Tensor floats = x.is_floating_point() ? x : x.to(kFloat);
  Tensor top = amax("logsumexp", floats, dims, true).detach();
  // An infinite maximum would give inf - inf.
  top = where(top.abs().eq(__builtin_inf()), 0.0, top);
  Tensor total = sum("logsumexp", (floats - top).exp(), dims, true).log();
  Tensor result = total + top;
  return keepdim ? result : result.squeeze(Dims(axes("logsumexp", x, dims)));
}

} // namespace detail

inline Tensor Tensor::var() const { return detail::var("var", *this, {}, {}); }
inline Tensor Tensor::std() const { return detail::std(*this, {}, {}); }
template <detail::Bool T> Tensor Tensor::var(T unbiased) const {
  return detail::var("var", *this, {}, {.unbiased = unbiased});
}
template <detail::Bool T> Tensor Tensor::std(T unbiased) const {
  return detail::std(*this, {}, {.unbiased = unbiased});
}
inline Tensor Tensor::var(const Dims &dims, VarOptions options) const {
  return detail::var("var", *this, dims, options);
}
inline Tensor Tensor::std(const Dims &dims, VarOptions options) const {
  return detail::std(*this, dims, options);
}
inline Tensor Tensor::var(const Dims &dims, bool unbiased, bool keepdim) const {
  return var(dims, VarOptions{.unbiased = unbiased, .keepdim = keepdim});
}
inline Tensor Tensor::std(const Dims &dims, bool unbiased, bool keepdim) const {
  return std(dims, VarOptions{.unbiased = unbiased, .keepdim = keepdim});
}
inline Tensor Tensor::logsumexp(const Dims &dims, bool keepdim) const {
  return detail::logsumexp(*this, dims, keepdim);
}

inline Tensor Tensor::softmax(i64 dim) const {
  detail::Called called("softmax");
  Shape shape = sizes();
  if (shape.rank == 0) // of one number
    return reshape(1)
        .softmax(detail::wrap("softmax", dim, 1, {1}))
        .reshape(shape);
  return detail::emit(
      "softmax", *this,
      {{"dim", detail::wrap("softmax", dim, shape.rank, shape)}});
}
inline Tensor Tensor::log_softmax(i64 dim) const {
  detail::Called called("log_softmax");
  Shape shape = sizes();
  if (shape.rank == 0)
    return reshape(1)
        .log_softmax(detail::wrap("log_softmax", dim, 1, {1}))
        .reshape(shape);
  return detail::emit(
      "log_softmax", *this,
      {{"dim", detail::wrap("log_softmax", dim, shape.rank, shape)}});
}

} // namespace dl
