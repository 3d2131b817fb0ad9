#pragma once
// Products, distances and stacks that consist of other ops.
#include "einsum.h"
#include "rounding.h"

namespace dl {

inline Tensor Tensor::mv(Tensor vector) const {
  detail::Called called("mv");
  if (dim() != 2 || vector.dim() != 1)
    detail::fail("mv: a matrix and a vector are wanted, got {} and {}", sizes(),
                 vector.sizes());
  return matmul(vector);
}

/// Sums over the last `dims` of a and the first of b.
inline Tensor tensordot(Tensor a, Tensor b, i64 dims = 2) {
  detail::Called called("tensordot");
  Shape left = a.sizes(), right = b.sizes(), result;
  if (dims < 0 || dims > left.rank || dims > right.rank)
    detail::fail("tensordot: {} dims of {} and {}", dims, left, right);
  i64 between = 1;
  for (int i = 0; i < left.rank - dims; ++i)
    result.push_back(left[i]);
  for (int i = 0; i < dims; ++i) {
    i64 size = right[i];
    if (left[left.rank - static_cast<int>(dims) + i] != size)
      detail::fail("tensordot: the last {} dims of {} are not the first of {}",
                   dims, left, right);
    between *= size;
  }
  for (int i = static_cast<int>(dims); i < right.rank; ++i)
    result.push_back(right[i]);
  return a.reshape({-1, between})
      .matmul(b.reshape({between, -1}))
      .reshape(result);
}
namespace detail {
/// The dims that are not among these, ascending.
inline Dims others(const Tensor &x, const Dims &dims) {
  Shape known = axes("tensordot", x, dims);
  Dims rest(list<i64>{});
  for (i64 dim = 0; dim < x.dim(); ++dim) {
    bool found = false;
    for (i64 one : known)
      found |= one == dim;
    if (!found)
      rest.push_back(dim);
  }
  return rest;
}
} // namespace detail
/// Sums over these dims of a and those of b.
inline Tensor tensordot(Tensor a, Tensor b, const Dims &of_a,
                        const Dims &of_b) {
  detail::Called called("tensordot");
  if (of_a.rank != of_b.rank)
    detail::fail("tensordot: dims {} of a and {} of b", of_a, of_b);
  Dims left = detail::others(a, of_a),
       right = Dims(detail::axes("tensordot", b, of_b));
  for (i64 dim : Dims(detail::axes("tensordot", a, of_a)))
    left.push_back(dim);
  for (i64 dim : detail::others(b, of_b))
    right.push_back(dim);
  return tensordot(a.permute(left), b.permute(right),
                   static_cast<i64>(of_a.rank));
}
/// Sums over the last dims of both.
inline Tensor Tensor::inner(Tensor other) const {
  detail::Called called("inner");
  if (dim() == 0 || other.dim() == 0)
    return mul(other);
  return tensordot(*this, other, Dims(-1), Dims(-1));
}
/// Of vectors of three along `dim`.
inline Tensor cross(Tensor a, Tensor b, i64 dim = -1) {
  detail::Called called("cross");
  if (a.size(static_cast<int>(dim)) != 3 || b.size(static_cast<int>(dim)) != 3)
    detail::fail("cross: 3 along dim {} are wanted, got {} and {}", dim,
                 a.sizes(), b.sizes());
  return a.roll(-1, dim) * b.roll(-2, dim) - a.roll(-2, dim) * b.roll(-1, dim);
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
  return (a.unsqueeze(-2) - b.unsqueeze(-3)).norm(p, -1);
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
inline Tensor mv(Tensor matrix, Tensor vector) { return matrix.mv(vector); }
inline Tensor inner(Tensor a, Tensor b) { return a.inner(b); }

} // namespace dl
