#pragma once
// torch.fft: Fourier transforms of any dims; see dft.h.
#include "dft.h"

namespace dl::fft {

/// `n`: elements that are transformed, the first ones or with zeros behind
/// them; 0: all. `norm`: "backward", "ortho" or "forward", what is divided by
/// n or its root.
struct FftOptions {
  i64 n = 0, dim = -1;
  const char *norm = "backward";
};
/// `s`: as n for each of `dim`; none: all elements. (The last dims, 2 of them
/// in fft2 and its like, or as many as s has.)
struct FftnOptions {
  dl::detail::ByName by_name = {};
  Dims s = list<i64>{}, dim = list<i64>{};
  const char *norm = "backward";
};

namespace detail {

inline double scale_of(const char *what, const char *norm, i64 n,
                       Direction direction) {
  double all = 1.0 / static_cast<double>(n);
  if (equal(norm, "ortho"))
    return __builtin_sqrt(all);
  if (!equal(norm, "backward") && !equal(norm, "forward"))
    fail("{}: norm \"{}\"; \"backward\", \"ortho\" or \"forward\" is wanted",
         what, norm);
  return equal(norm, "forward") == (direction == Forward) ? all : 1;
}

inline int dim_of(const char *what, i64 dim, const Tensor &x, i64 n) {
  if (!x.is_floating_point())
    fail("{}: floats are wanted; use .to(dl::kFloat)", what);
  if (n < 0)
    fail("{}: n = {}; at least 1 is wanted", what, n);
  return static_cast<int>(wrap(what, dim, x.dim(), x.sizes()));
}

inline Complex of(const Parts &x) { return {x.real, x.imag}; }

inline Complex transform(const char *what, const Complex &x,
                         const FftOptions &options, Direction direction) {
  Called called(what);
  int dim = dim_of(what, options.dim, x.real, options.n);
  i64 n = options.n ? options.n : x.size(dim);
  require_factors(what, n);
  return of(transform({resized(x.real, dim, n), resized(x.imag, dim, n)}, dim,
                      n, direction,
                      scale_of(what, options.norm, n, direction)));
}
inline Complex of_real(const char *what, const Tensor &x,
                       const FftOptions &options, bool half) {
  Called called(what);
  int dim = dim_of(what, options.dim, x, options.n);
  i64 n = options.n ? options.n : x.size(dim);
  require_factors(what, n);
  return of(transform({resized(x, dim, n), {}}, dim, half ? n / 2 + 1 : n,
                      Forward, scale_of(what, options.norm, n, Forward)));
}
inline Tensor to_real(const char *what, const Complex &x,
                      const FftOptions &options) {
  Called called(what);
  int dim = dim_of(what, options.dim, x.real, options.n);
  i64 n = options.n ? options.n : 2 * (x.size(dim) - 1);
  if (n < 1)
    fail("{}: dim {} of {} has one number, which n = 1 goes with", what,
         options.dim, x.sizes());
  require_factors(what, n);
  return real_inverse(
      {resized(x.real, dim, n / 2 + 1), resized(x.imag, dim, n / 2 + 1)}, dim,
      n, scale_of(what, options.norm, n, Inverse));
}

/// The dims of a transform along several, and how many elements of each.
struct Along {
  Shape dims, sizes;
  Along(const char *what, const Shape &from, const FftnOptions &options,
        int most) {
    if (most == 2 && options.s.rank && options.s.rank != 2)
      fail("{}: s = {}; two sizes are wanted", what, Shape(options.s));
    Dims dim = options.dim;
    int count = options.s.rank ? options.s.rank : most ? most : from.rank;
    if (dim.rank == 0)
      for (int i = from.rank - count; i < from.rank; ++i)
        dim.push_back(i);
    if (options.s.rank && options.s.rank != dim.rank)
      fail("{}: s = {} for {} dims", what, Shape(options.s), dim.rank);
    for (i64 each : dim)
      dims.push_back(wrap(what, each, from.rank, from));
    for (int i = 0; i < dims.rank; ++i)
      sizes.push_back(options.s.rank ? options.s[i] : 0);
  }
  FftOptions of(int i, const char *norm) const {
    return {.n = sizes[i], .dim = dims[i], .norm = norm};
  }
};

inline Complex transform_all(const char *what, Complex x,
                             const FftnOptions &options, int most,
                             Direction direction) {
  Along along(what, x.sizes(), options, most);
  for (int i = along.dims.rank - 1; i >= 0; --i)
    x = transform(what, x, along.of(i, options.norm), direction);
  return x;
}
inline Complex of_real_all(const char *what, const Tensor &real,
                           const FftnOptions &options, int most, bool half) {
  Along along(what, real.sizes(), options, most);
  int last = along.dims.rank - 1;
  Complex x = of_real(what, real, along.of(last, options.norm), half);
  for (int i = last - 1; i >= 0; --i)
    x = transform(what, x, along.of(i, options.norm), Forward);
  return x;
}
inline Tensor to_real_all(const char *what, Complex x,
                          const FftnOptions &options, int most) {
  Along along(what, x.sizes(), options, most);
  int last = along.dims.rank - 1;
  for (int i = 0; i < last; ++i)
    x = transform(what, x, along.of(i, options.norm), Inverse);
  return to_real(what, x, along.of(last, options.norm));
}

} // namespace detail

inline Complex fft(const Complex &x, FftOptions options = {}) {
  return detail::transform("fft", x, options, detail::Forward);
}
inline Complex fft(const Tensor &x, FftOptions options = {}) {
  return detail::of_real("fft", x, options, /*half=*/false);
}
inline Complex ifft(const Complex &x, FftOptions options = {}) {
  return detail::transform("ifft", x, options, detail::Inverse);
}
inline Complex ifft(const Tensor &x, FftOptions options = {}) {
  return ifft(Complex(x, zeros_like(x)), options);
}
/// The first n / 2 + 1 numbers; the others are their conjugates.
inline Complex rfft(const Tensor &x, FftOptions options = {}) {
  return detail::of_real("rfft", x, options, /*half=*/true);
}
/// n: how many elements come out; 0: 2 (m - 1) for m numbers.
inline Tensor irfft(const Complex &x, FftOptions options = {}) {
  return detail::to_real("irfft", x, options);
}

// In PyTorch's positions.
#define DL_FFT(Result, name, Input)                                            \
  inline Result name(const Input &x, i64 n, i64 dim = -1,                      \
                     const char *norm = "backward") {                          \
    return name(x, FftOptions{.n = n, .dim = dim, .norm = norm});              \
  }
DL_FFT(Complex, fft, Complex)
DL_FFT(Complex, fft, Tensor)
DL_FFT(Complex, ifft, Complex)
DL_FFT(Complex, ifft, Tensor)
DL_FFT(Complex, rfft, Tensor)
DL_FFT(Tensor, irfft, Complex)
#undef DL_FFT

// Along several dims; those of a real tensor along the last one first.
#define DL_FFT(suffix, most)                                                   \
  inline Complex fft##suffix(const Complex &x, FftnOptions options = {}) {     \
    return detail::transform_all("fft" #suffix, x, options, most,              \
                                 detail::Forward);                             \
  }                                                                            \
  inline Complex fft##suffix(const Tensor &x, FftnOptions options = {}) {      \
    return detail::of_real_all("fft" #suffix, x, options, most, false);        \
  }                                                                            \
  inline Complex ifft##suffix(const Complex &x, FftnOptions options = {}) {    \
    return detail::transform_all("ifft" #suffix, x, options, most,             \
                                 detail::Inverse);                             \
  }                                                                            \
  inline Complex rfft##suffix(const Tensor &x, FftnOptions options = {}) {     \
    return detail::of_real_all("rfft" #suffix, x, options, most, true);        \
  }                                                                            \
  inline Tensor irfft##suffix(const Complex &x, FftnOptions options = {}) {    \
    return detail::to_real_all("irfft" #suffix, x, options, most);             \
  }
