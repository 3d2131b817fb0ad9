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
/// Bytes and booleans are computed with as numbers, of the other one's type.
inline Tensor bitwise(const char *what, const char *op, const char *logic,
                      const Operand &a, const Operand &b) {
  Called called(what);
  DType da = bits_of(what, a), db = bits_of(what, b);
  if (da == kBool && db == kBool)
    return elementwise(logic, a, b);
  auto isSmall = [](DType dtype) { return dtype == kUInt8 || dtype == kBool; };
  auto number = [&](const Operand &x, DType own, DType other) -> Operand {
    if (!is_tensor(x) || !isSmall(own))
      return x;
    Tensor tensor;
    tensor.id = x.tensor;
    return tensor.to(isSmall(other) ? kInt64 : other);
  };
  Tensor result = elementwise(op, number(a, da, db), number(b, db, da));
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
/// How many bits there are; the places are fewer.
inline i64 bits_to_move(const char *what, const Tensor &x, i64 places) {
  DType dtype = bits_of(what, x);
  if (dtype == kBool)
    fail("{}: whole numbers are moved, not booleans", what);
  i64 bits = dtype == kInt64 ? 64 : dtype == kInt32 ? 32 : 8;
  if (places < 0 || places >= bits)
    fail("{}: whole numbers of {} bits are moved by 0 to {} places, not {} by "
         "{}",
         what, bits, bits - 1, x.sizes(), places);
  return bits;
}
} // namespace detail
inline Tensor operator<<(const Tensor &x, i64 places) {
  i64 bits = detail::bits_to_move("operator<<", x, places);
  if (places > 30) // a factor that the type has
    return (x << 30) << (places - 30);
  Tensor moved = x * (i64(1) << places);
  return bits == 8 ? moved.to(kUInt8) : moved;
}
/// The sign comes in.
inline Tensor operator>>(const Tensor &x, i64 places) {
  i64 bits = detail::bits_to_move("operator>>", x, places);
  if (places > 30)
    return (x >> 30) >> (places - 30);
  Tensor moved = x.floor_divide(i64(1) << places);
  return bits == 8 ? moved.to(kUInt8) : moved;
}

Tensor operator&&(const Tensor &, const Tensor &) =
    delete ("dl: && asks for one value; element by element it is a & b");
Tensor operator||(const Tensor &, const Tensor &) =
    delete ("dl: || asks for one value; element by element it is a | b");

} // namespace dl
