#pragma once
// Lists of what can be combined.
#include "literals.h"
#include "making.h"

namespace dl {

/// [n, k]: all choices of one element of each of the k tensors.
inline Tensor cartesian_prod(const TensorList &tensors) {
  detail::Called called("cartesian_prod");
  TensorList columns;
  for (const Tensor &grid : meshgrid(tensors))
    columns.push_back(grid.reshape(-1));
  return columns.size() == 1 ? columns[0] : stack(columns, 1);
}
template <class... T>
  requires(__is_convertible(T, Tensor) && ...)
Tensor cartesian_prod(const Tensor &first, const T &...others) {
  return cartesian_prod(TensorList{first, others...});
}

/// [n, r]: all choices of r elements in the order that they stand in.
inline Tensor combinations(Tensor x, i64 r = 2, bool with_replacement = false) {
  detail::Called called("combinations");
  i64 size = x.numel(), count = 0;
  if (x.dim() != 1 || r < 1 || r > Shape::kMaxRank ||
      (!with_replacement && r > size))
    detail::fail("combinations: {} elements of {}; of one dim, up to as many "
                 "as there are and up to {}",
                 r, x.sizes(), i64(Shape::kMaxRank));
  if (r == 2) { // however many
    Tensor pairs = triu_indices(size, size, with_replacement ? 0 : 1);
    return stack({x.index_select(0, pairs[0]), x.index_select(0, pairs[1])}, 1);
  }
  i64 at[Shape::kMaxRank], *places = nullptr, room = 0;
  for (i64 i = 0; i < r; ++i)
    at[i] = with_replacement ? 0 : i;
  for (bool more = true; more; ++count) {
    if ((count + 1) * r > room) {
      i64 *wider = new i64[static_cast<unsigned long>(room = 2 * room + 8 * r)];
      for (i64 i = 0; i < count * r; ++i)
        wider[i] = places[i];
      delete[] places;
      places = wider;
    }
    for (i64 i = 0; i < r; ++i)
      places[count * r + i] = at[i];
    i64 last = r - 1;
    auto most = [&](i64 i) {
      return with_replacement ? size - 1 : size - r + i;
    };
    while (last >= 0 && at[last] == most(last))
      --last;
    if ((more = last >= 0)) {
      ++at[last];
      for (i64 i = last + 1; i < r; ++i)
        at[i] = with_replacement ? at[last] : at[i - 1] + 1;
    }
  }
  if (count > detail::kMostLiterals)
    detail::unsupported("combinations: {} elements of {}, {} choices: in this "
                        "version up to {} of more than two",
                        r, size, count, detail::kMostLiterals);
  TensorList columns;
  for (i64 i = 0; i < r; ++i) {
    i64 *column = new i64[static_cast<unsigned long>(count)];
    for (i64 row = 0; row < count; ++row)
      column[row] = places[row * r + i];
    columns.push_back(
        x.index_select(0, detail::literal(column, count, kInt64)));
    delete[] column;
  }
  delete[] places;
  return stack(columns, 1);
}

/// [n, N]: powers of each element, from N - 1 to 0, or from 0 on.
inline Tensor vander(Tensor x, i64 N = 0, bool increasing = false) {
  detail::Called called("vander");
  if (x.dim() != 1 || N < 0)
    detail::fail("vander: N = {} columns of {}; a vector is wanted", N,
                 x.sizes());
  N = N ? N : x.numel();
  TensorList columns{ones_like(x)};
  for (i64 i = 1; i < N; ++i)
    columns.push_back(columns[static_cast<int>(i - 1)] * x);
  TensorList ordered;
  for (i64 i = 0; i < N; ++i)
    ordered.push_back(columns[static_cast<int>(increasing ? i : N - 1 - i)]);
  return stack(ordered, 1);
}

} // namespace dl
