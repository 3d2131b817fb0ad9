#pragma once
// What an op is made of: operands and attributes, as the compiler takes them.
#include "types.h"

namespace dl {

class Scalar;

namespace detail {

template <class T>
concept Number = __is_arithmetic(T);
/// Not a number that could be meant as a dim.
template <class T>
concept Bool = __is_same(T, bool);

/// A tensor or a number, where both are welcome.
struct Operand : dl_operand {
  Operand(const Tensor &tensor);
  Operand(const Scalar &scalar);
  template <Number T> Operand(T value) : dl_operand{DL_INT_SCALAR, -1, 0, 0} {
    if constexpr (__is_same(T, bool))
      kind = DL_BOOL_SCALAR;
    if constexpr (__is_floating_point(T)) {
      kind = DL_FLOAT_SCALAR;
      number = value;
    } else {
      integer = static_cast<i64>(value);
    }
  }
  /// Takes no part in type promotion (the condition of where()).
  static Operand fixed(const Tensor &tensor);
  static Operand step_scalars();
};

/// An operand that may be left out.
struct OptionalOperand : Operand {
  using Operand::Operand;
  bool given = true;
  OptionalOperand() : Operand(0), given(false) {}
};

struct Attr : dl_attr {
  template <Number T>
  Attr(const char *name, T value)
      : dl_attr{name, DL_ATTR_INT, 0, 0, nullptr, 0, nullptr} {
    if constexpr (__is_same(T, bool))
      kind = DL_ATTR_BOOL;
    if constexpr (__is_floating_point(T)) {
      kind = DL_ATTR_FLOAT;
      number = value;
    } else {
      integer = static_cast<i64>(value);
    }
  }
  Attr(const char *name, const Shape &value)
      : dl_attr{name, DL_ATTR_INTS, 0, 0, value.dims, value.rank, nullptr} {}
  Attr(const char *name, const char *value)
      : dl_attr{name, DL_ATTR_STRING, 0, 0, nullptr, 0, value} {}
  Attr(const char *name, DType value)
      : dl_attr{name, DL_ATTR_DTYPE, static_cast<i64>(value), 0, nullptr,
                0,    nullptr} {}
  Attr(const char *name, DType dtype, const Shape &shape)
      : dl_attr{name,   DL_ATTR_TYPE, static_cast<i64>(dtype),
                0,      shape.dims,   shape.rank,
                nullptr} {}
  /// An optimizer's number, see optim.h.
  Attr(const char *name, const Scalar &value);
  /// The number of the update, where the op has to be told.
  static Attr count(bool needed = true) {
    Attr attr("count", needed ? 1 : 0);
    attr.kind = DL_ATTR_COUNT;
    return attr;
  }
  static Attr key(const char *name) {
    Attr attr(name, 0);
    attr.kind = DL_ATTR_KEY;
    return attr;
  }
};

template <int N> struct Results {
  int ids[N];
};

template <int N>
Results<N> emit_many(const char *op, list<Operand> operands,
                     list<Attr> attributes) {
  Results<N> results{};
  const dl_operand *first = operands.begin();
  const dl_attr *attribute = attributes.begin();
  dl_emit(op, first, static_cast<int>(operands.size()), attribute,
          static_cast<int>(attributes.size()), results.ids, N);
  return results;
}

} // namespace detail

} // namespace dl
