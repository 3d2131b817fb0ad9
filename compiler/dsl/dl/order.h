#pragma once
// Elements in another order, repeated, or multiplied.
#include "bitwise.h"

namespace dl {

namespace detail {
/// The places of the first `count` elements in order; less work than all.
inline Tensor places_of_first(i64 count, const Tensor &x, i64 dim,
                              bool descending) {
  return emit("argsort", x,
              {{"dim", dim}, {"descending", descending}, {"count", count}});
}
} // namespace detail

inline Tensor Tensor::argsort(SortOptions options) const {
  detail::Called called("argsort");
  Shape from = sizes();
  int at =
      static_cast<int>(detail::wrap("argsort", options.dim, from.rank, from));
  if (from.rank == 0)
    return reshape(1).argsort().reshape(Shape());
  return detail::places_of_first(from[at], *this, at, options.descending);
}
inline Tensor Tensor::argsort(i64 dim, bool descending) const {
  return argsort(SortOptions{.dim = dim, .descending = descending});
}

/// NaN is greater than all numbers.
inline ValuesAndIndices Tensor::sort(SortOptions options) const {
  detail::Called called("sort");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("sort", options.dim, from.rank, from));
  Tensor places = argsort(options);
  return {from.rank ? detail::gathered(*this, at, places)
                    : detail::copied(*this),
          places};
}
inline ValuesAndIndices Tensor::sort(i64 dim, bool descending) const {
  return sort(SortOptions{.dim = dim, .descending = descending});
}

/// In order, whether `sorted` asks for it or not.
inline ValuesAndIndices Tensor::topk(i64 k, TopkOptions options) const {
  detail::Called called("topk");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("topk", options.dim, from.rank, from));
  if (k < 1 || from.rank == 0 || k > from[at])
    detail::fail("topk: k = {} of dim {} of {}: at least 1 and at most all are "
                 "wanted",
                 k, options.dim, from);
  Tensor places = detail::places_of_first(k, *this, at, options.largest);
  return {detail::gathered(*this, at, places), places};
}
inline ValuesAndIndices Tensor::topk(i64 k, i64 dim, bool largest,
                                     bool sorted) const {
  return topk(k, TopkOptions{.dim = dim, .largest = largest, .sorted = sorted});
}

inline Tensor Tensor::flip(const Dims &dims) const {
  detail::Called called("flip");
  if (dims.rank == 0)
    return detail::copied(*this);
  return detail::emit("flip", *this,
                      {{"dims", detail::axes("flip", *this, dims)}});
}

inline Tensor Tensor::roll(const Dims &shifts, const Dims &dims) const {
  detail::Called called("roll");
  Shape from = sizes();
  if (shifts.rank != dims.rank)
    detail::fail("roll: {} shifts for {} dims", shifts, dims);
  Tensor x = detail::copied(*this);
  for (int i = 0; i < dims.rank; ++i) {
    int at = static_cast<int>(detail::wrap("roll", dims[i], from.rank, from));
    i64 size = from[at], shift = shifts[i] % size;
    shift += shift < 0 ? size : 0;
    if (shift)
      x = cat(
          {x.narrow(at, size - shift, shift), x.narrow(at, 0, size - shift)},
          at);
  }
  return x;
}
/// Rolls the flattened tensor.
inline Tensor Tensor::roll(const Dims &shifts) const {
  detail::Called called("roll");
  return reshape(-1).roll(shifts, 0).reshape(sizes());
}

namespace detail {
/// [outer, size, inner] around a dim.
struct Around {
  i64 outer = 1, size = 1, inner = 1;
  Around(const Shape &shape, int dim) : size(shape[dim]) {
    for (int i = 0; i < shape.rank; ++i)
      if (i != dim)
        (i < dim ? outer : inner) *= shape[i];
  }
};
inline void require_repeats(const char *what, i64 repeats) {
  if (repeats < 1)
    fail("{}: repeats is {}; at least 1 is wanted: an empty tensor cannot be",
         what, repeats);
}
} // namespace detail

