#pragma once
// Numbers in f64 that are known when the plan runs.
#include "shape.h"

namespace dl {

class Condition;

/// A plain number, a setting of the program, or what a step computes of
/// settings and of its number, in f64 whatever the program computes with. It is
/// taken where an optimizer takes a number, and is a tensor of the program's
/// float type in arithmetic with tensors.
class Scalar {
public:
  double known = 0; // of a setting: what it starts as
  int id = -1;      // of what is not known before the plan runs

  constexpr Scalar() = default;
  template <detail::Number T>
  constexpr Scalar(T value) : known(static_cast<double>(value)) {}
  static Scalar from(int id, double start = 0) {
    Scalar scalar;
    scalar.id = id;
    scalar.known = start;
    return scalar;
  }
  bool is_known() const { return id < 0; }
  /// A zero for good: what is not there.
  bool is_none() const { return is_known() && known == 0; }
  /// In a step: a tensor [] of the program's float type.
  operator Tensor() const;

  explicit operator bool() const = delete (
      "dl: a setting, or what follows from it, has its value when the plan "
      "runs; choose with dl::where(condition, a, b)");

  Scalar &operator+=(Scalar other);
  Scalar &operator-=(Scalar other);
  Scalar &operator*=(Scalar other);
  Scalar &operator/=(Scalar other);
};

/// What a comparison of Scalars gives, for dl::where().
class Condition {
public:
  bool known = false;
  int id = -1;

  explicit operator bool() const = delete (
      "dl: a setting, or what follows from it, has its value when the plan "
      "runs; choose with dl::where(condition, a, b)");
};

namespace detail {

/// How often a step has been called so far: what one computes lives within it.
inline int step_calls = 0;

inline dl_operand operand_of(const Scalar &x) {
  return x.is_known() ? dl_operand{DL_DOUBLE_SCALAR, -1, 0, x.known}
                      : dl_operand{DL_TENSOR, x.id, 0, 0};
}
inline int emit_scalars(const char *op, const Scalar &a, const Scalar &b) {
  const dl_operand operands[] = {operand_of(a), operand_of(b)};
  int result = -1;
  dl_emit(op, operands, 2, nullptr, 0, &result, 1);
  return result;
}
inline Scalar emit_scalar(const char *op, const Scalar &x) {
  const dl_operand operand = operand_of(x);
  int result = -1;
  dl_emit(op, &operand, 1, nullptr, 0, &result, 1);
  return Scalar::from(result);
}

inline Operand::Operand(const Scalar &scalar)
    : dl_operand{DL_FLOAT_SCALAR, -1, 0, scalar.known} {
  if (!scalar.is_known())
    *this = Operand(static_cast<Tensor>(scalar));
}

inline Attr::Attr(const char *name, const Scalar &value)
    : Attr(name, value.known) {
  if (!value.is_known()) {
    kind = DL_ATTR_NUMBER;
    integer = value.id;
  }
}

} // namespace detail

inline Scalar::operator Tensor() const {
  if (is_known())
    return Tensor(detail::emit_many<1>(
        "full", {}, {{"value", known}, {"type", kFloat, Shape{}}}));
  Tensor x;
  x.id = id;
  return x.dtype() == kFloat ? x : detail::emit("cast", x, {{"to", kFloat}});
}

#define DL_OPERATOR(symbol, op)                                                \
  inline Scalar operator symbol(Scalar a, Scalar b) {                          \
    if (a.is_known() && b.is_known())                                          \
      return a.known symbol b.known;                                           \
    return Scalar::from(detail::emit_scalars(#op, a, b));                      \
  }                                                                            \
  inline Scalar &Scalar::operator symbol## = (Scalar other) {                  \
    return *this = *this symbol other;                                         \
  }
DL_OPERATOR(+, add)
DL_OPERATOR(-, sub)
DL_OPERATOR(*, mul)
DL_OPERATOR(/, div)
#undef DL_OPERATOR
#define DL_OPERATOR(symbol, op)                                                \
  inline Condition operator symbol(Scalar a, Scalar b) {                       \
    Condition result;                                                          \
    if (a.is_known() && b.is_known())                                          \
      result.known = a.known symbol b.known;                                   \
    else                                                                       \
      result.id = detail::emit_scalars(#op, a, b);                             \
    return result;                                                             \
  }
DL_OPERATOR(==, eq)
DL_OPERATOR(!=, ne)
DL_OPERATOR(<, lt)
DL_OPERATOR(<=, le)
DL_OPERATOR(>, gt)
DL_OPERATOR(>=, ge)
#undef DL_OPERATOR
inline Scalar operator-(Scalar x) {
  return x.is_known() ? Scalar(-x.known) : detail::emit_scalar("neg", x);
}

namespace detail {
template <class T>
concept IsScalar = __is_same(T, Scalar);
/// A Scalar and another one, or a number.
template <class A, class B>
concept Scalars =
    (IsScalar<A> && (IsScalar<B> || Number<B>)) || (IsScalar<B> && Number<A>);
} // namespace detail

// Templates, so that calls with plain numbers stay those of tensors.
#define DL_FUNCTION(name)                                                      \
  template <detail::IsScalar S> S name(S x) {                                  \
    return x.is_known() ? Scalar(__builtin_##name(x.known))                    \
                        : detail::emit_scalar(#name, x);                       \
  }
DL_FUNCTION(exp)
DL_FUNCTION(log)
DL_FUNCTION(sqrt)
DL_FUNCTION(sin)
DL_FUNCTION(cos)
DL_FUNCTION(tanh)
DL_FUNCTION(floor)
#undef DL_FUNCTION
#define DL_FUNCTION(name, value)                                               \
  template <class A, class B>                                                  \
    requires detail::Scalars<A, B>                                             \
  Scalar name(A first, B second) {                                             \
    Scalar a = first, b = second;                                              \
    if (a.is_known() && b.is_known())                                          \
      return value;                                                            \
    return Scalar::from(detail::emit_scalars(#name, a, b));                    \
  }
DL_FUNCTION(pow, __builtin_pow(a.known, b.known))
DL_FUNCTION(minimum, b.known < a.known ? b : a)
DL_FUNCTION(maximum, b.known > a.known ? b : a)
#undef DL_FUNCTION
/// `a` where the condition holds, else `b`.
inline Scalar where(Condition condition, Scalar a, Scalar b) {
  if (condition.id < 0)
    return condition.known ? a : b;
  const dl_operand operands[] = {{DL_TENSOR, condition.id, 0, 0},
                                 detail::operand_of(a),
                                 detail::operand_of(b)};
  int result = -1;
  dl_emit("select", operands, 3, nullptr, 0, &result, 1);
  return Scalar::from(result);
}

} // namespace dl
