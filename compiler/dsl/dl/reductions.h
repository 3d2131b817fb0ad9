#pragma once
// The reductions of math.h as functions.
#include "statistics.h"

namespace dl {

inline Tensor Tensor::max(Tensor other) const {
  detail::Called called("max");
  return maximum(other);
}
inline Tensor Tensor::min(Tensor other) const {
  detail::Called called("min");
  return minimum(other);
}

#define DL_FUNCTION(sum)                                                       \
  inline Tensor sum(Tensor x, const Dims &dims, bool keepdim = false) {        \
    return x.sum(dims, keepdim);                                               \
  }                                                                            \
  inline Tensor sum(Tensor x, const Dims &dims, ReduceOptions options) {       \
    return x.sum(dims, options);                                               \
  }
DL_FUNCTION(sum)
DL_FUNCTION(mean)
DL_FUNCTION(amax)
DL_FUNCTION(amin)
DL_FUNCTION(logsumexp)
#undef DL_FUNCTION
inline Tensor sum(Tensor x) { return x.sum(); }
inline Tensor mean(Tensor x) { return x.mean(); }

#define DL_FUNCTION(max, argmax)                                               \
  inline Tensor max(Tensor x) { return x.max(); }                              \
  inline Tensor max(Tensor x, Tensor other) { return x.max(other); }           \
  inline ValuesAndIndices max(Tensor x, i64 dim, bool keepdim = false) {       \
    return x.max(dim, keepdim);                                                \
  }                                                                            \
  inline ValuesAndIndices max(Tensor x, i64 dim, ReduceOptions options) {      \
    return x.max(dim, options);                                                \
  }                                                                            \
  inline Tensor argmax(Tensor x) { return x.argmax(); }                        \
  inline Tensor argmax(Tensor x, i64 dim, bool keepdim = false) {              \
    return x.argmax(dim, keepdim);                                             \
  }                                                                            \
  inline Tensor argmax(Tensor x, i64 dim, ReduceOptions options) {             \
    return x.argmax(dim, options);                                             \
  }
DL_FUNCTION(max, argmax)
DL_FUNCTION(min, argmin)
#undef DL_FUNCTION

#define DL_FUNCTION(var)                                                       \
  inline Tensor var(Tensor x) { return x.var(); }                              \
  template <detail::Bool T> Tensor var(Tensor x, T unbiased) {                 \
    return x.var(unbiased);                                                    \
  }                                                                            \
  inline Tensor var(Tensor x, const Dims &dims, bool unbiased = true,          \
                    bool keepdim = false) {                                    \
    return x.var(dims, unbiased, keepdim);                                     \
  }                                                                            \
  inline Tensor var(Tensor x, const Dims &dims, VarOptions options) {          \
    return x.var(dims, options);                                               \
  }
DL_FUNCTION(var)
DL_FUNCTION(std)
#undef DL_FUNCTION

inline Tensor softmax(Tensor x, i64 dim) { return x.softmax(dim); }
inline Tensor log_softmax(Tensor x, i64 dim) { return x.log_softmax(dim); }

} // namespace dl
