#pragma once
// The elementwise ops, the operators, and how an op is created.
#include "tensor.h"

namespace dl {

namespace detail {

inline Operand::Operand(const Tensor &tensor)
    : dl_operand{DL_PROMOTED, tensor.id, 0, 0} {}
inline Operand Operand::fixed(const Tensor &tensor) {
  Operand operand(tensor);
  operand.kind = DL_TENSOR;
  return operand;
}
inline Operand Operand::step_scalars() {
  Operand operand(0);
  operand.kind = DL_STEP_SCALARS;
  return operand;
}

// Ops whose operands are brought to one element type first. These are what
// most calls end in: plain arrays keep them cheap to compile.
inline Tensor elementwise(const char *op, const Operand &x) {
  Tensor result;
  dl_emit(op, &x, 1, nullptr, 0, &result.id, 1);
  return result;
}
inline Tensor elementwise(const char *op, const Operand &a, const Operand &b) {
  const dl_operand operands[] = {a, b};
  Tensor result;
  dl_emit(op, operands, 2, nullptr, 0, &result.id, 1);
  return result;
}

/// What an op without work to do gives: a view of all of it.
inline Tensor held(const Tensor &x) {
  Tensor result;
  result.id = dl_value(x.id);
  return result;
}

/// The same, where PyTorch's has memory of its own.
inline Tensor copied(const Tensor &x) {
  Tensor result;
  result.id = dl_clone(x.id);
  return result;
}

/// An op that takes its operands as they are.
inline Tensor emit(const char *op, Tensor x, list<Attr> attributes = {}) {
  return Tensor(emit_many<1>(op, {Operand::fixed(x)}, attributes));
}
inline Tensor emit(const char *op, Tensor a, Tensor b,
                   list<Attr> attributes = {}) {
  return Tensor(
      emit_many<1>(op, {Operand::fixed(a), Operand::fixed(b)}, attributes));
}

/// `dim` counted from the front; `what` begins the message.
inline i64 wrap(const char *what, i64 dim, int rank, const Shape &shape) {
  i64 low = rank ? -rank : -1, high = rank ? rank - 1 : 0;
  if (dim < low || dim > high)
    fail("{}: there is no dim {} in {} (dims are {} to {})", what, dim, shape,
         low, high);
  return dim < 0 ? dim - low : dim;
}

} // namespace detail

inline i64 Tensor::size(int dim) const {
  Shape shape = sizes();
  return shape[static_cast<int>(detail::wrap("size", dim, shape.rank, shape))];
}

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

namespace detail {
/// Two numbers make a number.
inline Operand times(const Operand &a, const Operand &b) {
  auto is_number = [](const Operand &one) {
    return one.kind == DL_FLOAT_SCALAR || one.kind == DL_INT_SCALAR;
  };
  auto number = [](const Operand &one) {
    return one.kind == DL_FLOAT_SCALAR ? one.number
                                       : static_cast<double>(one.integer);
  };
  if (!is_number(a) || !is_number(b))
    return dl::mul(a, b);
  if (a.kind == DL_INT_SCALAR && b.kind == DL_INT_SCALAR)
    return a.integer * b.integer;
  return number(a) * number(b);
}
} // namespace detail

/// x + alpha * other.
inline Tensor Tensor::add(const Operand &other, AddOptions options) const {
  return add(detail::times(other, options.alpha));
}
inline Tensor Tensor::sub(const Operand &other, AddOptions options) const {
  return sub(detail::times(other, options.alpha));
}
inline Tensor Tensor::add(const Operand &other, const Operand &alpha) const {
  return add(other, AddOptions{alpha});
}
inline Tensor Tensor::sub(const Operand &other, const Operand &alpha) const {
  return sub(other, AddOptions{alpha});
}
inline Tensor add(Tensor a, const Operand &b, AddOptions options) {
  return a.add(b, options);
}
inline Tensor sub(Tensor a, const Operand &b, AddOptions options) {
  return a.sub(b, options);
}
inline Tensor add(Tensor a, const Operand &b, const Operand &alpha) {
  return a.add(b, alpha);
}
inline Tensor sub(Tensor a, const Operand &b, const Operand &alpha) {
  return a.sub(b, alpha);
}

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
