#pragma once
// Tensors from nothing. Outside of a step they are initial distributions of
// parameters, inside they are ops.
#include "parameter.h"

namespace dl {

struct TensorOptions {
  DType dtype = kFloat;
};

inline Tensor full(const Shape &size, const Operand &fill_value,
                   TensorOptions options) {
  double value = fill_value.kind == DL_FLOAT_SCALAR
                     ? fill_value.number
                     : static_cast<double>(fill_value.integer);
  if (fill_value.kind == DL_PROMOTED)
    detail::fail("full: fill_value is a tensor; a number is wanted");
  if (dl_in_step())
    return Tensor(detail::emit_many<1>(
        "full", {}, {{"value", value}, {"type", options.dtype, size}}));
  Tensor result;
  result.id = dl_initial(DL_CONSTANT, value, 0, size.dims, size.rank,
                         static_cast<int>(options.dtype));
  return result;
}
/// The dtype follows the value, as in PyTorch.
inline Tensor full(const Shape &size, const Operand &fill_value) {
  DType dtype = fill_value.kind == DL_FLOAT_SCALAR  ? kFloat
                : fill_value.kind == DL_BOOL_SCALAR ? kBool
                                                    : kInt64;
  return full(size, fill_value, TensorOptions{dtype});
}
inline Tensor full(const Shape &size, const Operand &fill_value, DType dtype) {
  return full(size, fill_value, TensorOptions{dtype});
}
inline Tensor zeros(const Shape &size, DType dtype) {
  return full(size, 0, dtype);
}
inline Tensor ones(const Shape &size, DType dtype) {
  return full(size, 1, dtype);
}
inline Tensor zeros(const Shape &size, TensorOptions options = {}) {
  return full(size, 0.0, options);
}
inline Tensor ones(const Shape &size, TensorOptions options = {}) {
  return full(size, 1.0, options);
}

namespace detail {
inline Tensor random(const char *op, int kind, double a, double b,
                     const Shape &size) {
  if (dl_in_step())
    return Tensor(emit_many<1>(op, {Operand::step_scalars()},
                               {Attr::key("key"), {"type", kFloat, size}}));
  Tensor result;
  result.id = dl_initial(kind, a, b, size.dims, size.rank, DL_FLOAT);
  return result;
}
} // namespace detail

/// Uniform in [0, 1).
inline Tensor rand(const Shape &size) {
  return detail::random("uniform", DL_UNIFORM, 0, 1, size);
}
/// Normal with mean 0 and standard deviation 1.
inline Tensor randn(const Shape &size) {
  return detail::random("normal", DL_NORMAL, 0, 1, size);
}

/// start, start + step, ... below end.
inline Tensor arange(i64 start, i64 end, i64 step = 1,
                     TensorOptions options = {.dtype = kInt64}) {
  i64 count =
      step == 0 ? -1 : (end - start + step - (step > 0 ? 1 : -1)) / step;
  if (count < 0)
    detail::fail("arange: steps of {} do not lead from {} to {}", step, start,
                 end);
  Tensor index = Tensor(detail::emit_many<1>(
      "iota", {}, {{"dim", 0}, {"type", options.dtype, Shape{count}}}));
  if (step != 1)
    index = index.mul(step);
  return start == 0 ? index : index.add(start);
}
inline Tensor arange(i64 end) { return arange(0, end); }

inline Tensor zeros_like(Tensor x) {
  return zeros(x.sizes(), {.dtype = x.dtype()});
}
inline Tensor ones_like(Tensor x) {
  return ones(x.sizes(), {.dtype = x.dtype()});
}
inline Tensor full_like(Tensor x, const Operand &value) {
  return full(x.sizes(), value, {.dtype = x.dtype()});
}
inline Tensor rand_like(Tensor x) { return rand(x.sizes()); }
inline Tensor randn_like(Tensor x) { return randn(x.sizes()); }

} // namespace dl
