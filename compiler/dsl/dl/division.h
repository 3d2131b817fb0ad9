#pragma once
// Quotients that are whole numbers, and what they leave.
#include "gather.h"

namespace dl {

namespace detail {

inline bool is_whole_number(const Operand &x) {
  return is_whole(x) || x.kind == DL_INT_SCALAR || x.kind == DL_BOOL_SCALAR;
}
/// A number as a tensor without dims.
inline Tensor as_tensor(const Operand &x) {
  return x.kind == DL_PROMOTED ? tensor_of(x) : full(Shape(), x, kFloat);
}

/// What rounding takes from a * b, found by halves whose products are exact
/// (Dekker, "A floating-point technique for extending the available precision",
/// 1971).
inline Tensor product_error(const Tensor &a, const Tensor &b) {
  double factor = dl_float_is_double() ? 0x1p27 + 1 : 0x1p12 + 1;
  auto high = [&](const Tensor &x) {
    Tensor scaled = x * factor;
    return scaled - (scaled - x);
  };
  Tensor aHigh = high(a), bHigh = high(b), aLow = a - aHigh, bLow = b - bHigh;
  return aLow * bLow -
         (((a * b - aHigh * bHigh) - aLow * bHigh) - aHigh * bLow);
}

struct Division {
  Tensor quotient, rest;
};

/// The quotient rounded down; the rest has the sign of the divisor, and the
/// gradients 1 and -quotient.
inline Division floor_division(const char *what, const Operand &x,
                               const Operand &y) {
  Called called(what);
  if (is_whole_number(x) && is_whole_number(y)) {
    if (y.kind != DL_PROMOTED && y.integer == 0)
      fail("{}: an integer divided by 0", what);
    const dl_text texts[] = {Text(what)};
    if (y.kind == DL_PROMOTED)
      flag_indices(tensor_of(y).eq(0).to(kInt64), 1,
                   "{}: an integer divided by 0", texts, 1);
    Tensor quotient = elementwise("floor_divide", x, y);
    return {quotient, elementwise("sub", x, quotient * y)};
  }
  Tensor a = as_tensor(x), b = as_tensor(y);
  Tensor quotient = (a / b).floor();
  Tensor rest = a - quotient * b - product_error(quotient, b).detach();
  // A quotient that was rounded up to a whole number is one too large.
  Tensor wrong = rest.ne(0.0).logical_and(rest.lt(0.0).ne(b.lt(0.0)));
  return {quotient - wrong.to(kFloat), rest + where(wrong, b, 0.0)};
}
} // namespace detail

/// x - y * floor(x / y): the sign of y, as Python's %.
inline Tensor remainder(const Operand &x, const Operand &y) {
  return detail::floor_division("remainder", x, y).rest;
}
/// The sign of x, as C's %.
inline Tensor fmod(const Operand &x, const Operand &y) {
  detail::Called called("fmod");
  Tensor negative = lt(x, 0);
  if (detail::is_whole_number(x) && detail::is_whole_number(y)) {
    Tensor rest = detail::floor_division("fmod", x, y).rest;
    Tensor other = rest.ne(0).logical_and(negative.ne(lt(y, 0)));
    return rest - where(other, y, 0);
  }
  Tensor size =
      detail::floor_division("fmod", where(negative, 0 - x, x), abs(y)).rest;
  return where(negative, -size, size);
}
inline Tensor floor_divide(const Operand &x, const Operand &y) {
  return detail::floor_division("floor_divide", x, y).quotient;
}
inline Tensor operator%(const Operand &x, const Operand &y) {
  return remainder(x, y);
}
#define DL_METHOD(op)                                                          \
  inline Tensor Tensor::op(const Operand &other) const {                       \
    return dl::op(*this, other);                                               \
  }
DL_METHOD(remainder)
DL_METHOD(fmod)
DL_METHOD(floor_divide)
#undef DL_METHOD

} // namespace dl
