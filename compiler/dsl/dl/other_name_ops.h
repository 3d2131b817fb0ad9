#pragma once
// The lists of PyTorch's second names: see other_names.h.

// clang-format off
#define DL_UNARY_NAMES(OP)                                                     \
  OP(absolute, abs) OP(negative, neg) OP(fix, trunc) OP(sgn, sign)             \
  OP(arccos, acos) OP(arcsin, asin) OP(arctan, atan)                           \
  OP(arccosh, acosh) OP(arcsinh, asinh) OP(arctanh, atanh)
#define DL_BINARY_NAMES(OP)                                                    \
  OP(multiply, mul) OP(subtract, sub) OP(divide, div) OP(true_divide, div)     \
  OP(greater, gt) OP(greater_equal, ge) OP(less, lt) OP(less_equal, le)        \
  OP(not_equal, ne) OP(arctan2, atan2)
// clang-format on

#define DL_UNARY_NAME_METHOD(name, op) Tensor name() const;
#define DL_BINARY_NAME_METHOD(name, op) Tensor name(const Operand &other) const;
/// What class Tensor declares of them.
#define DL_OTHER_NAME_METHODS                                                  \
  DL_UNARY_NAMES(DL_UNARY_NAME_METHOD)                                         \
  DL_BINARY_NAMES(DL_BINARY_NAME_METHOD)                                       \
  Shape size() const;                                                          \
  i64 nelement() const;                                                        \
  i64 ndimension() const;                                                      \
  Tensor fliplr() const;                                                       \
  Tensor flipud() const;                                                       \
  Tensor swapdims(i64 a, i64 b) const;                                         \
  Tensor moveaxis(const Dims &source, const Dims &destination) const;          \
  Tensor moveaxis(i64 source, i64 destination) const;                          \
  Tensor reshape_as(Tensor other) const;                                       \
  Tensor vdot(Tensor other) const;                                             \
  Tensor msort() const;                                                        \
  TensorList split_with_sizes(const Shape &sizes, i64 dim = 0) const;          \
  Tensor toType(DType dtype) const { return to(dtype); }                       \
  Tensor to(Tensor other) const;
