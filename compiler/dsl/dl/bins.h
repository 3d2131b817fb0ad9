#pragma once
// Which bin a value is in, and whether it is in a set. Each value is compared
// with all: for up to some hundred bins.
#include "rounding.h"
#include "scatter_reduce.h"

namespace dl {

/// `side` "right" is right = true.
struct SearchsortedOptions {
  bool right = false;
  const char *side = nullptr;
};
struct BucketizeOptions {
  bool right = false;
};

/// How many of `sorted` are less than the value or, where `right`, not more:
/// sorted[i - 1] < v <= sorted[i]. `sorted` is [m], or has the other dims that
/// `values` have in front.
inline Tensor searchsorted(const Tensor &sorted, const Tensor &values,
                           SearchsortedOptions options = {}) {
  detail::Called called("searchsorted");
  Shape edges = sorted.sizes(), shape = values.sizes();
  bool fits = edges.rank == 1 || edges.rank == shape.rank;
  for (int i = 0; fits && edges.rank > 1 && i < edges.rank - 1; ++i)
    fits = edges[i] == shape[i];
  if (edges.rank == 0 || !fits)
    detail::fail("searchsorted: boundaries {} for values {}: [m], or the same "
                 "dims but the last are wanted",
                 edges, shape);
  bool right = options.right;
  if (const char *side = options.side) {
    right = detail::equal(side, "right");
    if (!right && !detail::equal(side, "left"))
      detail::fail("searchsorted: side \"{}\"; \"left\" or \"right\" is wanted",
                   side);
    if (options.right && !right)
      detail::fail("searchsorted: side \"left\" beside right = true");
  }
  Tensor each = values.unsqueeze(-1),
         all = edges.rank == 1 ? sorted : sorted.unsqueeze(-2);
  // (A NaN is behind all of them.)
  return (right ? each.lt(all) : each.le(all)).logical_not().sum(-1);
}
inline Tensor searchsorted(const Tensor &sorted, const Tensor &values,
                           bool right) {
  return searchsorted(sorted, values, SearchsortedOptions{.right = right});
}

/// The same with boundaries [m] for all values.
inline Tensor bucketize(const Tensor &x, const Tensor &boundaries,
                        BucketizeOptions options = {}) {
  detail::Called called("bucketize");
  if (boundaries.dim() != 1)
    detail::fail("bucketize: boundaries are of one dim, got {}",
                 boundaries.sizes());
  return searchsorted(boundaries, x, options.right);
}

/// How many elements are in each of the bins, of one width, between min and
/// max; max is in the last one. Without these: between the least element and
/// the greatest.
inline Tensor Tensor::histc(i64 bins, double min, double max) const {
  detail::Called called("histc");
  if (bins < 1 || !(min <= max))
    detail::fail("histc: {} bins from {} to {}; at least one is wanted, and "
                 "that max is not below min",
                 bins, min, max);
  Tensor x = detach().reshape(-1).to(kFloat), low = full({}, min),
         high = full({}, max);
  if (min == max) {
    low = x.amin(), high = x.amax();
    Tensor one = low.eq(high);
    low = dl::where(one, low - 1, low), high = dl::where(one, high + 1, high);
  }
  Tensor inside = x.ge(low).logical_and(x.le(high));
  Tensor place = (dl::where(inside, x, low) - low) * static_cast<double>(bins) /
                 (high - low);
  return detail::scattered(inside.to(kFloat), 0,
                           place.to(kInt64).clamp_max(bins - 1), bins);
}
inline Tensor Tensor::histc(HistcOptions o) const {
  return histc(o.bins, o.min, o.max);
}
inline Tensor histc(Tensor x, i64 bins = 100, double min = 0, double max = 0) {
  return x.histc(bins, min, max);
}
inline Tensor histc(Tensor x, HistcOptions options) { return x.histc(options); }

/// Whether each element is one of these.
inline Tensor isin(const Tensor &elements, const Tensor &test_elements) {
  detail::Called called("isin");
  return elements.unsqueeze(-1).eq(test_elements.reshape(-1)).any(-1);
}

/// torch.finfo: of the floats of the program, f32 with --dtype=bf16.
struct finfo {
  double min, max, eps, tiny, smallest_normal;
  int bits;
  explicit finfo(DType dtype = kFloat) {
    bool wide = dl_float_is_double();
    if (dtype != kFloat && dtype != (wide ? kFloat64 : kFloat32))
      detail::fail("finfo: the floats of this program are dl::kFloat, {} bits; "
                   "of integers it is dl::iinfo",
                   wide ? 64 : 32);
    bits = wide ? 64 : 32;
    max = wide ? __DBL_MAX__ : __FLT_MAX__;
    min = -max;
    eps = wide ? __DBL_EPSILON__ : __FLT_EPSILON__;
    tiny = smallest_normal = wide ? __DBL_MIN__ : __FLT_MIN__;
  }
};

struct iinfo {
  i64 min, max;
  int bits;
  explicit iinfo(DType dtype) {
    if (dtype != kInt64 && dtype != kInt32 && dtype != kUInt8)
      detail::fail("iinfo: integers have one, of floats it is dl::finfo");
    bits = dtype == kInt64 ? 64 : dtype == kInt32 ? 32 : 8;
    max = dtype == kUInt8 ? 255 : i64((~0ull >> 1) >> (64 - bits));
    min = dtype == kUInt8 ? 0 : -max - 1;
  }
};

} // namespace dl
