#pragma once
// The elementwise ops as functions and methods, and the operators.
#include "tensor.h"

namespace dl {

#define DL_FUNCTION(op)                                                        \
  inline Tensor op(const Operand &x) { return detail::elementwise(#op, x); }   \
  inline Tensor Tensor::op() const { return detail::elementwise(#op, *this); }
DL_UNARY_OPS(DL_FUNCTION)
#undef DL_FUNCTION
#define DL_FUNCTION(op)                                                        \
  inline Tensor op(const Operand &a, const Operand &b) {                       \
    return detail::elementwise(#op, a, b);                                     \
  }                                                                            \
  inline Tensor Tensor::op(const Operand &other) const {                       \
    return detail::elementwise(#op, *this, other);                             \
  }
DL_BINARY_OPS(DL_FUNCTION)
#undef DL_FUNCTION

#define DL_OPERATOR(symbol, op)                                                \
  inline Tensor operator symbol(const Operand &a, const Operand &b) {          \
    return detail::elementwise(#op, a, b);                                     \
  }
DL_OPERATOR(+, add)
DL_OPERATOR(-, sub)
DL_OPERATOR(*, mul)
DL_OPERATOR(/, div)
DL_OPERATOR(==, eq)
DL_OPERATOR(!=, ne)
DL_OPERATOR(<, lt)
DL_OPERATOR(<=, le)
DL_OPERATOR(>, gt)
DL_OPERATOR(>=, ge)
#undef DL_OPERATOR
inline Tensor operator-(Tensor x) { return x.neg(); }
inline Tensor operator!(Tensor x) { return x.logical_not(); }

} // namespace dl
