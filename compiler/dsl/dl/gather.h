#pragma once
// Elements at indices that are data. An index out of range fails the step that
// meets it: its updates are not made.
#include "making.h"

namespace dl {

namespace detail {

/// Integers, as i64.
inline Tensor as_indices(const char *what, const Tensor &index) {
  if (index.is_floating_point())
    fail("{}: the index holds floats; integers are wanted", what);
  if (index.dtype() == kBool)
    fail("{}: the index holds booleans: how many of them hold is not known "
         "when the graph is built; use where or masked_fill, or "
         "index_put_ to set them",
         what);
  return index.to(kInt64);
}

/// Fails the step with this message where one of the indices, i64, is not in
/// [0, bound).
inline void flag_indices(const Tensor &index, i64 bound, const char *message,
                         const dl_text *texts, int count) {
  if (dl_indices_fit(index.id, bound))
    return;
  // (What is ignored is an index in range.)
  Attr attributes[] = {
      {"bound", bound}, {"ignore_index", 0}, {"start", Shape{0}}};
  Operand operand = Operand::fixed(index);
  Tensor wrong;
  dl_emit("index_check", &operand, 1, attributes, index.dim() ? 3 : 2,
          &wrong.id, 1);
  dl_error_flag(wrong.id, message, texts, count);
}
/// `low` is the least one that the user may write.
inline void check_indices(const char *what, const Tensor &index, i64 bound,
                          i64 low = 0) {
  const dl_text texts[] = {Text(what), Text(low), Text(bound)};
  flag_indices(index, bound, "{}: index out of range [{}, {})", texts, 3);
}

/// Indices that may be used for all other dims: [N] becomes [1,N,1] for dim 1
/// of 3.
inline Tensor along(const Tensor &index, int dim, int rank) {
  Shape shape;
  for (int i = 0; i < rank; ++i)
    shape.push_back(i == dim ? index.numel() : 1);
  return index.reshape(shape);
}

/// Indices that have been checked, or cannot be wrong.
inline Tensor gathered(const Tensor &x, int dim, const Tensor &index) {
  return emit("gather", x, index, {{"dim", dim}});
}
inline Tensor scattered(const Tensor &x, int dim, const Tensor &index,
                        i64 size) {
  return emit("scatter_add", index, x, {{"dim", dim}, {"size", size}});
}

/// Rows of x along `dim`, in the shape of the index.
inline Tensor rows(const Tensor &x, int dim, const Tensor &index) {
  Shape from = x.sizes(), chosen = index.sizes(), to;
  for (int i = 0; i < from.rank; ++i)
    if (i != dim)
      to.push_back(from[i]);
    else
      for (i64 size : chosen)
        to.push_back(size);
  return gathered(x, dim, along(index, dim, from.rank)).reshape(to);
}

/// The shape that both broadcast to; `things` are what has them.
inline Shape common_shape(const char *what, const char *things,
                          const Shape &one, const Shape &other) {
  Shape merged;
  int rank = other.rank > one.rank ? other.rank : one.rank;
  for (int i = 0; i < rank; ++i) {
    int a = i - (rank - one.rank), b = i - (rank - other.rank);
    i64 x = a < 0 ? 1 : one[a], y = b < 0 ? 1 : other[b];
    if (x != y && x != 1 && y != 1)
      fail("{}: the {} {} and {} cannot be broadcast", what, things, one,
           other);
    merged.push_back(x > y ? x : y);
  }
  return merged;
}
/// The shape that all broadcast to.
inline Shape common_shape(const char *what, const Tensor *tensors, int count) {
  Shape common;
  for (int t = 0; t < count; ++t)
    common = common_shape(what, "indices", common, tensors[t].sizes());
  return common;
}

/// The dims that are indexed by tensors as one, `at`, and the places in it that
/// the indices name.
struct Merged {
  Tensor x, places;
  int at;
};
/// NumPy's rules: indices are broadcast to one shape, which stands where the
/// indexed dims were, or in front if others lie between these.
inline Merged merged_dims(const Tensor &x, const Chosen &chosen) {
  Shape from = x.sizes(), order, to;
  Tensor place;
  Shape common = common_shape("index", chosen.indices, chosen.count);
  i64 merged = 1;
  for (int i = 0; i < chosen.count; ++i) {
    i64 size = from[chosen.dims[i]];
    Tensor index = as_indices("index", chosen.indices[i]);
    index = where(index.lt(0), index.add(size), index);
    check_indices("index", index, size, -size);
    place = i ? place.mul(size).add(index) : index;
    merged *= size;
  }
  place = place.expand(common);
  bool neighbours =
      chosen.dims[chosen.count - 1] == chosen.dims[0] + chosen.count - 1;
  int at = neighbours ? chosen.dims[0] : 0, next = 0;
  // The dims that are indexed become one, at `at`.
  for (int i = 0; i < from.rank; ++i) {
    bool named = next < chosen.count && chosen.dims[next] == i;
    next += named;
    if (!named && order.rank >= at)
      break;
    if (!named)
      order.push_back(i);
  }
  for (int i = 0; i < chosen.count; ++i)
    order.push_back(chosen.dims[i]);
  for (int i = 0; i < from.rank; ++i) {
    bool there = false;
    for (i64 dim : order)
      there |= dim == i;
    if (!there)
      order.push_back(i);
  }
  for (int i = 0; i < from.rank; ++i) {
    if (i == at)
      to.push_back(merged);
    if (i < at || i >= at + chosen.count)
      to.push_back(from[static_cast<int>(order[i])]);
  }
  Tensor sorted = neighbours ? x : x.permute(Dims(order));
  return {sorted.reshape(to), place, at};
}
inline Tensor chosen_by(const Tensor &x, const Chosen &chosen) {
  Merged merged = merged_dims(x, chosen);
  return rows(merged.x, merged.at, merged.places);
}

/// `x`, or as much of it as an index of this shape speaks of.
inline Tensor cut_to(const char *what, const Tensor &x, const Shape &index,
                     int dim) {
  Shape from = x.sizes();
  if (index.rank != from.rank)
    fail("{}: the index {} and the tensor {} need the same number of dims",
         what, index, from);
  Part part(from);
  for (int i = 0; i < from.rank; ++i) {
    if (i == dim)
      continue;
    if (index[i] > from[i])
      fail("{}: the index {} is larger than the tensor {} in dim {}", what,
           index, from, i);
    part.sizes[i] = index[i];
  }
  return part.of(x);
}

} // namespace detail

/// out[i][j] = x[index[i][j]][j] for dim 0. The index may be smaller than x in
/// the other dims.
inline Tensor Tensor::gather(i64 dim, Tensor index) const {
  detail::Called called("gather");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("gather", dim, from.rank, from));
  Tensor indices = detail::as_indices("gather", index);
  if (from.rank == 0)
    return reshape(1).gather(0, indices.reshape(-1)).reshape(index.sizes());
  Tensor x = detail::cut_to("gather", *this, index.sizes(), at);
  detail::check_indices("gather", indices, from[at]);
  return detail::gathered(x, at, indices);
}

