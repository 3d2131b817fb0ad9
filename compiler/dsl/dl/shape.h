#pragma once
// Ops that change shapes or element types.
#include "elementwise.h"

namespace dl {

namespace detail {

/// `dims` counted from the front, sorted, each once; all dims where there are
/// none.
inline Shape axes(const char *what, const Tensor &x, const Shape &dims) {
  Shape shape = x.sizes(), result;
  bool chosen[Shape::kMaxRank]{};
  for (i64 dim : dims) {
    i64 axis = wrap(what, dim, shape.rank, shape);
    if (chosen[axis])
      fail("{}: dim {} appears twice in {}", what, dim, dims);
    chosen[axis] = true;
  }
  for (int i = 0; i < shape.rank; ++i)
    if (chosen[i] || dims.rank == 0)
      result.push_back(i);
  return result;
}

inline Tensor reshape(const char *what, const Tensor &x, const Shape &wanted) {
  Called called(what);
  Shape shape = wanted, from = x.sizes();
  int inferred = -1;
  i64 known = 1;
  for (int i = 0; i < shape.rank; ++i) {
    if (shape[i] != -1)
      known *= shape[i];
    else if (inferred < 0)
      inferred = i;
    else
      fail("{}: only one size of {} may be -1", what, wanted);
    if (shape[i] < -1)
      fail("{}: a size of {} is negative", what, wanted);
  }
  i64 count = from.numel();
  if (inferred >= 0) {
    if (known == 0 || count % known != 0)
      fail("{}: {} has {} elements, cannot become {}: {} is not a multiple of "
           "{}",
           what, from, count, wanted, count, known);
    shape[inferred] = count / known;
  } else if (known != count) {
    fail("{}: {} has {} elements, cannot become {} ({})", what, from, count,
         wanted, known);
  }
  return shape == from ? held(x) : emit("reshape", x, {{"shape", shape}});
}

} // namespace detail

inline Tensor Tensor::to(DType dtype) const {
  detail::Called called("to");
  DType wanted = static_cast<DType>(dl_dtype_resolved(static_cast<int>(dtype)));
  return wanted == this->dtype()
             ? detail::held(*this)
             : detail::emit("cast", *this, {{"to", wanted}});
}
inline Tensor Tensor::detach() const { return detail::emit("detach", *this); }
namespace detail {
/// A constant to the gradient of an expression, and no constant in what that
/// gradient is made of: the mean within a variance, whose derivative is zero
/// there, but not that of the gradient; the weights of autograd::grad.
inline Tensor stationary(const Tensor &x) {
  return emit("detach", x, {{"stationary", true}});
}
} // namespace detail
inline Tensor Tensor::contiguous() const {
  Tensor result;
  result.id = dl_contiguous(id);
  return result;
}
inline Tensor Tensor::clone() const { return detail::copied(*this); }

inline Tensor Tensor::view(const Shape &shape) const {
  return detail::reshape("view", *this, shape);
}
inline Tensor Tensor::reshape(const Shape &shape) const {
  return detail::reshape("reshape", *this, shape);
}

inline Tensor Tensor::expand(const Shape &wanted) const {
  detail::Called called("expand");
  Shape from = sizes(), shape = wanted;
  int added = shape.rank - from.rank;
  for (int i = 0; i < shape.rank; ++i) {
    if (shape[i] == -1 && i >= added && added >= 0)
      shape[i] = from[i - added];
    if (shape[i] == -1)
      detail::fail("expand: {} cannot become {}: -1 keeps a size, and the new "
                   "leading dim {} has none",
                   from, wanted, i);
    if (shape[i] < 1)
      detail::fail("expand: {} cannot become {}: each size must be at least 1, "
                   "or -1 to stay",
                   from, wanted);
  }
  return shape == from ? detail::held(*this)
                       : detail::emit("expand", *this, {{"shape", shape}});
}

inline Tensor Tensor::permute(const Dims &order) const {
  detail::Called called("permute");
  Shape from = sizes();
  if (order.rank != from.rank)
    detail::fail("permute: {} has {} dims, the order {} has {}", from,
                 from.rank, order, order.rank);
  detail::axes("permute", *this, order);
  Shape permutation;
  for (i64 dim : order)
    permutation.push_back(detail::wrap("permute", dim, from.rank, from));
  return detail::emit("transpose", *this, {{"permutation", permutation}});
}

inline Tensor Tensor::transpose(i64 dim0, i64 dim1) const {
  detail::Called called("transpose");
  Shape from = sizes(), order;
  for (int i = 0; i < from.rank; ++i)
    order.push_back(i);
  int a = static_cast<int>(detail::wrap("transpose", dim0, from.rank, from));
  int b = static_cast<int>(detail::wrap("transpose", dim1, from.rank, from));
  if (a == b)
    return detail::held(*this);
  order[a] = b;
  order[b] = a;
  return detail::emit("transpose", *this, {{"permutation", order}});
}

inline Tensor Tensor::t() const {
  detail::Called called("t");
  if (dim() > 2)
    detail::fail("t: {} has more than 2 dims; use transpose or permute",
                 sizes());
  return dim() == 2 ? transpose(0, 1) : detail::held(*this);
}

/// No dims in the list: the tensor as it is.
inline Tensor Tensor::squeeze(const Dims &dims) const {
  Shape from = sizes(), kept;
  if (dims.rank == 0)
    return detail::held(*this);
  Shape chosen = detail::axes("squeeze", *this, dims);
  int next = 0;
  for (int i = 0; i < from.rank; ++i) {
    bool named = next < chosen.rank && chosen[next] == i;
    next += named;
    if (!named || from[i] != 1)
      kept.push_back(from[i]);
  }
  return detail::reshape("squeeze", *this, kept);
}
inline Tensor Tensor::squeeze() const {
  Shape kept;
  for (i64 size : sizes())
    if (size != 1)
      kept.push_back(size);
  return detail::reshape("squeeze", *this, kept);
}

inline Tensor Tensor::unsqueeze(i64 dim) const {
  detail::Called called("unsqueeze");
  Shape from = sizes(), to;
  i64 at = detail::wrap("unsqueeze", dim, from.rank + 1, from);
  for (int i = 0; i <= from.rank; ++i) {
    if (i == at)
      to.push_back(1);
    if (i < from.rank)
      to.push_back(from[i]);
  }
  return detail::reshape("unsqueeze", *this, to);
}

inline Tensor Tensor::flatten(i64 start_dim, i64 end_dim) const {
  detail::Called called("flatten");
  Shape from = sizes(), to;
  if (from.rank == 0)
    return reshape({1});
  i64 first = detail::wrap("flatten", start_dim, from.rank, from);
  i64 last = detail::wrap("flatten", end_dim, from.rank, from);
  if (first > last)
    detail::fail("flatten: start_dim {} comes after end_dim {} in {}",
                 start_dim, end_dim, from);
  i64 merged = 1;
  for (int i = 0; i < from.rank; ++i) {
    if (i < first || i > last)
      to.push_back(from[i]);
    else
      merged *= from[i];
    if (i == last)
      to.push_back(merged);
  }
  return reshape(to);
}

inline Tensor Tensor::view_as(Tensor other) const {
  detail::Called called("view_as");
  return view(other.sizes());
}
inline Tensor Tensor::expand_as(Tensor other) const {
  detail::Called called("expand_as");
  return expand(other.sizes());
}
inline Tensor reshape(Tensor x, const Shape &shape) { return x.reshape(shape); }
inline Tensor flatten(Tensor x, i64 start_dim = 0, i64 end_dim = -1) {
  return x.flatten(start_dim, end_dim);
}
inline Tensor t(Tensor x) { return x.t(); }
inline Tensor transpose(Tensor x, i64 dim0, i64 dim1) {
  return x.transpose(dim0, dim1);
}
inline Tensor permute(Tensor x, const Dims &order) { return x.permute(order); }
inline Tensor squeeze(Tensor x) { return x.squeeze(); }
inline Tensor squeeze(Tensor x, const Dims &dims) { return x.squeeze(dims); }
inline Tensor unsqueeze(Tensor x, i64 dim) { return x.unsqueeze(dim); }

} // namespace dl
