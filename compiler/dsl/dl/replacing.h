#pragma once
// Tensors with a part replaced, or added up to another size.
#include "diagonals.h"
#include "gather.h"
#include "in_place.h"

namespace dl {

inline Tensor Tensor::diagonal_scatter(Tensor src, i64 offset, i64 dim1,
                                       i64 dim2) const {
  detail::Called called("diagonal_scatter");
  Tensor ours = diagonal(offset, dim1, dim2);
  if (src.sizes() != ours.sizes())
    detail::fail("diagonal_scatter: src {} for a diagonal {}", src.sizes(),
                 ours.sizes());
  // Rows and columns of the square that the diagonal fills.
  Shape from = sizes();
  int row = static_cast<int>(dim1 < 0 ? dim1 + from.rank : dim1),
      column = static_cast<int>(dim2 < 0 ? dim2 + from.rank : dim2);
  i64 count = src.size(-1), top = offset < 0 ? -offset : 0,
      left = offset > 0 ? offset : 0;
  Tensor square = src.diag_embed(0, dim1, dim2);
  Shape flat;
  for (int i = 0; i < from.rank; ++i)
    flat.push_back(i == row || i == column ? count : 1);
  Tensor result = clone();
  Tensor part = result.narrow(row, top, count).narrow(column, left, count);
  part.copy_(dl::where(eye(count).gt(0).view(flat), square, part));
  return result;
}
/// The diagonal of a matrix; `wrap` of PyTorch is not there.
inline Tensor Tensor::fill_diagonal_(double value, bool wrap) const {
  detail::Called called("fill_diagonal_");
  if (dim() != 2 || wrap)
    detail::unsupported("fill_diagonal_: of {}{}: not in this version; of a "
                        "matrix it is, without wrap",
                        sizes(), wrap ? " with wrap" : "");
  return masked_fill_(eye(size(0), size(1)).gt(0), value);
}
/// Of the elements in the order of memory.
inline Tensor Tensor::take(Tensor index) const {
  detail::Called called("take");
  return reshape(-1).index_select(0, index.reshape(-1)).view(index.sizes());
}
/// Summed along the dims in front and those where the size is 1.
inline Tensor Tensor::sum_to_size(const Shape &size) const {
  detail::Called called("sum_to_size");
  Shape from = sizes(), along;
  int front = from.rank - size.rank;
  bool fits = front >= 0;
  for (int i = 0; fits && i < from.rank; ++i) {
    fits = i < front || size[i - front] == 1 || size[i - front] == from[i];
    if (i < front || size[i - front] != from[i])
      along.push_back(i);
  }
  if (!fits)
    detail::fail("sum_to_size: {} does not broadcast to {}", size, from);
  return along.rank ? sum(along).reshape(size) : *this;
}

inline Tensor diagonal_scatter(Tensor x, Tensor src, i64 offset = 0,
                               i64 dim1 = 0, i64 dim2 = 1) {
  return x.diagonal_scatter(src, offset, dim1, dim2);
}
inline Tensor slice_scatter(Tensor x, Tensor src, i64 dim = 0, i64 start = 0,
                            i64 end = kEnd, i64 step = 1) {
  return x.slice_scatter(src, dim, start, end, step);
}
inline Tensor select_scatter(Tensor x, Tensor src, i64 dim, i64 index) {
  return x.select_scatter(src, dim, index);
}
inline Tensor take(Tensor x, Tensor index) { return x.take(index); }
/// The index along each dim of elements that are counted row by row.
inline TensorList unravel_index(Tensor indices, const Shape &shape) {
  detail::Called called("unravel_index");
  if (indices.is_floating_point())
    detail::fail("unravel_index: the indices are floats; integers are wanted");
  TensorList places;
  i64 below = shape.numel();
  for (i64 size : shape) {
    if (size < 1)
      detail::fail("unravel_index: shape {}; sizes of at least 1 are wanted",
                   shape);
    below /= size;
    places.push_back(indices.floor_divide(below).remainder(size));
  }
  return places;
}

} // namespace dl
