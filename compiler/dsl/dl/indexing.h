#pragma once
// Parts of tensors.
#include "scalar.h"

namespace dl {

/// A new dim of size 1; in a slice, what stands there without a number.
inline constexpr struct NoneType {
} None;
/// start:end:step of Python, in index(): dl::Slice(1, -1) is 1:-1, and
/// dl::Slice(dl::None, dl::None, 2) is ::2.
struct Slice {
  struct Bound {
    i64 place;
    bool given;
    constexpr Bound(NoneType) : place(0), given(false) {}
    template <detail::Number T>
    constexpr Bound(T place) : place(static_cast<i64>(place)), given(true) {
      static_assert(!__is_same(T, bool) && !__is_floating_point(T),
                    "a slice is of whole numbers");
    }
    i64 otherwise(i64 standard) const { return given ? place : standard; }
  };
  i64 start, end, step;
  Slice(Bound start = None, Bound end = None, Bound step = None)
      : start(start.otherwise(0)), end(end.otherwise(kEnd)),
        step(step.otherwise(1)) {}
};
/// As many whole dims as are left.
inline constexpr struct EllipsisType {
} Ellipsis;

namespace detail {
/// One of a list of indices.
struct Place {
  i64 number;
  template <Number T> Place(T number) : number(static_cast<i64>(number)) {
    static_assert(!__is_same(T, bool),
                  "a mask is no index, for how many it leaves is not known "
                  "before the plan runs; dl::where(mask, x, 0) keeps the "
                  "shape");
    static_assert(!__is_floating_point(T), "an index is a whole number");
  }
};
} // namespace detail

namespace indexing { // where C++ programs have them from
using dl::Ellipsis, dl::None, dl::Slice;
} // namespace indexing

class Index {
public:
  enum Kind { kNumber, kSlice, kNone, kEllipsis, kTensor } kind;
  i64 number = 0;
  Slice slice;
  Tensor tensor;
  template <detail::Number T>
  Index(T number) : kind(kNumber), number(static_cast<i64>(number)) {
    static_assert(!__is_same(T, bool) && !__is_floating_point(T),
                  "an index is a whole number");
  }
  Index(Slice slice) : kind(kSlice), slice(slice) {}
  Index(NoneType) : kind(kNone) {}
  Index(EllipsisType) : kind(kEllipsis) {}
  Index(const char *dots) : kind(kEllipsis) {
    if (!detail::equal(dots, "..."))
      detail::fail("index: \"{}\"; \"...\" is an index, dl::Ellipsis", dots);
  }
  /// Of integers; they may be negative, and count from the end then.
  Index(const Tensor &tensor) : kind(kTensor), tensor(tensor) {}
  Index(list<detail::Place> places);
};

namespace detail {

/// The dims that are indexed by tensors.
struct Chosen {
  int dims[Shape::kMaxRank]{};
  Tensor indices[Shape::kMaxRank];
  int count = 0;
};
Tensor chosen_by(const Tensor &x, const Chosen &chosen); // gather.h
Tensor part_of(const Tensor &x, list<Index> indices, Chosen &chosen);

/// The elements of each dim that are wanted.
struct Part {
  Shape offsets, sizes, strides;
  explicit Part(const Shape &shape) : sizes(shape) {
    for (int i = 0; i < shape.rank; ++i) {
      offsets.push_back(0);
      strides.push_back(1);
    }
  }
  /// Python's rules for a slice, but that nothing left is an error.
  void cut(const char *what, int dim, const Slice &slice) {
    i64 size = sizes[dim], start = slice.start, end = slice.end;
    if (slice.step < 1)
      fail("{}: step is {}, it must be positive", what, slice.step);
    start = start < 0 ? start + size : start;
    end = end < 0 ? end + size : end;
    start = start < 0 ? 0 : start;
    end = end > size ? size : end;
    if (start >= end)
      fail("{}: nothing is left of dim {} of {} from {} to {}; an empty tensor "
           "cannot be",
           what, dim, sizes, slice.start, slice.end == kEnd ? size : slice.end);
    offsets[dim] = start;
    sizes[dim] = 1 + (end - start - 1) / slice.step;
    strides[dim] = sizes[dim] == 1 ? 1 : slice.step;
  }
  /// One element, so that the dim can go.
  void pick(const char *what, int dim, i64 index) {
    i64 size = sizes[dim];
    if (index < -size || index >= size)
      fail("{}: index {} is out of range for dim {} of {}", what, index, dim,
           sizes);
    offsets[dim] = index < 0 ? index + size : index;
    sizes[dim] = 1;
  }
  Tensor of(const Tensor &x) const {
    return sizes == x.sizes() ? held(x)
                              : emit("slice", x,
                                     {{"offsets", offsets},
                                      {"sizes", sizes},
                                      {"strides", strides}});
  }
};

} // namespace detail

inline Tensor Tensor::slice(i64 dim, i64 start, i64 end, i64 step) const {
  detail::Called called("slice");
  Shape from = sizes();
  detail::Part part(from);
  int at = static_cast<int>(detail::wrap("slice", dim, from.rank, from));
  part.cut("slice", at, Slice(start, end, step));
  return part.of(*this);
}

inline Tensor Tensor::narrow(i64 dim, i64 start, i64 length) const {
  detail::Called called("narrow");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("narrow", dim, from.rank, from));
  i64 first = start < 0 ? start + from[at] : start;
  if (first < 0 || length < 1 || first > from[at] - length)
    detail::fail("narrow: start {} and length {} do not fit dim {} of {}",
                 start, length, dim, from);
  detail::Part part(from);
  part.cut("narrow", at, Slice(first, first + length));
  return part.of(*this);
}

