#pragma once
// Sums, and new values, at indices that are data.
#include "gather.h"

namespace dl {

namespace detail {

/// Bytes and booleans are added as integers.
inline Tensor added(const Tensor &x, const Tensor &more) {
  return x.add(more).to(x.dtype());
}
inline Tensor summable(const Tensor &x) {
  return x.dtype() == kUInt8 || x.dtype() == kBool ? x.to(kInt64) : x;
}
inline void require_dtype(const char *what, const Tensor &x,
                          const Tensor &source) {
  if (x.dtype() != source.dtype())
    fail("{}: the tensor and what is added to it have different dtypes; use "
         ".to(x.dtype())",
         what);
}

/// As much of the source as an index of this shape speaks of.
inline Tensor of_source(const char *what, const Tensor &source,
                        const Shape &index, int dim) {
  Tensor part = cut_to(what, source, index, dim);
  if (index[dim] > source.size(dim))
    fail("{}: the index {} is larger than src {} in dim {}", what, index,
         source.sizes(), dim);
  return part.slice(dim, 0, index[dim]);
}
/// Where slices of `source` belong, for all other dims.
inline Tensor slice_indices(const char *what, const Tensor &x, int dim,
                            const Tensor &index, const Tensor &source) {
  Shape from = x.sizes(), expected = from;
  require_dtype(what, x, source);
  Tensor indices = as_indices(what, index);
  expected[dim] = index.numel();
  if (from.rank == 0 || index.dim() > 1 || source.sizes() != expected)
    fail("{}: index {} for dim {} of {} needs a source {}, got {}", what,
         index.sizes(), dim, from, expected, source.sizes());
  return along(indices, dim, from.rank);
}
/// Of i64, checked: places along a dim, for no more of the others than there
/// are.
inline Tensor places_in(const char *what, const Shape &from,
                        const Tensor &index, int dim) {
  Tensor indices = as_indices(what, index);
  Shape shape = index.sizes();
  for (int i = 0; i < from.rank; ++i)
    if (shape.rank != from.rank || (i != dim && shape[i] > from[i]))
      fail("{}: the index {} does not fit the tensor {}", what, shape, from);
  check_indices(what, indices, from[dim]);
  return indices;
}
/// With the value behind it where it is smaller.
inline Tensor filled_up(const Tensor &x, const Shape &to, double value) {
  Shape low, high, between;
  for (int i = 0; i < to.rank; ++i) {
    low.push_back(0), between.push_back(0);
    high.push_back(to[i] - x.size(i));
  }
  return x.sizes() == to ? x
                         : emit("pad", x,
                                {{"low", low},
                                 {"high", high},
                                 {"interior", between},
                                 {"value", value}});
}
/// Zeros [from...] with `part` added where the index says.
inline Tensor sums_at(const char *what, const Shape &from, const Tensor &index,
                      const Tensor &part, int dim) {
  Tensor indices = places_in(what, from, index, dim);
  return filled_up(scattered(part, dim, indices, from[dim]), from, 0);
}
/// For each place along a dim the last element of the index that names it; less
/// than 0 where none does.
inline Tensor last_named(const Tensor &index, int dim, i64 size) {
  Tensor order = along(arange(index.size(dim)), dim, index.dim());
  return emit("scatter_amax", index, order.expand(index.sizes()),
              {{"dim", dim}, {"size", size}});
}

} // namespace detail

/// x with src[i][j] added at [index[i][j]][j], for dim 0; what belongs to one
/// element is added in the order of src.
inline Tensor Tensor::scatter_add(i64 dim, Tensor index, Tensor src) const {
  detail::Called called("scatter_add");
  Shape from = sizes(), shape = index.sizes();
  int at = static_cast<int>(detail::wrap("scatter_add", dim, from.rank, from));
  detail::require_dtype("scatter_add", *this, src);
  Tensor part = detail::of_source("scatter_add", src, shape, at);
  return detail::added(*this, detail::sums_at("scatter_add", from, index,
                                              detail::summable(part), at));
}

/// x with the slices of `source`, times alpha, added where the list of indices
/// says.
inline Tensor Tensor::index_add(i64 dim, Tensor index, Tensor source,
                                IndexAddOptions options) const {
  detail::Called called("index_add");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("index_add", dim, from.rank, from));
  Tensor indices = detail::slice_indices("index_add", *this, at, index, source);
  detail::check_indices("index_add", indices, from[at]);
  Tensor more = detail::summable(source);
  if (options.alpha != 1)
    more = more.mul(options.alpha).to(more.dtype());
  return detail::added(*this, detail::scattered(more, at, indices, from[at]));
}

/// x with the value at [index[i][j]][j], for dim 0.
inline Tensor Tensor::scatter(i64 dim, Tensor index,
                              const Operand &value) const {
  detail::Called called("scatter");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("scatter", dim, from.rank, from));
  Tensor ones = full(index.sizes(), 1, kInt64);
  Tensor there = detail::sums_at("scatter", from, index, ones, at).gt(0);
  return dl::where(there, value, *this).to(dtype());
}
/// x with src[i][j] at [index[i][j]][j], for dim 0; of those that belong to one
/// element the last. (PyTorch takes any.)
inline Tensor Tensor::scatter(i64 dim, Tensor index, Tensor src) const {
  detail::Called called("scatter");
  Shape from = sizes(), shape = index.sizes();
  int at = static_cast<int>(detail::wrap("scatter", dim, from.rank, from));
  detail::require_dtype("scatter", *this, src);
  Tensor part = detail::of_source("scatter", src, shape, at);
  Tensor last = detail::last_named(
      detail::places_in("scatter", from, index, at), at, from[at]);
  Tensor chosen = detail::gathered(part, at, last.clamp_min(0));
  return dl::where(detail::filled_up(last, from, -1).ge(0),
                   detail::filled_up(chosen, from, 0), *this);
}

inline Tensor scatter_add(Tensor x, i64 dim, Tensor index, Tensor src) {
  return x.scatter_add(dim, index, src);
}
inline Tensor index_add(Tensor x, i64 dim, Tensor index, Tensor source,
                        IndexAddOptions options = {}) {
  return x.index_add(dim, index, source, options);
}
inline Tensor scatter(Tensor x, i64 dim, Tensor index, Tensor src) {
  return x.scatter(dim, index, src);
}
inline Tensor scatter(Tensor x, i64 dim, Tensor index, const Operand &value) {
  return x.scatter(dim, index, value);
}

} // namespace dl
