#pragma once
// Maxima, means and counts at indices that are data.
#include "in_place.h"
#include "scans.h"
#include "shape.h"

namespace dl {

struct BincountOptions {
  /// What each element counts; without them 1.
  Tensor weights = {};
  /// How many bins there are.
  i64 minlength = 0;
};

namespace detail {

/// The greatest of each place's, and of those in `mine`, which share a gradient
/// where they are equal; a place that has none has the least number there is.
inline Tensor maxima(const Tensor &mine, int dim, const Tensor &index,
                     const Tensor &part, bool include_self) {
  i64 size = mine.size(dim);
  Tensor all = part, places = index;
  if (include_self) {
    all = cat({mine, part}, dim);
    Shape own = index.sizes();
    own[dim] = size;
    Tensor rows = along(arange(size), dim, own.rank).expand(own);
    places = cat({rows, index}, dim);
  }
  return emit("scatter_amax", places, all, {{"dim", dim}, {"size", size}});
}

/// The product of each place's, 1 where there is none: what belongs together is
/// one run in the order of the indices, along which it is multiplied. The
/// gradient is exact where factors are 0.
inline Tensor products(int dim, const Tensor &index, const Tensor &part,
                       const Tensor &count) {
  i64 length = index.size(dim);
  Tensor order = index.argsort(dim), sorted = gathered(index, dim, order);
  Tensor place = along(arange(length), dim, index.dim());
  Tensor first = place.eq(0).logical_or(sorted.ne(sorted.roll(1, dim)));
  Tensor x = gathered(part, dim, order);
  Tensor so_far =
      linear_recurrence(where(first, 0, x), where(first, x, 0), dim);
  Tensor last = count.cumsum(dim) - 1;
  return where(count.gt(0), gathered(so_far, dim, last.clamp_min(0)), 1);
}

/// `mine` as it is where the index names a place, which as many dims as x have.
inline Tensor reduced_at(const char *what, const Tensor &mine, int dim,
                         const Tensor &index, const Tensor &part,
                         const char *reduce, bool include_self) {
  auto is = [&](const char *name) {
    return __builtin_strcmp(reduce, name) == 0;
  };
  i64 size = mine.size(dim);
  bool isMax = is("amax"), isMin = is("amin"), isMean = is("mean"),
       isProduct = is("prod");
  if (!isMax && !isMin && !isMean && !isProduct && !is("sum"))
    fail("{}: reduce = \"{}\"; \"sum\", \"mean\", \"prod\", \"amax\" or "
         "\"amin\" is wanted",
         what, reduce);
  check_indices(what, index, size);
  Tensor count;
  if (isMean || isProduct || !include_self)
    count = scattered(full(index.sizes(), 1, kInt64), dim, index, size);
  Tensor result;
  if (isMax)
    result = maxima(mine, dim, index, part, include_self);
  else if (isMin)
    result = maxima(mine.neg(), dim, index, part.neg(), include_self).neg();
  else if (isProduct)
    result = products(dim, index, part, count);
  else
    result = scattered(part, dim, index, size);
  if (include_self && isProduct)
    result = mine * result;
  else if (include_self && !isMax && !isMin)
    result = mine + result;
  if (isMean) {
    Tensor number = include_self ? count + 1 : count.clamp_min(1);
    result = part.is_floating_point() ? result / number
                                      : result.floor_divide(number);
  }
  return include_self ? result : dl::where(count.gt(0), result, mine);
}

/// Only as much of x as the index speaks of is another one's.
inline Tensor scatter_reduced(const Tensor &x, int dim, const Tensor &index,
                              const Tensor &src, const char *reduce,
                              bool include_self) {
  const char *what = "scatter_reduce";
  Shape from = x.sizes(), shape = index.sizes();
  require_dtype(what, x, src);
  Tensor part = of_source(what, src, shape, dim);
  Tensor wholes[8], mine = x;
  if (shape.rank != from.rank)
    fail("{}: the index {} does not fit the tensor {}", what, shape, from);
  for (int i = 0; i < from.rank; ++i) {
    if (i != dim && shape[i] > from[i])
      fail("{}: the index {} does not fit the tensor {}", what, shape, from);
    wholes[i] = mine;
    if (i != dim && shape[i] < from[i])
      mine = mine.narrow(i, 0, shape[i]);
  }
  Tensor result = reduced_at(what, summable(mine), dim, as_indices(what, index),
                             summable(part), reduce, include_self)
                      .to(x.dtype());
  for (int i = from.rank; i-- > 0;)
    if (i != dim && shape[i] < from[i])
      result = wholes[i].slice_scatter(result, i, 0, shape[i]);
  return result;
}

} // namespace detail

/// x with what src[i][j] and others give for [index[i][j]][j], for dim 0:
/// "sum", "mean", "prod", "amax" or "amin", of x's element, too, or without it:
///
///   auto most = dl::zeros({nodes, 8}).scatter_reduce(
///       0, to.unsqueeze(1).expand({-1, 8}), messages, "amax",
///       {.include_self = false});
///
/// Equal maxima share the gradient. (Where self is not included PyTorch counts
/// it among them, if it is as great as they are.)
inline Tensor Tensor::scatter_reduce(i64 dim, Tensor index, Tensor src,
                                     const char *reduce,
                                     ScatterReduceOptions options) const {
  detail::Called called("scatter_reduce");
  Shape from = sizes();
  if (from.rank == 0)
    detail::fail("scatter_reduce: a tensor with dims is wanted");
  int at =
      static_cast<int>(detail::wrap("scatter_reduce", dim, from.rank, from));
  return detail::scatter_reduced(*this, at, index, src, reduce,
                                 options.include_self);
}

/// The same with slices of `source`, where the list of indices says.
inline Tensor Tensor::index_reduce(i64 dim, Tensor index, Tensor source,
                                   const char *reduce,
                                   ScatterReduceOptions options) const {
  detail::Called called("index_reduce");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("index_reduce", dim, from.rank, from));
  Tensor indices =
      detail::slice_indices("index_reduce", *this, at, index, source);
  return detail::reduced_at("index_reduce", detail::summable(*this), at,
                            indices, detail::summable(source), reduce,
                            options.include_self)
      .to(dtype());
}

