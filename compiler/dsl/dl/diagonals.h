#pragma once
// Diagonals of matrices, taken and made.
#include "order.h"

namespace dl {

/// The elements [..., i, i + offset] of the dims dim1 and dim2, which become
/// one, the last.
inline Tensor Tensor::diagonal(i64 offset, i64 dim1, i64 dim2) const {
  detail::Called called("diagonal");
  Shape from = sizes(), order, to;
  i64 row = detail::wrap("diagonal", dim1, from.rank, from),
      column = detail::wrap("diagonal", dim2, from.rank, from);
  if (from.rank < 2 || row == column)
    detail::fail("diagonal: two different dims are wanted, got {} and {} of {}",
                 dim1, dim2, from);
  for (int i = 0; i < from.rank; ++i)
    if (i != row && i != column) {
      order.push_back(i);
      to.push_back(from[i]);
    }
  i64 rows = from[static_cast<int>(row)],
      columns = from[static_cast<int>(column)];
  i64 low = offset < 0 ? -offset : 0, right = offset > 0 ? offset : 0;
  i64 count = rows - low < columns - right ? rows - low : columns - right;
  if (count < 1)
    detail::fail("diagonal: offset {} is outside of {} by {}; an empty tensor "
                 "cannot be",
                 offset, rows, columns);
  order.push_back(row), order.push_back(column);
  to.push_back(rows * columns);
  i64 first = low * columns + right, step = columns + 1;
  return permute(order).reshape(to).slice(-1, first,
                                          first + (count - 1) * step + 1, step);
}

/// Zeros but for the last dim's elements, which become a diagonal of the dims
/// dim1 and dim2 of the result.
inline Tensor diag_embed(Tensor x, i64 offset = 0, i64 dim1 = -2,
                         i64 dim2 = -1) {
  detail::Called called("diag_embed");
  Shape from = x.sizes(), padded = from, order;
  if (from.rank == 0)
    detail::fail("diag_embed: a scalar has no dims");
  int rank = from.rank + 1;
  if (dim1 < -rank || dim1 >= rank || dim2 < -rank || dim2 >= rank ||
      (dim1 - dim2) % rank == 0)
    detail::fail("diag_embed: two different dims of {} are wanted, got {} and "
                 "{}",
                 rank, dim1, dim2);
  i64 shift = offset < 0 ? -offset : offset, size = from[-1] + shift;
  padded[-1] = shift;
  if (shift)
    x = cat({x, zeros(padded, x.dtype())}, -1);
  // In row i stands element i, or of diagonals below the middle that of the
  // column.
  Tensor place = arange(size);
  Tensor here = place.unsqueeze(1).add(offset).eq(place);
  Tensor square = where(here, x.unsqueeze(offset < 0 ? -2 : -1), 0);
  int next = 0;
  for (int i = 0; i < rank; ++i)
    order.push_back(i == (dim1 + rank) % rank   ? rank - 2
                    : i == (dim2 + rank) % rank ? rank - 1
                                                : next++);
  return square.permute(order);
}

/// Of a vector the matrix with this diagonal, of a matrix its diagonal.
inline Tensor diag(Tensor x, i64 diagonal = 0) {
  detail::Called called("diag");
  if (x.dim() != 1 && x.dim() != 2)
    detail::fail("diag: a vector or a matrix is wanted, got {}", x.sizes());
  return x.dim() == 1 ? diag_embed(x, diagonal)
                      : detail::copied(x.diagonal(diagonal));
}
/// The sum of a matrix's diagonal.
inline Tensor Tensor::trace() const {
  detail::Called called("trace");
  if (dim() != 2)
    detail::fail("trace: a matrix is wanted, got {}", sizes());
  return diagonal().sum();
}

inline Tensor Tensor::diag(i64 diagonal) const {
  return dl::diag(*this, diagonal);
}
inline Tensor Tensor::diag_embed(i64 offset, i64 dim1, i64 dim2) const {
  return dl::diag_embed(*this, offset, dim1, dim2);
}
inline Tensor diagonal(Tensor x, i64 offset = 0, i64 dim1 = 0, i64 dim2 = 1) {
  return x.diagonal(offset, dim1, dim2);
}
inline Tensor trace(Tensor x) { return x.trace(); }
/// Matrices along the diagonal of one, zeros around them. A vector is a row.
inline Tensor block_diag(const TensorList &tensors) {
  detail::Called called("block_diag");
  i64 columns = 0, before = 0;
  for (const Tensor &x : tensors)
    columns += x.dim() == 0 ? 1 : x.size(-1);
  TensorList rows;
  for (const Tensor &x : tensors) {
    if (x.dim() > 2)
      detail::fail("block_diag: matrices are wanted, not {}", x.sizes());
    Tensor block = x.dim() == 2 ? x : x.reshape({1, -1});
    i64 width = block.size(1), after = columns - before - width;
    TensorList row;
    if (before)
      row.push_back(zeros({block.size(0), before}, block.dtype()));
    row.push_back(block);
    if (after)
      row.push_back(zeros({block.size(0), after}, block.dtype()));
    rows.push_back(cat(row, 1));
    before += width;
  }
  return cat(rows);
}

} // namespace dl