/// The slices of a dim that a list of indices names.
inline Tensor Tensor::index_select(i64 dim, Tensor index) const {
  detail::Called called("index_select");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("index_select", dim, from.rank, from));
  Tensor indices = detail::as_indices("index_select", index);
  if (index.dim() > 1 || from.rank == 0)
    detail::fail("index_select: index {} of {}: a list of indices, of one dim, "
                 "and a dim to select from are wanted",
                 index.sizes(), from);
  detail::check_indices("index_select", indices, from[at]);
  return detail::rows(*this, at, indices.reshape(-1));
}

inline Tensor gather(Tensor x, i64 dim, Tensor index) {
  return x.gather(dim, index);
}
inline Tensor index_select(Tensor x, i64 dim, Tensor index) {
  return x.index_select(dim, index);
}

namespace nn::functional {
/// [..., num_classes] of i64: 1 at the class that x, whole numbers, names.
Tensor one_hot(Tensor x) = delete ("dl: how many classes there are has to be "
                                   "known: F::one_hot(x, 10)");
inline Tensor one_hot(Tensor x, i64 num_classes) {
  detail::Called called("one_hot");
  if (x.is_floating_point())
    detail::fail("one_hot: class indices (integers) are wanted, not floats");
  detail::check_indices("one_hot", x.to(kInt64), num_classes);
  return x.unsqueeze(-1).eq(arange(num_classes)).to(kInt64);
}
} // namespace nn::functional

} // namespace dl
