#pragma once
// Integrals of what is given at places.
#include "shape.h"

namespace dl {

namespace detail {
/// Sums of neighbours, halved, as wide as they are apart.
inline Tensor trapezoids(const Tensor &y, i64 dim, const Tensor &width) {
  i64 last = y.size(static_cast<int>(dim)) - 1;
  Tensor both = y.narrow(dim, 0, last) + y.narrow(dim, 1, last);
  return (both * width * 0.5).sum(dim);
}
inline void require_trapezoids(const Tensor &y, i64 dim) {
  wrap("trapezoid", dim, y.dim(), y.sizes());
  if (y.dim() == 0 || y.size(static_cast<int>(dim)) < 2)
    fail("trapezoid: two places or more are wanted along dim {} of {}", dim,
         y.sizes());
}
} // namespace detail
/// The integral along a dim by trapezoids, between numbers that are `dx` apart.
inline Tensor trapezoid(Tensor y, double dx = 1, i64 dim = -1) {
  detail::Called called("trapezoid");
  detail::require_trapezoids(y, dim);
  return detail::trapezoids(y, dim, full({}, dx));
}
/// At the places x, of y's shape or of the dim's size.
inline Tensor trapezoid(Tensor y, Tensor x, i64 dim = -1) {
  detail::Called called("trapezoid");
  detail::require_trapezoids(y, dim);
  i64 at = detail::wrap("trapezoid", dim, y.dim(), y.sizes());
  i64 size = y.size(static_cast<int>(at));
  bool isVector = x.dim() == 1 && x.size(0) == size;
  if (!isVector && x.sizes() != y.sizes())
    detail::fail("trapezoid: places {} for {} along dim {}; {} numbers or as "
                 "many as there are of y are wanted",
                 x.sizes(), y.sizes(), dim, size);
  Shape along;
  for (int i = 0; isVector && i < y.dim(); ++i)
    along.push_back(i == at ? size : 1);
  x = isVector ? x.reshape(along) : x;
  return detail::trapezoids(
      y, dim, x.narrow(at, 1, size - 1) - x.narrow(at, 0, size - 1));
}
struct TrapezoidOptions {
  detail::ByName by_name = {};
  double dx = 1;
  i64 dim = -1;
};
inline Tensor trapezoid(Tensor y, const TrapezoidOptions &o) {
  return trapezoid(y, o.dx, o.dim);
}
inline Tensor trapezoid(Tensor y, Tensor x, const TrapezoidOptions &o) {
  return trapezoid(y, x, o.dim);
}
/// The integral up to each place but the first.
inline Tensor cumulative_trapezoid(Tensor y, double dx = 1, i64 dim = -1) {
  detail::Called called("cumulative_trapezoid");
  detail::require_trapezoids(y, dim);
  i64 last = y.size(static_cast<int>(dim)) - 1;
  return ((y.narrow(dim, 0, last) + y.narrow(dim, 1, last)) * (dx * 0.5))
      .cumsum(dim);
}
inline Tensor cumulative_trapezoid(Tensor y, const TrapezoidOptions &o) {
  return cumulative_trapezoid(y, o.dx, o.dim);
}

} // namespace dl
