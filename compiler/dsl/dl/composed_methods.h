#pragma once
// Methods of Tensor that bins.h, comparing.h, composed.h, create.h, drawing.h,
// in_place.h, lists.h, making.h, masks.h, matrices.h, other_names.h,
// quantiles.h, repeats.h, replacing.h, rounding.h, scatter_reduce.h, special.h
// and tensordot.h define.
#include "other_name_ops.h"

/// Of sizes in braces, or one after the other.
#define DL_NEW_METHODS(new_zeros)                                              \
  Tensor new_zeros(const Shape &size, LikeOptions options = {}) const;         \
  template <detail::GivenDType T>                                              \
  Tensor new_zeros(const Shape &size, T dtype) const {                         \
    return new_zeros(size, LikeOptions{dtype});                                \
  }                                                                            \
  template <detail::Number I>                                                  \
  Tensor new_zeros(I size, LikeOptions options) const {                        \
    return new_zeros(Shape{static_cast<i64>(size)}, options);                  \
  }                                                                            \
  template <detail::Number... I>                                               \
    requires(sizeof...(I) > 0)                                                 \
  Tensor new_zeros(I... size) const {                                          \
    return new_zeros(Shape{static_cast<i64>(size)...});                        \
  }

#define DL_COMPOSED_METHODS                                                    \
  DL_OTHER_NAME_METHODS                                                        \
  TensorOptions options() const;                                               \
  Tensor add(const Operand &other, const Operand &alpha) const;                \
  Tensor sub(const Operand &other, const Operand &alpha) const;                \
  Tensor round(i64 decimals) const;                                            \
  Tensor round(const RoundOptions &o) const { return round(o.decimals); }      \
  ValuesAndIndices mode(i64 dim = -1, bool keepdim = false) const;             \
  ValuesAndIndices nanmedian(i64 dim, bool keepdim = false) const;             \
  Tensor nanmedian() const;                                                    \
  Tensor addmm(Tensor a, Tensor b, AddmmOptions options = {}) const;           \
  Tensor addmv(Tensor a, Tensor b, AddmmOptions options = {}) const;           \
  Tensor addr(Tensor a, Tensor b, AddmmOptions options = {}) const;            \
  Tensor baddbmm(Tensor a, Tensor b, AddmmOptions options = {}) const;         \
  Tensor addbmm(Tensor a, Tensor b, AddmmOptions options = {}) const;          \
  Tensor copysign(const Operand &other) const;                                 \
  Tensor ldexp(const Operand &other) const;                                    \
  Tensor fmax(const Operand &other) const;                                     \
  Tensor fmin(const Operand &other) const;                                     \
  Tensor signbit() const;                                                      \
  Tensor deg2rad() const;                                                      \
  Tensor rad2deg() const;                                                      \
  Tensor dist(Tensor other, double p = 2) const;                               \
  Tensor equal(Tensor other) const;                                            \
  Tensor allclose(Tensor other, double rtol = 1e-5, double atol = 1e-8) const; \
  Tensor sum_to_size(const Shape &size) const;                                 \
  Tensor take(Tensor index) const;                                             \
  Tensor diagonal_scatter(Tensor src, i64 offset = 0, i64 dim1 = 0,            \
                          i64 dim2 = 1) const;                                 \
  Tensor multinomial(i64 num_samples, bool replacement = false) const;         \
  Tensor exponential_(double lambd = 1) const;                                 \
  Tensor fill_diagonal_(double value, bool wrap = false) const;                \
  Tensor lgamma() const;                                                       \
  Tensor digamma() const;                                                      \
  Tensor erfinv() const;                                                       \
  Tensor logcumsumexp(i64 dim) const;                                          \
  ValuesAndIndices cummax(i64 dim) const;                                      \
  ValuesAndIndices cummin(i64 dim) const;                                      \
  Tensor sinc() const;                                                         \
  Tensor logit(double eps = 0) const;                                          \
  Tensor xlogy(const Operand &y) const;                                        \
  Tensor hypot(Tensor y) const;                                                \
  Tensor logaddexp(Tensor y) const;                                            \
  Tensor isclose(const Operand &y, double rtol = 1e-5, double atol = 1e-8)     \
      const;                                                                   \
  Tensor count_nonzero() const;                                                \
  Tensor count_nonzero(const Dims &dims) const;                                \
  Tensor nansum() const;                                                       \
  Tensor nansum(const Dims &dims, bool keepdim = false) const;                 \
  Tensor nanmean(const Dims &dims, bool keepdim = false) const;                \
  Tensor bernoulli() const;                                                    \
  Tensor cross(Tensor other) const;                                            \
  Tensor cross(Tensor other, i64 dim) const;                                   \
  Tensor kron(Tensor other) const;                                             \
  Tensor take_along_dim(Tensor index) const;                                   \
  Tensor nanmean() const;                                                      \
  ValuesAndIndices kthvalue(i64 k, i64 dim = -1, bool keepdim = false) const;  \
  ValuesAndIndices median(i64 dim, bool keepdim = false) const;                \
  Tensor median() const;                                                       \
  Tensor quantile(double q) const;                                             \
  Tensor quantile(double q, i64 dim, bool keepdim = false) const;              \
  Tensor quantile(list<double> q) const;                                       \
  Tensor quantile(list<double> q, i64 dim, bool keepdim = false) const;        \
  DL_NEW_METHODS(new_zeros)                                                    \
  DL_NEW_METHODS(new_ones)                                                     \
  DL_NEW_METHODS(new_empty)                                                    \
  Tensor new_full(const Shape &size, const Operand &value,                     \
                  LikeOptions options = {}) const;                             \
  TensorList tensor_split(i64 sections, i64 dim = 0) const;                    \
  TensorList tensor_split(list<i64> indices, i64 dim = 0) const;               \
  Tensor matrix_power(i64 n) const;                                            \
  Tensor matrix_exp() const;                                                   \
  Tensor renorm(double p, i64 dim, double maxnorm) const;                      \
  Tensor renorm_(double p, i64 dim, double maxnorm) const;                     \
  Tensor histc(i64 bins = 100, double min = 0, double max = 0) const;          \
  Tensor histc(HistcOptions options) const;                                    \
  Tensor masked_scatter(Tensor mask, Tensor source) const;                     \
  Tensor masked_scatter_(Tensor mask, Tensor source) const;                    \
  Tensor repeat_interleave(const Repeats &repeats) const;                      \
  Tensor repeat_interleave(const Repeats &repeats, i64 dim) const;             \
  Tensor repeat_interleave(const Repeats &repeats, const ListDimOptions &o)    \
      const;                                                                   \
  Tensor repeat_interleave(Tensor repeats, RepeatInterleaveOptions o = {})     \
      const;                                                                   \
  Tensor repeat_interleave(Tensor repeats, i64 dim,                            \
                           RepeatInterleaveOptions o = {}) const;              \
  Tensor operator[](list<Tensor>) const = delete (                             \
      "dl: several indices are written without braces: x[rows, columns]");     \
  Tensor operator[](list<Index>) const = delete (                              \
      "dl: several indices are written without braces: x[dl::Slice(), 0]");    \
  Tensor(const Complex &) = delete (                                           \
      "dl: a complex tensor is a dl::Complex, with .real, .imag and .abs()");  \
  template <class T>                                                           \
  T item() const = delete (                                                    \
      "dl: a tensor has no value while the graph is being built; to see it "   \
      "return it in dl::Metrics; in a loss x.detach() is a constant");         \
  Tensor softmax(i64 dim, DType dtype) const {                                 \
    return to(dtype).softmax(dim);                                             \
  }                                                                            \
  Tensor log_softmax(i64 dim, DType dtype) const {                             \
    return to(dtype).log_softmax(dim);                                         \
  }                                                                            \
  Tensor broadcast_to(const Shape &size) const;                                \
  Tensor mT() const;                                                           \
  Tensor ravel() const;                                                        \
  Tensor diff(i64 n = 1, i64 dim = -1) const;                                  \
  Tensor unfold(i64 dim, i64 size, i64 step) const;                            \
  Tensor take_along_dim(Tensor index, i64 dim) const;                          \
  Tensor mv(Tensor vector) const;                                              \
  Tensor inner(Tensor other) const;                                            \
  Tensor inverse() const;                                                      \
  Tensor det() const;                                                          \
  Tensor logdet() const;                                                       \
  Tensor cholesky() const;                                                     \
  Tensor scatter_reduce(i64 dim, Tensor index, Tensor src, const char *reduce, \
                        ScatterReduceOptions options = {}) const;              \
  Tensor scatter_reduce_(i64 dim, Tensor index, Tensor src,                    \
                         const char *reduce,                                   \
                         ScatterReduceOptions options = {}) const;             \
  template <detail::Bool T>                                                    \
  Tensor scatter_reduce(i64 dim, Tensor index, Tensor src, const char *reduce, \
                        T include_self) const {                                \
    return scatter_reduce(dim, index, src, reduce,                             \
                          ScatterReduceOptions{include_self});                 \
  }                                                                            \
  template <detail::Bool T>                                                    \
  Tensor scatter_reduce_(i64 dim, Tensor index, Tensor src,                    \
                         const char *reduce, T include_self) const {           \
    return scatter_reduce_(dim, index, src, reduce,                            \
                           ScatterReduceOptions{include_self});                \
  }                                                                            \
  Tensor index_reduce(i64 dim, Tensor index, Tensor source,                    \
                      const char *reduce, ScatterReduceOptions options = {})   \
      const;                                                                   \
  Tensor index_reduce_(i64 dim, Tensor index, Tensor source,                   \
                       const char *reduce, ScatterReduceOptions options = {})  \
      const;
