#pragma once
// Methods of Tensor whose arguments are named: x.sum({.dim = 1}). They call
// those that take them by position.
#include "tensor_options.h"

namespace dl {

namespace detail {
/// A tensor, and not the braces of options.
template <class T>
concept Given = __is_base_of(Tensor, T);
/// What has it as its first member is made by names alone: {0, 1} is no such
/// struct, and stays a list of dims.
struct ByName {
  constexpr ByName() noexcept {}
};
} // namespace detail

struct DimOptions {
  detail::ByName by_name = {};
  i64 dim = -1;
  DType dtype = DType::Float; ///< of softmax
};
struct ListDimOptions {
  detail::ByName by_name = {};
  i64 dim = 0;
};
struct DimKeepdimOptions {
  detail::ByName by_name = {};
  i64 dim = kEnd; ///< must be given
  bool keepdim = false;

  i64 given(const char *what) const {
    if (dim == kEnd)
      detail::fail("{}: keepdim goes with a dim: {.dim = 1, .keepdim = true}",
                   what);
    return dim;
  }
};
/// No dims: all.
struct DimsKeepdimOptions {
  detail::ByName by_name = {};
  Dims dim = list<i64>{};
  bool keepdim = false;

  Dims of(int rank) const {
    Dims dims = dim;
    if (dim.rank == 0)
      for (int i = 0; i < rank; ++i)
        dims.push_back(i);
    return dims;
  }
};
/// Of sums: the dtype that is added up in, and comes out.
struct SumOptions {
  detail::ByName by_name = {};
  Dims dim = list<i64>{};
  bool keepdim = false;
  DType dtype = detail::kItsOwn;
};
struct CumulativeOptions {
  detail::ByName by_name = {};
  i64 dim = -1;
  DType dtype = detail::kItsOwn;
};
/// unbiased = false is correction = 0.
struct SpreadOptions {
  detail::ByName by_name = {};
  Dims dim = list<i64>{};
  i64 correction = 1;
  bool unbiased = true, keepdim = false;
};
struct FlattenDims {
  detail::ByName by_name = {};
  i64 start_dim = 0, end_dim = -1;
};
struct NormalOptions {
  detail::ByName by_name = {};
  double mean = 0, std = 1;
};
/// As many digits behind the point, or zeros in front of it.
struct RoundOptions {
  detail::ByName by_name = {};
  i64 decimals = 0;
};
struct RollOptions {
  detail::ByName by_name = {};
  Dims dims = list<i64>{};
};

} // namespace dl

#define DL_OF_DIMS(sum)                                                        \
  Tensor sum(const DimsKeepdimOptions &o) const {                              \
    return o.dim.rank || o.keepdim ? sum(o.of(dim()), o.keepdim) : sum();      \
  }
