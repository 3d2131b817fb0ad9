#pragma once
// Functions whose arguments are named, F::softmax(x, {.dim = -1}): the methods
// of keyword_methods.h.
#include "activations.h"
#include "losses.h"
#include "quantiles.h"
#include "sampling.h"
#include "special.h"

namespace dl {

#define DL_METHOD(max)                                                         \
  inline ValuesAndIndices Tensor::max(const DimKeepdimOptions &o) const {      \
    return max(o.given(#max), o.keepdim);                                      \
  }
DL_METHOD(max)
DL_METHOD(min)
DL_METHOD(median)
#undef DL_METHOD
inline ValuesAndIndices Tensor::cummax(const DimOptions &o) const {
  return cummax(o.dim);
}
inline ValuesAndIndices Tensor::cummin(const DimOptions &o) const {
  return cummin(o.dim);
}
inline ValuesAndIndices Tensor::median(i64 dim, ReduceOptions o) const {
  return median(dim, o.keepdim);
}
inline ValuesAndIndices Tensor::kthvalue(i64 k,
                                         const DimKeepdimOptions &o) const {
  return kthvalue(k, o.dim == kEnd ? -1 : o.dim, o.keepdim);
}
inline ValuesAndIndices Tensor::sort(i64 dim, SortOptions o) const {
  o.dim = dim;
  return sort(o);
}
inline ValuesAndIndices Tensor::topk(i64 k, i64 dim, TopkOptions o) const {
  o.dim = dim;
  return topk(k, o);
}
inline TensorList Tensor::chunk(i64 chunks, const ListDimOptions &o) const {
  return chunk(chunks, o.dim);
}
inline TensorList Tensor::split(i64 size, const ListDimOptions &o) const {
  return split(size, o.dim);
}
inline TensorList Tensor::split(const Shape &sizes,
                                const ListDimOptions &o) const {
  return split(sizes, o.dim);
}
inline TensorList Tensor::unbind(const ListDimOptions &o) const {
  return unbind(o.dim);
}

#define DL_FUNCTION(Result, op, Options)                                       \
  inline Result op(const Tensor &x, const Options &o) { return x.op(o); }
DL_FUNCTION(Tensor, sum, SumOptions)
DL_FUNCTION(Tensor, mean, SumOptions)
DL_FUNCTION(Tensor, amax, DimsKeepdimOptions)
DL_FUNCTION(Tensor, amin, DimsKeepdimOptions)
DL_FUNCTION(Tensor, any, DimsKeepdimOptions)
DL_FUNCTION(Tensor, all, DimsKeepdimOptions)
DL_FUNCTION(Tensor, logsumexp, DimsKeepdimOptions)
DL_FUNCTION(ValuesAndIndices, max, DimKeepdimOptions)
DL_FUNCTION(ValuesAndIndices, min, DimKeepdimOptions)
DL_FUNCTION(ValuesAndIndices, median, DimKeepdimOptions)
DL_FUNCTION(Tensor, argmax, DimKeepdimOptions)
DL_FUNCTION(Tensor, argmin, DimKeepdimOptions)
DL_FUNCTION(Tensor, prod, DimKeepdimOptions)
DL_FUNCTION(Tensor, var, SpreadOptions)
DL_FUNCTION(Tensor, std, SpreadOptions)
DL_FUNCTION(Tensor, softmax, DimOptions)
DL_FUNCTION(Tensor, log_softmax, DimOptions)
DL_FUNCTION(Tensor, cumsum, CumulativeOptions)
DL_FUNCTION(Tensor, cumprod, CumulativeOptions)
DL_FUNCTION(Tensor, unsqueeze, DimOptions)
DL_FUNCTION(Tensor, squeeze, DimOptions)
DL_FUNCTION(Tensor, flatten, FlattenDims)
DL_FUNCTION(TensorList, unbind, ListDimOptions)
#undef DL_FUNCTION
inline Tensor softmax(const Tensor &x, i64 dim, DType dtype) {
  return x.softmax(dim, dtype);
}
inline Tensor log_softmax(const Tensor &x, i64 dim, DType dtype) {
  return x.log_softmax(dim, dtype);
}

inline ValuesAndIndices sort(const Tensor &x, i64 dim, SortOptions o) {
  return x.sort(dim, o);
}
inline Tensor argsort(const Tensor &x, i64 dim, SortOptions o) {
  return x.argsort(dim, o);
}
inline ValuesAndIndices topk(const Tensor &x, i64 k, i64 dim, TopkOptions o) {
  return x.topk(k, dim, o);
}
inline Tensor quantile(const Tensor &x, double q, const DimKeepdimOptions &o) {
  return x.quantile(q, o);
}
inline Tensor roll(const Tensor &x, const Dims &shifts, const RollOptions &o) {
  return x.roll(shifts, o);
}
inline Tensor repeat_interleave(const Tensor &x, i64 repeats,
                                const ListDimOptions &o) {
  return x.repeat_interleave(repeats, o);
}
inline TensorList chunk(const Tensor &x, i64 chunks, const ListDimOptions &o) {
  return x.chunk(chunks, o.dim);
}
inline TensorList split(const Tensor &x, i64 size, const ListDimOptions &o) {
  return x.split(size, o.dim);
}
inline TensorList split(const Tensor &x, const Shape &sizes,
                        const ListDimOptions &o) {
  return x.split(sizes, o.dim);
}
inline Tensor cat(const TensorList &tensors, const ListDimOptions &o) {
  return cat(tensors, o.dim);
}
inline Tensor concat(const TensorList &tensors, const ListDimOptions &o) {
  return concat(tensors, o.dim);
}
inline Tensor stack(const TensorList &tensors, const ListDimOptions &o) {
  return stack(tensors, o.dim);
}

/// "fro". (A number 0 is no text.)
template <int N> Tensor norm(const Tensor &x, const char (&p)[N]) {
  return x.norm(p);
}
template <int N>
Tensor norm(const Tensor &x, const char (&p)[N], const Dims &dims,
            bool keepdim = false) {
  return x.norm(p, dims, keepdim);
}

struct DiagonalOptions {
  detail::ByName by_name = {};
  i64 diagonal = 0;
};
inline Tensor triu(const Tensor &x, const DiagonalOptions &o) {
  return x.triu(o.diagonal);
}
inline Tensor tril(const Tensor &x, const DiagonalOptions &o) {
  return x.tril(o.diagonal);
}
struct DiffOptions {
  detail::ByName by_name = {};
  i64 n = 1, dim = -1;
};
inline Tensor diff(const Tensor &x, const DiffOptions &o) {
  return x.diff(o.n, o.dim);
}

struct MeshgridOptions {
  detail::ByName by_name = {};
  const char *indexing = "ij";
};
inline TensorList meshgrid(const TensorList &tensors,
                           const MeshgridOptions &o) {
  return meshgrid(tensors, o.indexing);
}
/// auto [y, x] = dl::meshgrid(a, b, {.indexing = "xy"});
inline Tensors<2> meshgrid(const Tensor &a, const Tensor &b,
                           const MeshgridOptions &o) {
  return detail::named<2>("meshgrid", meshgrid({a, b}, o));
}
inline Tensors<3> meshgrid(const Tensor &a, const Tensor &b, const Tensor &c,
                           const MeshgridOptions &o) {
  return detail::named<3>("meshgrid", meshgrid({a, b, c}, o));
}

struct LinearRecurrenceOptions {
  detail::ByName by_name = {};
  i64 dim = -1;
  bool reverse = false;
};
inline Tensor linear_recurrence(const Operand &a, const Operand &b,
                                const LinearRecurrenceOptions &o) {
  return linear_recurrence(a, b, o.dim, o.reverse);
}

inline Tensor linspace(double start, double end, i64 steps, TensorOptions o) {
  return linspace(start, end, steps).to(o.dtype);
}
inline Tensor eye(i64 n, TensorOptions o) { return eye(n, o.dtype); }
inline Tensor randint(i64 low, i64 high, const Shape &size, TensorOptions o) {
  return randint(low, high, size).to(o.dtype);
}

namespace nn::functional {
using dl::log_softmax, dl::softmax;
inline Tensor softmin(const Tensor &x, const DimOptions &o) {
  return (-x).softmax(o);
}
inline Tensor glu(const Tensor &x, const DimOptions &o) {
  return glu(x, o.dim);
}
inline Tensor normalize(const Tensor &x, double p, NormalizeOptions o) {
  o.p = p;
  return normalize(x, o);
}
struct OneHotOptions {
  detail::ByName by_name = {};
  i64 num_classes = -1;
};
inline Tensor one_hot(const Tensor &x, const OneHotOptions &o) {
  return one_hot(x, o.num_classes);
}
// Weights of classes by position, alone and with options behind them.
#define DL_WEIGHTED(loss, Options)                                             \
  inline Tensor loss(const Tensor &input, const Tensor &target,                \
                     const Tensor &weight, Options o) {                        \
    o.weight = weight;                                                         \
    return loss(input, target, o);                                             \
  }                                                                            \
  inline Tensor loss(const Tensor &input, const Tensor &target,                \
                     const detail::Given auto &weight) {                       \
    return loss(input, target, weight, Options{});                             \
  }
DL_WEIGHTED(cross_entropy, LossOptions)
DL_WEIGHTED(nll_loss, LossOptions)
DL_WEIGHTED(binary_cross_entropy_with_logits, BCEWithLogitsOptions)
#undef DL_WEIGHTED
inline Tensor conv1d(const Tensor &x, const Tensor &weight, const Tensor &bias,
                     i64 stride, Conv1dOptions o) {
  o.stride = stride;
  return conv1d(x, weight, bias, o);
}
inline Tensor conv2d(const Tensor &x, const Tensor &weight, const Tensor &bias,
                     Pair stride, Conv2dOptions o) {
  o.stride = stride;
  return conv2d(x, weight, bias, o);
}
inline Tensor cosine_similarity(const Tensor &a, const Tensor &b, i64 dim,
                                CosineSimilarityOptions o) {
  o.dim = dim;
  return cosine_similarity(a, b, o);
}
inline Tensor gumbel_softmax(const Tensor &logits, const Operand &tau,
                             const GumbelSoftmaxOptions &o) {
  return gumbel_softmax(logits / tau, o);
}
inline Tensor grid_sample(const Tensor &input, const Tensor &grid,
                          const char *mode, GridSampleOptions o = {}) {
  o.mode = mode;
  return grid_sample(input, grid, o);
}
} // namespace nn::functional

} // namespace dl