#define DL_FUNCTION(op)                                                        \
  inline Tensor op(Tensor x, i64 dim, Tensor index, Tensor src,                \
                   const char *reduce, ScatterReduceOptions options = {}) {    \
    return x.op(dim, index, src, reduce, options);                             \
  }                                                                            \
  template <detail::Bool T>                                                    \
  Tensor op(Tensor x, i64 dim, Tensor index, Tensor src, const char *reduce,   \
            T include_self) {                                                  \
    return x.op(dim, index, src, reduce, ScatterReduceOptions{include_self});  \
  }                                                                            \
  inline Tensor Tensor::op##_(i64 dim, Tensor index, Tensor src,               \
                              const char *reduce,                              \
                              ScatterReduceOptions options) const {            \
    return copy_(op(dim, index, src, reduce, options));                        \
  }
DL_FUNCTION(scatter_reduce)
DL_FUNCTION(index_reduce)
#undef DL_FUNCTION

/// How often each of 0 to minlength - 1 is there. The number of bins is known
/// before the step: an element that has none fails the step.
inline Tensor bincount(Tensor x, const BincountOptions &options = {}) {
  detail::Called called("bincount");
  if (x.dim() != 1)
    detail::fail("bincount: a vector is wanted, not {}", x.sizes());
  if (options.minlength < 1)
    detail::fail("bincount: how many bins there are has to be known: "
                 "dl::bincount(x, {.minlength = 10})");
  Tensor index = detail::as_indices("bincount", x);
  detail::check_indices("bincount", index, options.minlength);
  Tensor counts = options.weights;
  if (!counts.defined())
    counts = full(x.sizes(), 1, kInt64);
  else if (counts.sizes() != x.sizes())
    detail::fail("bincount: weights {} for {}", counts.sizes(), x.sizes());
  return detail::scattered(detail::summable(counts), 0, index,
                           options.minlength);
}

/// In PyTorch's positions; no weights are dl::Tensor().
inline Tensor bincount(Tensor x, Tensor weights, i64 minlength) {
  return bincount(x, {.weights = weights, .minlength = minlength});
}

} // namespace dl
