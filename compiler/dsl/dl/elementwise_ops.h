#pragma once
// The list of the elementwise ops.

// An op that works element by element is one word here: it becomes a function
// dl::name(x) and a method x.name(). Those with an integer form are in math.h.
// clang-format off
#define DL_UNARY_OPS(OP)                                                       \
  OP(neg) OP(abs)                                                              \
  OP(exp) OP(log) OP(log1p) OP(sqrt) OP(rsqrt)                                 \
  OP(sin) OP(cos) OP(tanh) OP(sigmoid) OP(erf)
#define DL_INTEGER_UNARY_OPS(OP) OP(sign) OP(floor) OP(relu)
// These consist of others: see rounding.h.
#define DL_COMPOSED_IN_PLACE_OPS(OP)                                           \
  OP(expm1) OP(exp2) OP(log2) OP(log10)                                        \
  OP(ceil) OP(round) OP(trunc) OP(frac)
#define DL_COMPOSED_OPS(OP)                                                    \
  DL_COMPOSED_IN_PLACE_OPS(OP) OP(isnan) OP(isinf) OP(isfinite)
// See trigonometry.h.
#define DL_TRIGONOMETRIC_OPS(OP)                                               \
  OP(tan) OP(asin) OP(acos) OP(atan)                                           \
  OP(sinh) OP(cosh) OP(asinh) OP(acosh) OP(atanh)
#define DL_BINARY_OPS(OP)                                                      \
  OP(add) OP(sub) OP(mul) OP(div) OP(maximum) OP(minimum)                      \
  OP(eq) OP(ne) OP(lt) OP(le) OP(gt) OP(ge)
// clang-format on