#define DL_OF_DIM(argmax)                                                      \
  Tensor argmax(const DimKeepdimOptions &o) const {                            \
    return argmax(o.given(#argmax), o.keepdim);                                \
  }
#define DL_ALONG(squeeze)                                                      \
  Tensor squeeze(const DimOptions &o) const { return squeeze(o.dim); }
#define DL_SUMS(sum)                                                           \
  Tensor sum(const SumOptions &o) const {                                      \
    Tensor x = o.dtype == detail::kItsOwn ? *this : to(o.dtype);               \
    DimsKeepdimOptions along{{}, o.dim, o.keepdim};                            \
    return o.dim.rank || o.keepdim ? x.sum(along.of(dim()), o.keepdim)         \
                                   : x.sum();                                  \
  }
#define DL_CUMULATIVE(cumsum)                                                  \
  Tensor cumsum(const CumulativeOptions &o) const {                            \
    return (o.dtype == detail::kItsOwn ? *this : to(o.dtype)).cumsum(o.dim);   \
  }                                                                            \
  Tensor cumsum(i64 dim, CumulativeOptions o) const {                          \
    return o.dim = dim, cumsum(o);                                             \
  }

#define DL_KEYWORD_METHODS                                                     \
  DL_SUMS(sum)                                                                 \
  DL_SUMS(mean)                                                                \
  DL_OF_DIMS(amax)                                                             \
  DL_OF_DIMS(amin)                                                             \
  DL_OF_DIMS(any)                                                              \
  DL_OF_DIMS(all)                                                              \
  DL_OF_DIMS(nansum)                                                           \
  DL_OF_DIMS(nanmean)                                                          \
  Tensor logsumexp(const DimsKeepdimOptions &o) const {                        \
    return logsumexp(o.of(dim()), o.keepdim);                                  \
  }                                                                            \
  Tensor any(const Dims &dims, ReduceOptions o) const {                        \
    return any(dims, o.keepdim);                                               \
  }                                                                            \
  Tensor all(const Dims &dims, ReduceOptions o) const {                        \
    return all(dims, o.keepdim);                                               \
  }                                                                            \
  ValuesAndIndices max(const DimKeepdimOptions &o) const;                      \
  ValuesAndIndices min(const DimKeepdimOptions &o) const;                      \
  ValuesAndIndices median(const DimKeepdimOptions &o) const;                   \
  DL_OF_DIM(argmax)                                                            \
  DL_OF_DIM(argmin)                                                            \
  DL_OF_DIM(prod)                                                              \
  ValuesAndIndices median(i64 dim, ReduceOptions o) const;                     \
  Tensor var(const SpreadOptions &o) const {                                   \
    return var(o.dim, VarOptions{o.correction, o.unbiased, o.keepdim});        \
  }                                                                            \
  Tensor std(const SpreadOptions &o) const {                                   \
    return std(o.dim, VarOptions{o.correction, o.unbiased, o.keepdim});        \
  }                                                                            \
  Tensor norm(double p, const DimsKeepdimOptions &o) const {                   \
    return norm(p, o.of(dim()), o.keepdim);                                    \
  }                                                                            \
  template <int N> Tensor norm(const char (&p)[N]) const {                     \
    return norm(NormOptions{p});                                               \
  }                                                                            \
  template <int N>                                                             \
  Tensor norm(const char (&p)[N], const Dims &dims, bool keepdim = false)      \
      const {                                                                  \
    return norm(NormOptions{p, dims, keepdim});                                \
  }                                                                            \
  Tensor normal_(const NormalOptions &o) const {                               \
    return normal_(o.mean, o.std);                                             \
  }                                                                            \
  Tensor quantile(double q, const DimKeepdimOptions &o) const {                \
    return quantile(q, o.given("quantile"), o.keepdim);                        \
  }                                                                            \
  Tensor quantile(double q, i64 dim, ReduceOptions o) const {                  \
    return quantile(q, dim, o.keepdim);                                        \
  }                                                                            \
  ValuesAndIndices kthvalue(i64 k, const DimKeepdimOptions &o) const;          \
  Tensor softmax(const DimOptions &o) const {                                  \
    return to(o.dtype).softmax(o.dim);                                         \
  }                                                                            \
  Tensor log_softmax(const DimOptions &o) const {                              \
    return to(o.dtype).log_softmax(o.dim);                                     \
  }                                                                            \
  DL_CUMULATIVE(cumsum)                                                        \
  DL_CUMULATIVE(cumprod)                                                       \
  DL_ALONG(logcumsumexp)                                                       \
  ValuesAndIndices cummax(const DimOptions &o) const;                          \
  ValuesAndIndices cummin(const DimOptions &o) const;                          \
  DL_ALONG(unsqueeze)                                                          \
  DL_ALONG(squeeze)                                                            \
  Tensor flatten(const FlattenDims &o) const {                                 \
    return flatten(o.start_dim, o.end_dim);                                    \
  }                                                                            \
  Tensor roll(const Dims &shifts, const RollOptions &o) const {                \
    return o.dims.rank ? roll(shifts, o.dims) : roll(shifts);                  \
  }                                                                            \
  Tensor repeat_interleave(i64 repeats, const ListDimOptions &o) const {       \
    return repeat_interleave(repeats, o.dim);                                  \
  }                                                                            \
  ValuesAndIndices sort(i64 dim, SortOptions o) const;                         \
  Tensor argsort(i64 dim, SortOptions o) const {                               \
    return o.dim = dim, argsort(o);                                            \
  }                                                                            \
  ValuesAndIndices topk(i64 k, i64 dim, TopkOptions o) const;                  \
  TensorList chunk(i64 chunks, const ListDimOptions &o) const;                 \
  TensorList split(i64 split_size, const ListDimOptions &o) const;             \
  TensorList split(const Shape &sizes, const ListDimOptions &o) const;         \
  TensorList unbind(const ListDimOptions &o) const;
