#pragma once
// & | ^ ~ << >> of whole numbers, and of masks.
#include "division.h"

namespace dl {

namespace detail {
inline bool is_tensor(const Operand &x) {
  return x.kind != DL_INT_SCALAR && x.kind != DL_BOOL_SCALAR &&
         x.kind != DL_FLOAT_SCALAR;
}
inline DType bits_of(const char *what, const Operand &x) {
  Tensor tensor;
  if (is_tensor(x))
    tensor.id = x.tensor;
  if (x.kind == DL_FLOAT_SCALAR ||
      (tensor.defined() && tensor.is_floating_point()))
    fail("{}: booleans or whole numbers are wanted, not floats", what);
  return tensor.defined()           ? tensor.dtype()
         : x.kind == DL_BOOL_SCALAR ? kBool
                                    : kUInt8; // as small as the other one
}
/// Bytes and booleans beside numbers are computed with as numbers.
inline Tensor bitwise(const char *what, const char *op, const char *logic,
                      const Operand &a, const Operand &b) {
  Called called(what);
  DType da = bits_of(what, a), db = bits_of(what, b);
  if (da == kBool && db == kBool)
    return elementwise(logic, a, b);
  auto number = [](const Operand &x, DType dtype) -> Operand {
    if (!is_tensor(x) || (dtype != kBool && dtype != kUInt8))
      return x;
    Tensor tensor;
    tensor.id = x.tensor;
    return tensor.to(kInt64);
  };
  Tensor result = elementwise(op, number(a, da), number(b, db));
  auto isSmall = [](DType dtype) { return dtype == kUInt8 || dtype == kBool; };
  bool bytes =
      isSmall(da) && isSmall(db) &&
      ((is_tensor(a) && da == kUInt8) || (is_tensor(b) && db == kUInt8));
  return bytes ? result.to(kUInt8) : result;
}
} // namespace detail

#define DL_BITWISE(symbol, name, logic)                                        \
  inline Tensor operator symbol(const Tensor &a, const Operand &b) {           \
    return detail::bitwise("operator" #symbol, #name, #logic, a, b);           \
  }                                                                            \
  template <detail::Number T> Tensor operator symbol(T a, const Tensor &b) {   \
    return detail::bitwise("operator" #symbol, #name, #logic, a, b);           \
  }                                                                            \
  inline Tensor name(const Tensor &a, const Operand &b) {                      \
    return detail::bitwise(#name, #name, #logic, a, b);                        \
  }
DL_BITWISE(&, bitwise_and, logical_and)
DL_BITWISE(|, bitwise_or, logical_or)
DL_BITWISE(^, bitwise_xor, ne)
#undef DL_BITWISE

inline Tensor operator~(const Tensor &x) {
  if (x.dtype() == kBool)
    return x.logical_not();
  return detail::bitwise("operator~", "bitwise_xor", "ne", x, -1);
}
inline Tensor bitwise_not(const Tensor &x) { return ~x; }

namespace detail {
inline i64 power_of_two(const char *what, const Tensor &x, i64 places) {
  if (bits_of(what, x) == kBool || places < 0 || places > 62)
    fail("{}: whole numbers are moved by 0 to 62 places, not {} by {}", what,
         x.sizes(), places);
  return i64(1) << places;
}
} // namespace detail
inline Tensor operator<<(const Tensor &x, i64 places) {
  return x * detail::power_of_two("operator<<", x, places);
}
inline Tensor operator>>(const Tensor &x, i64 places) {
  return x.floor_divide(detail::power_of_two("operator>>", x, places));
}

Tensor operator&&(const Tensor &, const Tensor &) =
    delete ("dl: && asks for one value; element by element it is a & b");
Tensor operator||(const Tensor &, const Tensor &) =
    delete ("dl: || asks for one value; element by element it is a | b");

} // namespace dl
