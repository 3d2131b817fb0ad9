#pragma once
// The lists of ops in place: see in_place.h.
#include "elementwise_ops.h"

// clang-format off
#define DL_UNARY_IN_PLACE_OPS(OP)                                                                       \
  DL_UNARY_OPS(OP) DL_INTEGER_UNARY_OPS(OP) DL_COMPOSED_IN_PLACE_OPS(OP)                                \
  DL_TRIGONOMETRIC_OPS(OP) OP(square) OP(reciprocal) OP(absolute) OP(negative)
// What the method takes, and what it gives the op that it is named after.
#define DL_IN_PLACE_OPS(OP)                                                                             \
  OP(add, (const Operand &other), (other))                                                              \
  OP(add, (const Operand &other, AddOptions o), (other, o))                                             \
  OP(add, (const Operand &other, const Operand &alpha), (other, alpha))                                 \
  OP(sub, (const Operand &other), (other))                                                              \
  OP(sub, (const Operand &other, AddOptions o), (other, o))                                             \
  OP(sub, (const Operand &other, const Operand &alpha), (other, alpha))                                 \
  OP(mul, (const Operand &other), (other))                                                              \
  OP(div, (const Operand &other), (other))                                                              \
  OP(pow, (const Operand &exponent), (exponent))                                                        \
  OP(remainder, (const Operand &other), (other))                                                        \
  OP(lerp, (Tensor end, const Operand &weight), (end, weight))                                          \
  OP(clamp, (const Operand &min), (min))                                                                \
  OP(clamp, (const Operand &min, const detail::OptionalOperand &max), (min, max))                       \
  OP(clamp, (const ClampOptions &options), (options))                                                   \
  OP(clip, (const Operand &min), (min))                                                                 \
  OP(clip, (const Operand &min, const detail::OptionalOperand &max), (min, max))                        \
  OP(multiply, (const Operand &other), (other))                                                         \
  OP(subtract, (const Operand &other), (other))                                                         \
  OP(divide, (const Operand &other), (other))                                                           \
  OP(fmod, (const Operand &other), (other))                                                             \
  OP(floor_divide, (const Operand &other), (other))                                                     \
  OP(atan2, (const Operand &other), (other))                                                            \
  OP(logical_and, (Tensor other), (other))                                                              \
  OP(logical_or, (Tensor other), (other))                                                               \
  OP(logical_xor, (Tensor other), (other))                                                              \
  OP(logical_not, (), ())                                                                               \
  OP(cumsum, (i64 dim), (dim))                                                                          \
  OP(cumprod, (i64 dim), (dim))                                                                         \
  OP(tril, (), ())                                                                                      \
  OP(tril, (i64 diagonal), (diagonal))                                                                  \
  OP(triu, (), ())                                                                                      \
  OP(triu, (i64 diagonal), (diagonal))                                                                  \
  OP(addmm, (Tensor a, Tensor b), (a, b))                                                               \
  OP(addmm, (Tensor a, Tensor b, AddmmOptions o), (a, b, o))                                            \
  OP(addmv, (Tensor a, Tensor b), (a, b))                                                               \
  OP(addmv, (Tensor a, Tensor b, AddmmOptions o), (a, b, o))                                            \
  OP(addr, (Tensor a, Tensor b), (a, b))                                                                \
  OP(addr, (Tensor a, Tensor b, AddmmOptions o), (a, b, o))                                             \
  OP(baddbmm, (Tensor a, Tensor b), (a, b))                                                             \
  OP(baddbmm, (Tensor a, Tensor b, AddmmOptions o), (a, b, o))                                          \
  OP(clamp_min, (const Operand &min), (min))                                                            \
  OP(clamp_max, (const Operand &max), (max))                                                            \
  OP(nan_to_num, (), ())                                                                                \
  OP(nan_to_num, (double nan), (nan))                                                                   \
  OP(masked_fill, (Tensor mask, const Operand &value), (mask, value))                                   \
  OP(scatter, (i64 dim, Tensor index, const Operand &value), (dim, index, value))                       \
  OP(scatter, (i64 dim, Tensor index, Tensor src), (dim, index, src))                                   \
  OP(scatter_add, (i64 dim, Tensor index, Tensor src), (dim, index, src))                               \
  OP(index_add, (i64 dim, Tensor index, Tensor source), (dim, index, source))                           \
  OP(index_add, (i64 dim, Tensor index, Tensor source, IndexAddOptions o), (dim, index, source, o))     \
  OP(index_copy, (i64 dim, Tensor index, Tensor source), (dim, index, source))                          \
  OP(index_fill, (i64 dim, Tensor index, const Operand &value), (dim, index, value))

// What class Tensor declares of them, and of what they are made of.
#define DL_IN_PLACE_METHOD(op, declared, given) Tensor op##_ declared const;
#define DL_UNARY_IN_PLACE_METHOD(op) Tensor op##_() const;
#define DL_IN_PLACE_OPERATOR(sign)                                                                      \
  Tensor &operator sign(const Operand &other) &;                                                        \
  void operator sign(const Operand &other) &&;
#define DL_IN_PLACE_METHODS                                                                             \
  DL_IN_PLACE_OPS(DL_IN_PLACE_METHOD)                                                                   \
  DL_UNARY_IN_PLACE_OPS(DL_UNARY_IN_PLACE_METHOD)                                                       \
  DL_UNARY_IN_PLACE_METHOD(zero)                                                                        \
  Tensor addcmul_(Tensor a, Tensor b, ScaledOptions options = {}) const;                                \
  template <detail::Number T> Tensor addcmul_(Tensor a, Tensor b, T value) const {                      \
    return addcmul_(a, b, ScaledOptions{static_cast<double>(value)});                                   \
  }                                                                                                     \
  Tensor addcdiv_(Tensor a, Tensor b, ScaledOptions options = {}) const;                                \
  template <detail::Number T> Tensor addcdiv_(Tensor a, Tensor b, T value) const {                      \
    return addcdiv_(a, b, ScaledOptions{static_cast<double>(value)});                                   \
  }                                                                                                     \
  Tensor fill_(const Operand &value) const;                                                             \
  Tensor copy_(const Tensor &source) const;                                                             \
  Tensor uniform_(double from = 0, double to = 1) const;                                                \
  Tensor normal_(double mean = 0, double std = 1) const;                                                \
  Tensor bernoulli_(Tensor p) const;                                                                    \
  Tensor bernoulli_(double p = 0.5) const;                                                              \
  Tensor index_put_(list<Index> indices, const Operand &value, bool accumulate = false) const;          \
  Tensor index_put(list<Index> indices, const Operand &value, bool accumulate = false) const;           \
  Tensor index_copy(i64 dim, Tensor index, Tensor source) const;                                        \
  Tensor index_fill(i64 dim, Tensor index, const Operand &value) const;                                 \
  Tensor slice_scatter(Tensor src, i64 dim = 0, i64 start = 0, i64 end = kEnd, i64 step = 1) const;     \
  Tensor select_scatter(Tensor src, i64 dim, i64 index) const;                                          \
  DL_IN_PLACE_OPERATOR(+=)                                                                              \
  DL_IN_PLACE_OPERATOR(-=)                                                                              \
  DL_IN_PLACE_OPERATOR(*=)                                                                              \
  DL_IN_PLACE_OPERATOR(/=)                                                                              \
  DL_IN_PLACE_OPERATOR(&=)                                                                              \
  DL_IN_PLACE_OPERATOR(|=)                                                                              \
  DL_IN_PLACE_OPERATOR(^=)                                                                              \
  void operator=(const Operand &value) &&;
// clang-format on
