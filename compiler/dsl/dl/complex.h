#pragma once
// Complex tensors: two tensors of floats, computed with as one. States and what
// steps report are real: `dl::view_as_complex(weight)` of a weight [..., 2].
//
//   dl::Complex x = dl::fft::rfft(signal);      // torch.fft.rfft(signal)
//   dl::Tensor power = x.abs().pow(2);          // x.real, x.imag are tensors
#include "einsum.h"
#include "in_place.h"
#include "trigonometry.h"
#include "windows.h"

namespace dl {

/// Tensor's method for both parts, which are of one shape.
#define DL_BOTH_PARTS(method)                                                  \
  template <class... Args> Complex method(const Args &...args) const {         \
    return {real.method(args...), imag.method(args...)};                       \
  }
/// ... whose first argument may be in braces: x.permute({0, 2, 1}).
#define DL_BOTH_PARTS_DIMS(method, type)                                       \
  DL_BOTH_PARTS(method)                                                        \
  Complex method(const type &dims) const {                                     \
    return {real.method(dims), imag.method(dims)};                             \
  }

struct Complex {
  Tensor real, imag;

  Complex(const Tensor &real, const Tensor &imag) : real(real), imag(imag) {
    if (real.sizes() != imag.sizes() || !real.is_floating_point() ||
        !imag.is_floating_point())
      detail::fail("complex: the real part {} and the imaginary part {} are "
                   "floats of one shape",
                   real.sizes(), imag.sizes());
  }
  Complex(const Complex &) = default;
  Complex &operator=(const Complex &) & = default;
  /// A part: x[dl::Ellipsis, dl::Slice(0, 8)] = y;
  void operator=(const Complex &value) && {
    static_cast<Tensor &&>(real) = detail::Operand(value.real);
    static_cast<Tensor &&>(imag) = detail::Operand(value.imag);
  }

  Shape sizes() const { return real.sizes(); }
  i64 size(i64 dim) const { return real.size(dim); }
  int dim() const { return real.dim(); }
  i64 numel() const { return real.numel(); }

  /// Its gradient is 0 where x is.
  Tensor abs() const {
    detail::Called called("abs");
    Tensor size = greatest_part(), a = real / size, b = imag / size;
    Tensor squares = a * a + b * b, none = squares.eq(0);
    return where(none, 0.0, where(none, 1.0, squares).sqrt() * size);
  }
  /// What is divided by it has squares; 1 where both parts are 0.
  Tensor greatest_part() const {
    Tensor size = real.abs().maximum(imag.abs()).detach();
    return where(size.eq(0), 1.0, size);
  }
  Tensor angle() const { return imag.atan2(real); }
  Complex conj() const { return {real, -imag}; }
  Complex square() const;
  /// Of 2, 3, ... by products, of others by size and angle.
  Complex pow(double exponent) const;
  Complex log() const { return {abs().log(), angle()}; }
  Complex sqrt() const { return pow(0.5); }
  /// In place, of what it is a part of, too.
  const Complex &copy_(const Complex &other) const {
    real.copy_(other.real), imag.copy_(other.imag);
    return *this;
  }
  Complex exp() const {
    Tensor size = real.exp();
    return {size * imag.cos(), size * imag.sin()};
  }