/// Each element so many times in a row.
inline Tensor Tensor::repeat_interleave(i64 repeats, i64 dim) const {
  detail::Called called("repeat_interleave");
  Shape from = sizes(), to = from;
  int at =
      static_cast<int>(detail::wrap("repeat_interleave", dim, from.rank, from));
  detail::require_repeats("repeat_interleave", repeats);
  if (from.rank == 0)
    return reshape(1).repeat_interleave(repeats, 0);
  to[at] *= repeats;
  if (from.rank < Shape::kMaxRank) { // dims stay apart, for who divides them
    Tensor beside = unsqueeze(at + 1);
    Shape wide = beside.sizes();
    wide[at + 1] = repeats;
    return detail::copied(beside.expand(wide).reshape(to));
  }
  detail::Around part(from, at);
  return detail::copied(
      reshape({part.outer * part.size, 1, part.inner})
          .expand({part.outer * part.size, repeats, part.inner})
          .reshape(to));
}
inline Tensor Tensor::repeat_interleave(i64 repeats) const {
  detail::Called called("repeat_interleave");
  return reshape(-1).repeat_interleave(repeats, 0);
}

namespace detail {
/// Elements on one side of a diagonal; 0 elsewhere.
inline Tensor triangle(const char *what, const Tensor &x, bool lower,
                       i64 diagonal) {
  Called called(what);
  if (x.dim() < 2)
    fail("{}: {} has less than 2 dims", what, x.sizes());
  Tensor row = arange(x.size(-2)).add(diagonal).unsqueeze(1);
  Tensor column = arange(x.size(-1));
  Tensor kept = lower ? column.le(row) : column.ge(row);
  return x.dtype() == kBool ? x.logical_and(kept) : where(kept, x, 0);
}
} // namespace detail

inline Tensor Tensor::tril(i64 diagonal) const {
  return detail::triangle("tril", *this, true, diagonal);
}
inline Tensor Tensor::triu(i64 diagonal) const {
  return detail::triangle("triu", *this, false, diagonal);
}

/// Halves are multiplied until one element is left: the gradient is exact where
/// factors are 0.
inline Tensor Tensor::prod(i64 dim, bool keepdim) const {
  detail::Called called("prod");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("prod", dim, from.rank, from));
  Tensor x = is_floating_point() ? *this : to(kInt64);
  if (from.rank == 0)
    return detail::copied(x);
  i64 size = 1;
  while (size < from[at])
    size *= 2;
  Shape low, high, between;
  for (int i = 0; i < from.rank; ++i) {
    low.push_back(0), between.push_back(0);
    high.push_back(i == at ? size - from[at] : 0);
  }
  if (size != from[at])
    x = detail::emit(
        "pad", x,
        {{"low", low}, {"high", high}, {"interior", between}, {"value", 1.0}});
  for (; size > 1; size /= 2)
    x = x.narrow(at, 0, size / 2) * x.narrow(at, size / 2, size / 2);
  return keepdim ? detail::copied(x) : x.squeeze(at);
}
inline Tensor Tensor::prod() const {
  detail::Called called("prod");
  return reshape(-1).prod(0);
}

inline ValuesAndIndices sort(Tensor x, i64 dim = -1, bool descending = false) {
  return x.sort(dim, descending);
}
inline ValuesAndIndices sort(Tensor x, SortOptions options) {
  return x.sort(options);
}
inline Tensor argsort(Tensor x, i64 dim = -1, bool descending = false) {
  return x.argsort(dim, descending);
}
inline Tensor argsort(Tensor x, SortOptions options) {
  return x.argsort(options);
}
inline ValuesAndIndices topk(Tensor x, i64 k, i64 dim = -1, bool largest = true,
                             bool sorted = true) {
  return x.topk(k, dim, largest, sorted);
}
inline ValuesAndIndices topk(Tensor x, i64 k, TopkOptions options) {
  return x.topk(k, options);
}
inline Tensor flip(Tensor x, const Dims &dims) { return x.flip(dims); }
inline Tensor roll(Tensor x, const Dims &shifts) { return x.roll(shifts); }
inline Tensor roll(Tensor x, const Dims &shifts, const Dims &dims) {
  return x.roll(shifts, dims);
}
inline Tensor repeat_interleave(Tensor x, i64 repeats) {
  return x.repeat_interleave(repeats);
}
inline Tensor repeat_interleave(Tensor x, i64 repeats, i64 dim) {
  return x.repeat_interleave(repeats, dim);
}
inline Tensor tril(Tensor x, i64 diagonal = 0) { return x.tril(diagonal); }
inline Tensor triu(Tensor x, i64 diagonal = 0) { return x.triu(diagonal); }
inline Tensor prod(Tensor x) { return x.prod(); }
inline Tensor prod(Tensor x, i64 dim, bool keepdim = false) {
  return x.prod(dim, keepdim);
}

} // namespace dl