inline Tensor Tensor::select(i64 dim, i64 index) const {
  detail::Called called("select");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("select", dim, from.rank, from));
  if (from.rank == 0)
    detail::fail("select: a scalar has no dims");
  detail::Part part(from);
  part.pick("select", at, index);
  return part.of(*this).squeeze(at);
}

/// What the indices name, but for those that are tensors: a view.
inline Tensor detail::part_of(const Tensor &x, list<Index> indices,
                              Chosen &chosen) {
  Shape from = x.sizes(), to;
  Part part(from);
  int named = 0, dim = 0;
  bool whole = false;
  for (const Index &index : indices)
    named += index.kind == Index::kNumber || index.kind == Index::kSlice ||
             index.kind == Index::kTensor;
  if (named > from.rank)
    fail("index: {} indices for {}, which has {} dims", named, from, from.rank);
  auto keep = [&](int count) {
    for (; count > 0; --count)
      to.push_back(part.sizes[dim++]);
  };
  for (const Index &index : indices) {
    if (index.kind == Index::kNone)
      to.push_back(1);
    if (index.kind == Index::kNumber)
      part.pick("index", dim++, index.number);
    if (index.kind == Index::kSlice) {
      part.cut("index", dim, index.slice);
      keep(1);
    }
    if (index.kind == Index::kTensor) {
      chosen.dims[chosen.count] = to.rank;
      chosen.indices[chosen.count++] = index.tensor;
      keep(1);
    }
    if (index.kind == Index::kEllipsis) {
      if (whole)
        fail("index: only one dl::Ellipsis may be given");
      whole = true;
      keep(from.rank - named);
    }
  }
  keep(from.rank - dim);
  return part.of(x).reshape(to);
}

inline Tensor Tensor::index(list<Index> indices) const {
  detail::Called called("index");
  detail::Chosen chosen;
  Tensor x = detail::part_of(*this, indices, chosen);
  if (chosen.count == 0)
    return x;
  Tensor copy = detail::chosen_by(x, chosen);
  dl_copied_part(copy.id, DL_COPIED_PART);
  return copy;
}

inline Tensor Tensor::unflatten(i64 dim, const Shape &sizes) const {
  detail::Called called("unflatten");
  Shape from = this->sizes(), to, parts = sizes;
  int at = static_cast<int>(detail::wrap("unflatten", dim, from.rank, from));
  if (from.rank == 0)
    detail::fail("unflatten: a scalar has no dims");
  i64 known = 1;
  int inferred = -1;
  for (int i = 0; i < parts.rank; ++i)
    if (parts[i] == -1 && inferred < 0)
      inferred = i;
    else
      known *= parts[i];
  if (inferred >= 0 && known > 0)
    parts[inferred] = from[at] / known;
  if (known < 1 || parts.numel() != from[at])
    detail::fail("unflatten: dim {} of {} cannot become {}", dim, from, sizes);
  for (int i = 0; i < from.rank; ++i)
    if (i != at)
      to.push_back(from[i]);
    else
      for (i64 size : parts)
        to.push_back(size);
  return reshape(to);
}

inline Tensor narrow(Tensor x, i64 dim, i64 start, i64 length) {
  return x.narrow(dim, start, length);
}
inline Tensor select(Tensor x, i64 dim, i64 index) {
  return x.select(dim, index);
}
inline Tensor unflatten(Tensor x, i64 dim, const Shape &sizes) {
  return x.unflatten(dim, sizes);
}

} // namespace dl