  DL_BOTH_PARTS_DIMS(reshape, Shape)
  DL_BOTH_PARTS_DIMS(view, Shape)
  DL_BOTH_PARTS_DIMS(expand, Shape)
  DL_BOTH_PARTS_DIMS(permute, Dims)
  DL_BOTH_PARTS(transpose)
  DL_BOTH_PARTS(flatten)
  DL_BOTH_PARTS(squeeze)
  DL_BOTH_PARTS(unsqueeze)
  DL_BOTH_PARTS(slice)
  DL_BOTH_PARTS(narrow)
  DL_BOTH_PARTS(select)
  DL_BOTH_PARTS(index_select)
  DL_BOTH_PARTS(clone)
  DL_BOTH_PARTS(t)
  DL_BOTH_PARTS_DIMS(flip, Dims)
  DL_BOTH_PARTS(roll)
  Complex unflatten(i64 dim, const Shape &sizes) const {
    return {real.unflatten(dim, sizes), imag.unflatten(dim, sizes)};
  }
  Complex roll(const Dims &shifts, const Dims &dims) const {
    return {real.roll(shifts, dims), imag.roll(shifts, dims)};
  }
  DL_BOTH_PARTS(operator[])
  DL_BOTH_PARTS(detach)
  DL_BOTH_PARTS_DIMS(sum, Dims)
  DL_BOTH_PARTS_DIMS(mean, Dims)
};
#undef DL_BOTH_PARTS_DIMS
#undef DL_BOTH_PARTS

/// Copies of these.
inline Complex complex(const Tensor &real, const Tensor &imag) {
  return {real.clone(), imag.clone()};
}
/// The type of complex tensors that are made of nothing: dl::zeros({4}, {.dtype
/// = dl::cfloat}).
struct ComplexType {};
inline constexpr ComplexType cfloat, complex64;
struct ComplexOptions {
  ComplexType dtype;
};
inline Complex zeros(const Shape &size, ComplexOptions) {
  return {zeros(size), zeros(size)};
}
inline Complex ones(const Shape &size, ComplexOptions) {
  return {ones(size), zeros(size)};
}
inline Complex zeros(const Shape &size, ComplexType) {
  return {zeros(size), zeros(size)};
}
inline Complex where(const Tensor &condition, const Complex &a,
                     const Complex &b) {
  return {where(condition, a.real, b.real), where(condition, a.imag, b.imag)};
}
inline Complex polar(const Tensor &abs, const Tensor &angle) {
  return {abs * angle.cos(), abs * angle.sin()};
}
/// Of [..., 2], real and imaginary parts.
inline Complex view_as_complex(const Tensor &x) {
  if (x.dim() == 0 || x.size(-1) != 2)
    detail::fail("view_as_complex: the last dim has 2 elements, got {}",
                 x.sizes());
  return {x.select(-1, 0), x.select(-1, 1)};
}
inline Tensor view_as_real(const Complex &x) {
  return stack({x.real, x.imag}, -1);
}
inline Complex zeros_like(const Complex &x) {
  return {zeros_like(x.real), zeros_like(x.imag)};
}
inline Tensor real(const Complex &x) { return x.real; }
inline Tensor imag(const Complex &x) { return x.imag; }
inline Tensor abs(const Complex &x) { return x.abs(); }
inline Tensor angle(const Complex &x) { return x.angle(); }
inline Complex conj(const Complex &x) { return x.conj(); }
inline Complex exp(const Complex &x) { return x.exp(); }

inline Complex operator-(const Complex &x) { return {-x.real, -x.imag}; }
inline Complex operator+(const Complex &a, const Complex &b) {
  return {a.real + b.real, a.imag + b.imag};
}
inline Complex operator-(const Complex &a, const Complex &b) {
  return {a.real - b.real, a.imag - b.imag};
}
inline Complex operator*(const Complex &a, const Complex &b) {
  return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}

inline Complex operator*(const Complex &a, const Operand &b) {
  return {a.real * b, a.imag * b};
}
inline Complex operator*(const Operand &a, const Complex &b) { return b * a; }
inline Complex operator/(const Complex &a, const Operand &b) {
  return {a.real / b, a.imag / b};
}
namespace detail {
/// 1 / x, by which squares neither overflow nor vanish.
inline Complex reciprocal(const Complex &x) {
  Tensor size = x.greatest_part(), a = x.real / size, b = x.imag / size;
  Tensor squares = a * a + b * b;
  return Complex(a / squares, -b / squares) / size;
}
} // namespace detail
inline Complex operator/(const Complex &a, const Complex &b) {
  Tensor size = b.greatest_part();
  Complex unit(b.real / size, b.imag / size);
  Tensor squares = unit.real * unit.real + unit.imag * unit.imag;
  return a / size * unit.conj() / squares;
}
inline Complex operator/(const Operand &a, const Complex &b) {
  return detail::reciprocal(b) * a;
}
/// What is added is real: the imaginary part takes its shape alone.
inline Complex operator+(const Complex &a, const Operand &b) {
  Tensor real = a.real + b;
  return {real, a.imag.expand(real.sizes())};
}
inline Complex operator+(const Operand &a, const Complex &b) { return b + a; }
inline Complex operator-(const Complex &a, const Operand &b) {
  Tensor real = a.real - b;
  return {real, a.imag.expand(real.sizes())};
}
inline Complex operator-(const Operand &a, const Complex &b) { return -b + a; }

inline Complex Complex::square() const { return *this * *this; }
inline Complex Complex::pow(double exponent) const {
  if (exponent == 2)
    return square();
  if (exponent > 2 && exponent <= 16 && exponent == __builtin_floor(exponent))
    return *this * pow(exponent - 1);
  Tensor size = abs(), turn = angle() * exponent;
  size = size.pow(exponent);
  return {size * turn.cos(), size * turn.sin()};
}
#define DL_ASSIGNED(sign)                                                      \
  inline const Complex &operator sign## =                                      \
      (const Complex &x, const Complex &other) {                               \
    return x.copy_(x sign other);                                              \
  }                                                                            \
  inline const Complex &operator sign## =                                      \
      (const Complex &x, const Operand &other) {                               \
    return x.copy_(x sign other);                                              \
  }
DL_ASSIGNED(+)
DL_ASSIGNED(-)
DL_ASSIGNED(*)
DL_ASSIGNED(/)
#undef DL_ASSIGNED

/// Of two complex tensors, or of one and a real one.
inline Complex einsum(const char *equation, const Complex &a,
                      const Complex &b) {
  auto of = [&](const Tensor &x, const Tensor &y) {
    return einsum(equation, {x, y});
  };
  return {of(a.real, b.real) - of(a.imag, b.imag),
          of(a.real, b.imag) + of(a.imag, b.real)};
}
inline Complex einsum(const char *equation, const Complex &a, const Tensor &b) {
  return {einsum(equation, {a.real, b}), einsum(equation, {a.imag, b})};
}
inline Complex einsum(const char *equation, const Tensor &a, const Complex &b) {
  return {einsum(equation, {a, b.real}), einsum(equation, {a, b.imag})};
}
inline Complex matmul(const Complex &a, const Complex &b) {
  return {matmul(a.real, b.real) - matmul(a.imag, b.imag),
          matmul(a.real, b.imag) + matmul(a.imag, b.real)};
}

inline Complex matmul(const Complex &a, const Tensor &b) {
  return {matmul(a.real, b), matmul(a.imag, b)};
}
inline Complex matmul(const Tensor &a, const Complex &b) {
  return {matmul(a, b.real), matmul(a, b.imag)};
}

inline Complex cat(list<Complex> parts, i64 dim = 0) {
  TensorList real, imag;
  for (const Complex &part : parts)
    real.push_back(part.real), imag.push_back(part.imag);
  return {cat(real, dim), cat(imag, dim)};
}
inline Complex stack(list<Complex> parts, i64 dim = 0) {
  TensorList real, imag;
  for (const Complex &part : parts)
    real.push_back(part.real), imag.push_back(part.imag);
  return {stack(real, dim), stack(imag, dim)};
}

namespace nn::functional {
inline Complex pad(const Complex &x, const Shape &pad,
                   const char *mode = "constant") {
  return {nn::functional::pad(x.real, pad, mode),
          nn::functional::pad(x.imag, pad, mode)};
}
} // namespace nn::functional

} // namespace dl
