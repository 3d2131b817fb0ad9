#pragma once
// Elements that are repeated, each as often as a list or a tensor says.
#include "scatter_reduce.h"

namespace dl {

namespace detail {

/// Neighbours that are repeated as often as each other are one part.
inline Tensor repeated(const Tensor &x, const Repeats &repeats, i64 dim) {
  const char *what = "repeat_interleave";
  Shape from = x.sizes();
  int at = static_cast<int>(wrap(what, dim, from.rank, from));
  i64 count = repeats.size(), size = from.rank ? from[at] : 1, total = 0;
  if (count != 1 && count != size)
    fail("{}: {} numbers for dim {} of {}; {} are wanted, or one for all", what,
         count, dim, from, size);
  for (i64 i = 0; i < count; ++i) {
    if (repeats[i] < 0)
      fail("{}: an element cannot be there {} times", what, repeats[i]);
    total += repeats[i];
  }
  require_repeats(what, total);
  if (count == 1)
    return x.repeat_interleave(repeats[0], dim);
  TensorList parts;
  for (i64 i = 0, end = 0; i < count; i = end) {
    while (end < count && repeats[end] == repeats[i])
      ++end;
    if (repeats[i])
      parts.push_back(
          x.narrow(at, i, end - i).repeat_interleave(repeats[i], at));
  }
  return cat(parts, at);
}

/// For each of `length` places how many have ended there: the number of the one
/// that it belongs to. The ends are in order, and none is beyond `length`.
inline Tensor owners(const Tensor &ends, i64 length) {
  return scattered(full(ends.sizes(), 1, kInt64), 0, ends, length + 1)
      .narrow(0, 0, length)
      .cumsum(0);
}

/// By repeats that are data.
inline Tensor repeated(const Tensor &x, const Tensor &repeats, i64 dim,
                       i64 length) {
  const char *what = "repeat_interleave";
  Shape from = x.sizes();
  int at = static_cast<int>(wrap(what, dim, from.rank, from));
  if (length < 1)
    fail("{}: how long the result is has to be known: a list, {2, 0, 3}, or a "
         "tensor and {.output_size = 5}",
         what);
  if (from.rank == 0 || repeats.dim() != 1 || repeats.size(0) != from[at])
    fail("{}: repeats {} for dim {} of {}; a number for each is wanted", what,
         repeats.sizes(), dim, from);
  i64 size = from[at];
  Tensor each = as_indices(what, repeats);
  check_indices(what, each, length + 1);
  Tensor ends = each.cumsum(0);
  const dl_text texts[] = {Text(what), Text(length)};
  flag_indices(ends, length + 1,
               "{}: the repeats add up to more than output_size = {}", texts,
               2);
  flag_indices(length - ends.narrow(0, size - 1, 1), 1,
               "{}: the repeats do not add up to output_size = {}", texts, 2);
  return rows(x, at, owners(ends, length).clamp_max(size - 1));
}

} // namespace detail

inline Tensor Tensor::repeat_interleave(const Repeats &repeats, i64 dim) const {
  detail::Called called("repeat_interleave");
  return detail::repeated(*this, repeats, dim);
}
inline Tensor Tensor::repeat_interleave(const Repeats &repeats,
                                        const ListDimOptions &o) const {
  return repeat_interleave(repeats, o.dim);
}
inline Tensor Tensor::repeat_interleave(const Repeats &repeats) const {
  detail::Called called("repeat_interleave");
  return detail::repeated(reshape(-1), repeats, 0);
}
/// x.repeat_interleave(lengths, {.dim = 0, .output_size = 512}).
inline Tensor Tensor::repeat_interleave(Tensor repeats,
                                        RepeatInterleaveOptions o) const {
  detail::Called called("repeat_interleave");
  bool all = o.dim == kEnd;
  return detail::repeated(all ? reshape(-1) : *this, repeats, all ? 0 : o.dim,
                          o.output_size);
}
inline Tensor Tensor::repeat_interleave(Tensor repeats, i64 dim,
                                        RepeatInterleaveOptions o) const {
  o.dim = dim;
  return repeat_interleave(repeats, o);
}

inline Tensor repeat_interleave(Tensor x, const Repeats &repeats) {
  return x.repeat_interleave(repeats);
}
inline Tensor repeat_interleave(Tensor x, const Repeats &repeats, i64 dim) {
  return x.repeat_interleave(repeats, dim);
}
inline Tensor repeat_interleave(Tensor x, const Repeats &repeats,
                                const ListDimOptions &o) {
  return x.repeat_interleave(repeats, o);
}
inline Tensor repeat_interleave(Tensor x, Tensor repeats,
                                RepeatInterleaveOptions o = {}) {
  return x.repeat_interleave(repeats, o);
}
inline Tensor repeat_interleave(Tensor x, Tensor repeats, i64 dim,
                                RepeatInterleaveOptions o = {}) {
  return x.repeat_interleave(repeats, dim, o);
}

} // namespace dl
