#pragma once
// Pools that know the size of their result.
#include "gather.h"
#include "pools.h"

namespace dl::nn {

/// The size of a result, where 0 and dl::None keep the one that is there:
/// {7, dl::None}.
template <class Size> struct AdaptiveSize : Size {
  static constexpr i64 of(NoneType) { return 0; }
  static constexpr i64 of(i64 size) { return size; }

  constexpr AdaptiveSize(Size size) : Size(size) {}
  template <class... T>
    requires requires(T... size) { Size(of(size)...); }
  constexpr AdaptiveSize(T... size) : Size(of(size)...) {}
};

namespace functional {

namespace detail {

/// A dim in parts, each of which becomes one element: part i has the elements
/// from floor(i * size / parts) to ceil((i + 1) * size / parts), so that parts
/// overlap where they do not fit.
struct Parts {
  Tensor x;       ///< [..., parts, longest, ...]
  Tensor lengths; ///< [parts, 1, ...]; undefined where all are as long
  Tensor counts;  ///< [parts, longest, 1, ...]: it is not the last one again
};

inline Parts parts_of(const Tensor &x, int dim, i64 parts) {
  Shape from = x.sizes();
  i64 size = from[dim];
  if (size % parts == 0)
    return {x.unflatten(dim, {parts, size / parts}), {}, {}};
  i64 longest = 0;
  for (i64 i = 0; i < parts; ++i) {
    i64 length = ((i + 1) * size + parts - 1) / parts - i * size / parts;
    longest = length > longest ? length : longest;
  }
  Tensor part = arange(parts).unsqueeze(1);
  Tensor begin = (part * size).floor_divide(parts);
  Tensor end = ((part + 1) * size + (parts - 1)).floor_divide(parts);
  Tensor places = begin + arange(longest);
  Shape behind{parts}, whole{parts, longest};
  for (int i = dim + 1; i < from.rank; ++i) {
    behind.push_back(1);
    whole.push_back(1);
  }
  Tensor all = rows(x, dim, minimum(places, end - 1));
  return {all, (end - begin).to(x.dtype()).reshape(behind),
          places.lt(end).reshape(whole)};
}

/// The last dims, as many as there are sizes.
template <class Pool>
Tensor adapt(const char *what, Tensor x, const Shape &sizes, Pool pool) {
  Called called(what);
  int rank = x.dim();
  if (rank < sizes.rank + 1 || rank > sizes.rank + 2)
    fail("{}: the input has {} dims behind the channels, got {}", what,
         sizes.rank, x.sizes());
  x = copied(x);
  for (int i = sizes.rank; i-- > 0;) {
    int dim = rank - sizes.rank + i;
    if (sizes[i] == 0 || sizes[i] == x.size(dim)) // PyTorch's None keeps it
      continue;
    if (sizes[i] < 1)
      fail("{}: output_size is {}; at least 1 is wanted", what, sizes[i]);
    x = pool(parts_of(x, dim, sizes[i]), dim + 1);
  }
  return x;
}

/// The windows of two dims of images, if all are of one size.
inline bool is_even(const Tensor &x, const Shape &sizes) {
  Shape from = x.sizes();
  bool even = sizes.rank == 2 && from.rank == 4;
  for (int i = 0; even && i < 2; ++i)
    even = sizes[i] > 0 && from[2 + i] % sizes[i] == 0;
  return even;
}

inline Tensor adaptive_avg(const char *what, Tensor x, const Shape &sizes) {
  Called called(what);
  Shape from = x.sizes(), whole;
  for (int i = 0; i < sizes.rank && from.rank >= sizes.rank; ++i)
    if (sizes[i] == 1)
      whole.push_back(from.rank - sizes.rank + i);
  if (whole.rank == sizes.rank)
    return x.mean(Dims(whole), true);
  if (is_even(x, sizes))
    return avg_pool2d(x, {from[2] / sizes[0], from[3] / sizes[1]});
  return adapt(what, x, sizes, [](const Parts &parts, int dim) {
    if (!parts.lengths.defined())
      return parts.x.mean(dim);
    return where(parts.counts, parts.x, 0).sum(dim) / parts.lengths;
  });
}
/// The first of equal maxima, row by row.
inline Tensor adaptive_max(const char *what, Tensor x, const Shape &sizes) {
  Called called(what);
  if (is_even(x, sizes)) {
    Shape from = x.sizes();
    return max_pool2d(x, {from[2] / sizes[0], from[3] / sizes[1]});
  }
  return adapt(what, x, sizes, [](const Parts &parts, int dim) {
    return parts.x.max(dim).values;
  });
}
} // namespace detail

inline Tensor adaptive_avg_pool1d(Tensor x, i64 output_size) {
  return detail::adaptive_avg("adaptive_avg_pool1d", x, {output_size});
}
inline Tensor adaptive_avg_pool2d(Tensor x, AdaptiveSize<Pair> output_size) {
  return detail::adaptive_avg("adaptive_avg_pool2d", x, output_size);
}
inline Tensor adaptive_avg_pool3d(Tensor x, AdaptiveSize<Triple> output_size) {
  return detail::adaptive_avg("adaptive_avg_pool3d", x, output_size);
}
inline Tensor adaptive_max_pool1d(Tensor x, i64 output_size) {
  return detail::adaptive_max("adaptive_max_pool1d", x, {output_size});
}
inline Tensor adaptive_max_pool2d(Tensor x, AdaptiveSize<Pair> output_size) {
  return detail::adaptive_max("adaptive_max_pool2d", x, output_size);
}
inline Tensor adaptive_max_pool3d(Tensor x, AdaptiveSize<Triple> output_size) {
  return detail::adaptive_max("adaptive_max_pool3d", x, output_size);
}

} // namespace functional

} // namespace dl::nn
