#pragma once
// Tensors from nothing. Outside of a step they are initial distributions of
// parameters, inside they are ops.
#include "parameter.h"

namespace dl {

struct TensorOptions;
namespace detail {
/// Set by name, {.dtype = dl::kInt64}, or as C++ programs chain it:
/// x.options().dtype(dl::kInt64).
struct DTypeOption {
  DType value;
  constexpr DTypeOption(DType value) : value(value) {}
  constexpr operator DType() const { return value; }
  constexpr TensorOptions operator()(DType dtype) const;
};
} // namespace detail
struct TensorOptions {
  detail::DTypeOption dtype = kFloat;

  template <class Device>
  TensorOptions device(const Device &) const =
      delete ("dl: leave this out: where a plan runs is not part of the model");
  TensorOptions requires_grad(bool value = true) const = delete (
      "dl: leave this out: dl::autograd::grad(y, x) takes any tensor x; what "
      "is trained is an nn::Parameter");
};
constexpr TensorOptions detail::DTypeOption::operator()(DType dtype) const {
  return {dtype};
}
constexpr TensorOptions dtype(DType dtype) { return {dtype}; }
inline TensorOptions Tensor::options() const { return {dtype()}; }

inline Tensor full(const Shape &size, const Operand &fill_value,
                   TensorOptions options) {
  detail::Called called("full");
  double value = fill_value.kind == DL_FLOAT_SCALAR
                     ? fill_value.number
                     : static_cast<double>(fill_value.integer);
  if (fill_value.kind == DL_PROMOTED)
    detail::fail("full: fill_value is a tensor; a number is wanted");
  detail::require_finite("full", fill_value);
  bool exact = value < 0x1p63 && static_cast<i64>(value) == fill_value.integer;
  if (fill_value.kind == DL_INT_SCALAR && !exact &&
      static_cast<int>(options.dtype.value) > DL_FLOAT64)
    detail::unsupported("full: the number {} needs more than 53 bits: not in "
                        "this version",
                        fill_value.integer);
  if (dl_in_step())
    return Tensor(detail::emit_many<1>(
        "full", {}, {{"value", value}, {"type", options.dtype.value, size}}));
  Tensor result;
  result.id = dl_initial(DL_CONSTANT, value, 0, size.dims, size.rank,
                         static_cast<int>(options.dtype.value));
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
  detail::Called called("zeros");
  return full(size, 0, dtype);
}
inline Tensor ones(const Shape &size, DType dtype) {
  detail::Called called("ones");
  return full(size, 1, dtype);
}
inline Tensor zeros(const Shape &size, TensorOptions options = {}) {
  detail::Called called("zeros");
  return full(size, 0.0, options);
}
inline Tensor ones(const Shape &size, TensorOptions options = {}) {
  detail::Called called("ones");
  return full(size, 1.0, options);
}

/// Zeros: what is in it is to be set by nn::init, or another op.
inline Tensor empty(const Shape &size, TensorOptions options = {}) {
  detail::Called called("empty");
  return full(size, 0, options);
}
inline Tensor empty(const Shape &size, DType dtype) {
  return empty(size, TensorOptions{dtype});
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
  detail::Called called("rand");
  return detail::random("uniform", DL_UNIFORM, 0, 1, size);
}
/// Normal with mean 0 and standard deviation 1.
inline Tensor randn(const Shape &size) {
  detail::Called called("randn");
  return detail::random("normal", DL_NORMAL, 0, 1, size);
}

/// From low to below high, each as likely as the others.
inline Tensor randint(i64 low, i64 high, const Shape &size) {
  detail::Called called("randint");
  if (low >= high)
    detail::fail("randint: from {} to below {} there is no integer", low, high);
  // As many as the bits of a random number tell apart.
  if (high - low > (dl_float_is_double() ? i64{1} << 53 : i64{1} << 24))
    detail::unsupported("randint: {} numbers from {} on: not in this version",
                        high - low, low);
  Tensor share = rand(size);
  return share.mul(static_cast<double>(high - low))
      .to(kInt64)
      .minimum(high - low - 1)
      .add(low);
}
inline Tensor randint(i64 high, const Shape &size) {
  return randint(0, high, size);
}

/// Sizes as arguments: zeros(3, 4).
#define DL_SIZES(zeros)                                                        \
  template <detail::Number... I>                                               \
    requires(sizeof...(I) > 0)                                                 \
  Tensor zeros(I... size) {                                                    \
    return zeros(Shape{static_cast<i64>(size)...});                            \
  }
DL_SIZES(zeros)
DL_SIZES(ones)
DL_SIZES(empty)
DL_SIZES(rand)
DL_SIZES(randn)
#undef DL_SIZES
template <detail::Number I> Tensor zeros(I size, TensorOptions o) {
  return zeros(Shape{static_cast<i64>(size)}, o);
}
template <detail::Number I> Tensor ones(I size, TensorOptions o) {
  return ones(Shape{static_cast<i64>(size)}, o);
}
template <detail::Number I, detail::GivenDType D> Tensor zeros(I size, D type) {
  return zeros(Shape{static_cast<i64>(size)}, type);
}
template <detail::Number I, detail::GivenDType D> Tensor ones(I size, D type) {
  return ones(Shape{static_cast<i64>(size)}, type);
}

namespace detail {
/// start + step * i. Integers are counted as i64, whatever they become.
template <class T>
Tensor progression(T start, T step, i64 count, DType wanted) {
  Called called("arange");
  if (!dl_in_step()) {
    Tensor result;
    result.id = dl_initial(DL_PROGRESSION, static_cast<double>(start),
                           static_cast<double>(step), &count, 1,
                           static_cast<int>(wanted));
    return result;
  }
  bool whole = static_cast<int>(wanted) > DL_FLOAT64;
  DType dtype = whole ? kInt64 : wanted;
  Tensor index = Tensor(
      emit_many<1>("iota", {}, {{"dim", 0}, {"type", dtype, Shape{count}}}));
  if (step != 1)
    index = index.mul(step);
  index = start == 0 ? index : index.add(start);
  return whole ? index.to(wanted) : index;
}
template <class T> [[noreturn]] void fail_arange(T start, T end, T step) {
  fail("arange: steps of {} do not lead from {} to {}; an empty tensor cannot "
       "be",
       step, start, end);
}
} // namespace detail

/// start, start + step, ... below end.
inline Tensor arange(i64 start, i64 end, i64 step = 1,
                     TensorOptions options = {.dtype = kInt64}) {
  using Count = unsigned long long; // a distance may be too large for i64
  Count distance = 0, stride = static_cast<Count>(step);
  if (step > 0 && start < end)
    distance = static_cast<Count>(end) - static_cast<Count>(start);
  if (step < 0 && start > end) {
    distance = static_cast<Count>(start) - static_cast<Count>(end);
    stride = 0 - stride;
  }
  if (distance == 0)
    detail::fail_arange(start, end, step);
  i64 count = static_cast<i64>((distance - 1) / stride) + 1;
  return detail::progression(start, step, count, options.dtype);
}
inline Tensor arange(i64 start, i64 end, TensorOptions options) {
  return arange(start, end, 1, options);
}
inline Tensor arange(i64 end, TensorOptions options = {.dtype = kInt64}) {
  return arange(0, end, 1, options);
}
inline Tensor arange(i64 end, DType dtype) {
  return arange(0, end, 1, TensorOptions{dtype});
}
inline Tensor arange(i64 start, i64 end, DType dtype) {
  return arange(start, end, 1, TensorOptions{dtype});
}
inline Tensor arange(i64 start, i64 end, i64 step, DType dtype) {
  return arange(start, end, step, TensorOptions{dtype});
}

/// With fractions: floats.
template <detail::Number S, detail::Number E, detail::Number T = i64>
  requires(__is_floating_point(S) || __is_floating_point(E) ||
           __is_floating_point(T))
Tensor arange(S start, E end, T step = 1, TensorOptions options = {}) {
  double from = static_cast<double>(start), to = static_cast<double>(end),
         by = static_cast<double>(step);
  if (static_cast<int>(options.dtype.value) > DL_FLOAT64)
    detail::fail("arange: start, end and step must be integers for a dtype "
                 "of integers");
  double count = __builtin_ceil((to - from) / by);
  if (by == 0 || !(count >= 1))
    detail::fail_arange(from, to, by);
  if (!(count <= 0x1p53))
    detail::fail("arange: {} steps of {} from {} to {} are too many", count, by,
                 from, to);
  return detail::progression(from, by, static_cast<i64>(count), options.dtype);
}
template <detail::Number E>
  requires(__is_floating_point(E))
Tensor arange(E end, TensorOptions options = {}) {
  return arange(0.0, end, 1, options);
}

// Of x's type, if no other is named.
#define DL_LIKE(op)                                                            \
  inline Tensor op##_like(Tensor x, LikeOptions options = {}) {                \
    detail::Called called(#op "_like");                                        \
    return op(x.sizes(), options.of(x.dtype()));                               \
  }                                                                            \
  template <detail::GivenDType T> Tensor op##_like(Tensor x, T dtype) {        \
    return op##_like(x, LikeOptions{dtype});                                   \
  }                                                                            \
  inline Tensor Tensor::new_##op(const Shape &size, LikeOptions options)       \
      const {                                                                  \
    detail::Called called("new_" #op);                                         \
    return op(size, options.of(dtype()));                                      \
  }
DL_LIKE(zeros)
DL_LIKE(ones)
DL_LIKE(empty)
#undef DL_LIKE
inline Tensor full_like(Tensor x, const Operand &value,
                        LikeOptions options = {}) {
  detail::Called called("full_like");
  return full(x.sizes(), value, options.of(x.dtype()));
}
template <detail::GivenDType T>
Tensor full_like(Tensor x, const Operand &value, T dtype) {
  return full_like(x, value, LikeOptions{dtype});
}
inline Tensor Tensor::new_full(const Shape &size, const Operand &value,
                               LikeOptions options) const {
  detail::Called called("new_full");
  return full(size, value, options.of(dtype()));
}

inline Tensor rand_like(Tensor x) {
  detail::Called called("rand_like");
  return rand(x.sizes());
}
inline Tensor randn_like(Tensor x) {
  detail::Called called("randn_like");
  return randn(x.sizes());
}

} // namespace dl