DL_FFT(2, 2)
DL_FFT(n, 0)
#undef DL_FFT

// In PyTorch's positions: sizes, dims.
#define DL_FFT(Result, name, Input)                                            \
  inline Result name(const Input &x, const Dims &s,                            \
                     const Dims &dim = list<i64>{},                            \
                     const char *norm = "backward") {                          \
    return name(x, FftnOptions{.s = s, .dim = dim, .norm = norm});             \
  }
DL_FFT(Complex, fft2, Complex)
DL_FFT(Complex, fft2, Tensor)
DL_FFT(Complex, ifft2, Complex)
DL_FFT(Complex, rfft2, Tensor)
DL_FFT(Tensor, irfft2, Complex)
DL_FFT(Complex, fftn, Complex)
DL_FFT(Complex, fftn, Tensor)
DL_FFT(Complex, ifftn, Complex)
DL_FFT(Complex, rfftn, Tensor)
DL_FFT(Tensor, irfftn, Complex)
#undef DL_FFT

/// The frequency of each number: in cycles of so many units as d says.
inline Tensor fftfreq(i64 n, double d = 1) {
  Tensor k = arange(n);
  return where(k.gt((n - 1) / 2), k - n, k).to(kFloat) /
         (d * static_cast<double>(n));
}
inline Tensor rfftfreq(i64 n, double d = 1) {
  return arange(n / 2 + 1).to(kFloat) / (d * static_cast<double>(n));
}

namespace detail {
template <class T> T shifted(T x, const Dims &dim, bool back) {
  Dims dims = dim;
  if (dims.rank == 0)
    for (int i = 0; i < x.dim(); ++i)
      dims.push_back(i);
  for (i64 each : dims) {
    i64 size = x.size(each);
    x = x.roll(back ? (size + 1) / 2 : size / 2, each);
  }
  return x;
}
} // namespace detail

/// Frequency 0 to the middle; no dims: of all.
inline Tensor fftshift(const Tensor &x, const Dims &dim = list<i64>{}) {
  return detail::shifted(x, dim, false);
}
inline Complex fftshift(const Complex &x, const Dims &dim = list<i64>{}) {
  return detail::shifted(x, dim, false);
}
inline Tensor ifftshift(const Tensor &x, const Dims &dim = list<i64>{}) {
  return detail::shifted(x, dim, true);
}
inline Complex ifftshift(const Complex &x, const Dims &dim = list<i64>{}) {
  return detail::shifted(x, dim, true);
}

} // namespace dl::fft
