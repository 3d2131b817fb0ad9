#pragma once
// Products, distances and stacks that consist of other ops.
#include "einsum.h"
#include "repeats.h"
#include "rounding.h"

namespace dl {

inline Tensor Tensor::mv(Tensor vector) const {
  detail::Called called("mv");
  if (dim() != 2 || vector.dim() != 1)
    detail::fail("mv: a matrix and a vector are wanted, got {} and {}", sizes(),
                 vector.sizes());
  return matmul(vector);
}

namespace detail {
/// The dims that are not among these, ascending.
inline Dims others(const Tensor &x, const Shape &dims) {
  Dims rest(list<i64>{});
  for (i64 dim = 0; dim < x.dim(); ++dim) {
    bool found = false;
    for (i64 one : dims)
      found |= one == dim;
    if (!found)
      rest.push_back(dim);
  }
  return rest;
}

/// The dims as they are given, counted from the front.
inline Shape in_order(const char *what, const Tensor &x, const Dims &dims) {
  axes(what, x, dims); // each once
  Shape order;
  for (i64 dim : dims)
    order.push_back(wrap(what, dim, x.dim(), x.sizes()));
  return order;
}

/// Sums over these dims of a and those of b, in their order.
inline Tensor tensordot(const char *what, const Tensor &a, const Tensor &b,
                        const Dims &of_a, const Dims &of_b) {
  Called called(what);
  Shape left = in_order(what, a, of_a), right = in_order(what, b, of_b);
  bool fits = left.rank == right.rank;
  i64 between = 1;
  for (int i = 0; fits && i < left.rank; ++i) {
    i64 size = a.size(static_cast<int>(left[i]));
    fits = size == b.size(static_cast<int>(right[i]));
    between *= size;
  }
  if (!fits)
    fail("{}: dims {} of {} and {} of {} are not as long as one another", what,
         of_a, a.sizes(), of_b, b.sizes());
  Dims rows = others(a, left), columns = others(b, right), result(list<i64>{});
  for (i64 dim : rows)
    result.push_back(a.size(static_cast<int>(dim)));
  for (i64 dim : columns)
    result.push_back(b.size(static_cast<int>(dim)));
  for (i64 dim : left)
    rows.push_back(dim);
  Dims first(right);
  for (i64 dim : columns)
    first.push_back(dim);
  return a.permute(rows)
      .reshape({-1, between})
      .matmul(b.permute(first).reshape({between, -1}))
      .reshape(result);
}
} // namespace detail

/// Sums over these dims of a and those of b.
inline Tensor tensordot(Tensor a, Tensor b, const Dims &of_a,
                        const Dims &of_b) {
  return detail::tensordot("tensordot", a, b, of_a, of_b);
}
/// Sums over the last `dims` of a and the first of b.
inline Tensor tensordot(Tensor a, Tensor b, i64 dims = 2) {
  if (dims < 0 || dims > a.dim() || dims > b.dim())
    detail::fail("tensordot: {} dims of {} and {}; from 0 to all is wanted",
                 dims, a.sizes(), b.sizes());
  Dims last(list<i64>{}), first(list<i64>{});
  for (i64 i = 0; i < dims; ++i) {
    last.push_back(a.dim() - dims + i);
    first.push_back(i);
  }
  return detail::tensordot("tensordot", a, b, last, first);
}
/// Sums over the last dims of both.
inline Tensor Tensor::inner(Tensor other) const {
  detail::Called called("inner");
  if (dim() == 0 || other.dim() == 0)
    return mul(other);
  return detail::tensordot("inner", *this, other, Dims(-1), Dims(-1));
}

/// Of vectors of three along `dim`.
inline Tensor Tensor::cross(Tensor other, i64 dim) const {
  detail::Called called("cross");
  int at = static_cast<int>(dim);
  if (size(at) != 3 || other.size(at) != 3)
    detail::fail("cross: 3 along dim {} are wanted, got {} and {}", dim,
                 sizes(), other.sizes());
  return roll(-1, dim) * other.roll(-2, dim) -
         roll(-2, dim) * other.roll(-1, dim);
}
/// Along the first dim of three, as torch.cross.
inline Tensor Tensor::cross(Tensor other) const {
  detail::Called called("cross");
  for (int dim = 0; dim < this->dim(); ++dim)
    if (size(dim) == 3)
      return cross(other, dim);
  detail::fail("cross: {} has no dim of 3", sizes());
}
inline Tensor cross(Tensor a, Tensor b) { return a.cross(b); }
inline Tensor cross(Tensor a, Tensor b, i64 dim) { return a.cross(b, dim); }
inline Tensor cross(Tensor a, Tensor b, const DimOptions &o) {
  return a.cross(b, o.dim);
}
inline Tensor kron(Tensor a, Tensor b) {
  detail::Called called("kron");
  while (a.dim() < b.dim())
    a = a.unsqueeze(0);
  while (b.dim() < a.dim())
    b = b.unsqueeze(0);
  Shape outer, inner, result;
  for (int i = 0; i < a.dim(); ++i) {
    outer.push_back(a.size(i));
    outer.push_back(1);
    inner.push_back(1);
    inner.push_back(b.size(i));
    result.push_back(a.size(i) * b.size(i));
  }
  return (a.reshape(outer) * b.reshape(inner)).reshape(result);
}
/// The distance of each row of a to each of b.
inline Tensor cdist(Tensor a, Tensor b, double p = 2) {
  detail::Called called("cdist");
  if (a.dim() < 2 || b.dim() < 2 || a.size(-1) != b.size(-1))
    detail::fail("cdist: rows of one length are wanted, got {} and {}",
                 a.sizes(), b.sizes());
  if (!(p >= 0))
    detail::fail("cdist: p = {}; at least 0 is wanted", p);
  return (a.unsqueeze(-2) - b.unsqueeze(-3)).norm(p, -1);
}
/// The distances of each two of the rows, as cdist has them above its diagonal.
inline Tensor pdist(Tensor x, double p = 2) {
  detail::Called called("pdist");
  if (x.dim() != 2 || x.size(0) < 2)
    detail::fail("pdist: two rows or more are wanted, got {}", x.sizes());
  if (!(p >= 0))
    detail::fail("pdist: p = {}; at least 0 is wanted", p);
  i64 rows = x.size(0), count = rows * (rows - 1) / 2;
  // A row is compared with all behind it: with rows - 1 - number.
  Tensor number = arange(rows - 1), behind = rows - 1 - number;
  Tensor ends = behind.cumsum(0), first = detail::owners(ends, count);
  Tensor begin = detail::rows(ends - behind, 0, first);
  Tensor second = arange(count) - begin + first + 1;
  return (detail::rows(x, 0, first) - detail::rows(x, 0, second)).norm(p, -1);
}
namespace nn::functional {
using dl::pdist;
}
/// One after the other along dim 1; of vectors along dim 0.
inline Tensor hstack(const TensorList &tensors) {
  detail::Called called("hstack");
  bool vectors = tensors.size() && tensors[0].dim() <= 1;
  return cat(tensors, vectors ? 0 : 1);
}
/// One below the other; a vector is a row.
inline Tensor vstack(const TensorList &tensors) {
  detail::Called called("vstack");
  TensorList rows;
  for (int i = 0; i < tensors.size(); ++i)
    rows.push_back(tensors[i].dim() == 1 ? tensors[i].unsqueeze(0)
                                         : tensors[i]);
  return cat(rows, 0);
}
/// One beside the other; a vector is a column.
inline Tensor column_stack(const TensorList &tensors) {
  detail::Called called("column_stack");
  TensorList columns;
  for (const Tensor &tensor : tensors)
    columns.push_back(tensor.dim() < 2 ? tensor.reshape({-1, 1}) : tensor);
  return cat(columns, 1);
}
inline Tensor Tensor::kron(Tensor other) const {
  return dl::kron(*this, other);
}
inline Tensor mv(Tensor matrix, Tensor vector) { return matrix.mv(vector); }
inline Tensor inner(Tensor a, Tensor b) { return a.inner(b); }

} // namespace dl
