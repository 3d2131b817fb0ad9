#pragma once
// Tensors made of others: repeated, numbered, and products of few dims.
#include "rounding.h"

namespace dl {

inline Tensor Tensor::repeat(const Shape &repeats) const {
  detail::Called called("repeat");
  Shape from = sizes(), open, wide, to;
  int added = repeats.rank - from.rank;
  if (added < 0)
    detail::fail("repeat: {} has more dims than {} names", from, repeats);
  // A new dim before each, expanded, then joined with it.
  for (int i = 0; i < repeats.rank; ++i) {
    i64 size = i < added ? 1 : from[i - added];
    if (repeats[i] < 1)
      detail::fail("repeat: {} times is no size; each must be at least 1",
                   repeats[i]);
    to.push_back(size * repeats[i]);
    if (repeats[i] != 1) {
      open.push_back(1);
      wide.push_back(repeats[i]);
    }
    if (size != 1 || repeats[i] == 1) {
      open.push_back(size);
      wide.push_back(size);
    }
  }
  return detail::copied(reshape(open).expand(wide).reshape(to));
}
inline Tensor Tensor::tile(const Shape &repeats) const {
  detail::Called called("tile");
  Shape all;
  for (int i = repeats.rank; i < dim(); ++i)
    all.push_back(1);
  for (i64 times : repeats)
    all.push_back(times);
  return repeat(all);
}
/// Dim source[i] becomes dim destination[i], the others keep their order.
inline Tensor Tensor::movedim(const Dims &source,
                              const Dims &destination) const {
  detail::Called called("movedim");
  if (source.rank != destination.rank)
    detail::fail("movedim: {} to {}; as many dims as places are wanted", source,
                 destination);
  Shape from = sizes(), order;
  detail::axes("movedim", *this, source); // each once
  detail::axes("movedim", *this, destination);
  int at[Shape::kMaxRank];
  bool moved[Shape::kMaxRank]{};
  for (int i = 0; i < from.rank; ++i)
    at[i] = -1;
  for (int i = 0; i < source.rank; ++i) {
    i64 dim = detail::wrap("movedim", source[i], from.rank, from);
    at[detail::wrap("movedim", destination[i], from.rank, from)] =
        static_cast<int>(dim);
    moved[dim] = true;
  }
  for (int i = 0, rest = 0; i < from.rank; ++i) {
    while (at[i] < 0 && moved[rest])
      ++rest;
    order.push_back(at[i] < 0 ? rest++ : at[i]);
  }
  return permute(order);
}
inline Tensor Tensor::movedim(i64 source, i64 destination) const {
  return movedim(Dims{source}, Dims{destination});
}
inline Tensor movedim(Tensor x, const Dims &source, const Dims &destination) {
  return x.movedim(source, destination);
}
inline Tensor tile(Tensor x, const Shape &repeats) { return x.tile(repeats); }
inline Tensor movedim(Tensor x, i64 source, i64 destination) {
  return x.movedim(source, destination);
}
inline Tensor swapaxes(Tensor x, i64 a, i64 b) { return x.swapaxes(a, b); }

/// `steps` numbers from start to end, both included.
inline Tensor linspace(double start, double end, i64 steps) {
  detail::Called called("linspace");
  if (steps < 1)
    detail::fail("linspace: steps = {}; at least 1 is wanted", steps);
  double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  return detail::progression(start, step, steps, kFloat);
}
/// Powers of the base from start to end.
inline Tensor logspace(double start, double end, i64 steps, double base = 10) {
  detail::Called called("logspace");
  return (linspace(start, end, steps) * __builtin_log(base)).exp();
}
/// Ones where row and column are equal: [n, m], [n, n] without m.
inline Tensor eye(i64 n, i64 m, DType dtype) {
  detail::Called called("eye");
  return arange(n).unsqueeze(1).eq(arange(m ? m : n)).to(dtype);
}
inline Tensor eye(i64 n, DType dtype) { return eye(n, n, dtype); }
inline Tensor eye(i64 n, i64 m = 0) { return eye(n, m, kFloat); }
/// The first tensor's elements along the first dim of all results, and so on.
inline TensorList meshgrid(const TensorList &tensors,
                           const char *indexing = "ij") {
  detail::Called called("meshgrid");
  bool swap = detail::equal(indexing, "xy");
  if (!swap && !detail::equal(indexing, "ij"))
    detail::fail(
        "meshgrid: indexing = \"{}\" is unknown; \"ij\" and \"xy\" are",
        indexing);
  Shape shape;
  for (int i = 0; i < tensors.size(); ++i) {
    if (tensors[i].dim() > 1)
      detail::fail("meshgrid: tensor {} is {}; one dim is wanted", i,
                   tensors[i].sizes());
    shape.push_back(tensors[i].numel());
  }
  TensorList result;
  for (int i = 0; i < tensors.size(); ++i) {
    Shape one;
    for (int j = 0; j < shape.rank; ++j)
      one.push_back(j == i ? shape[j] : 1);
    Tensor grid = tensors[i].reshape(one).expand(shape);
    result.push_back(swap && shape.rank > 1 ? grid.transpose(0, 1) : grid);
  }
  return result;
}
/// auto [y, x] = dl::meshgrid(a, b);
template <class... T>
  requires(sizeof...(T) > 0 && (__is_convertible(T, Tensor) && ...))
Tensors<1 + sizeof...(T)> meshgrid(const Tensor &first, const T &...others) {
  return detail::named<1 + sizeof...(T)>(
      "meshgrid", meshgrid(TensorList{first, others...}));
}

inline Tensor Tensor::dot(Tensor other) const {
  detail::Called called("dot");
  if (dim() != 1 || other.dim() != 1 || size(0) != other.size(0))
    detail::fail("dot: two vectors of one length are wanted, got {} and {}",
                 sizes(), other.sizes());
  return mul(other).sum();
}
inline Tensor Tensor::outer(Tensor other) const {
  detail::Called called("outer");
  if (dim() != 1 || other.dim() != 1)
    detail::fail("outer: two vectors are wanted, got {} and {}", sizes(),
                 other.sizes());
  return unsqueeze(1) * other;
}
inline Tensor dot(Tensor a, Tensor b) { return a.dot(b); }
inline Tensor outer(Tensor a, Tensor b) { return a.outer(b); }

/// beta * x + alpha * a @ b: matrices, batches of them, batches of them that
/// are added up; a matrix and a vector, two vectors.
#define DL_ADDED(name, product)                                                \
  inline Tensor Tensor::name(Tensor a, Tensor b, AddmmOptions o) const {       \
    detail::Called called(#name);                                              \
    Tensor made = product;                                                     \
    return (o.beta == 1 ? *this : *this * o.beta) +                            \
           (o.alpha == 1 ? made : made * o.alpha);                             \
  }                                                                            \
  inline Tensor name(Tensor x, Tensor a, Tensor b, AddmmOptions o = {}) {      \
    return x.name(a, b, o);                                                    \
  }
DL_ADDED(addmm, a.mm(b))
DL_ADDED(baddbmm, a.bmm(b))
DL_ADDED(addbmm, a.bmm(b).sum(0))
DL_ADDED(addmv, a.mv(b))
DL_ADDED(addr, a.outer(b))
#undef DL_ADDED

} // namespace dl
