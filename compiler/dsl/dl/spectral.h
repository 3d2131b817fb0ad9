#pragma once
// Spectrograms: short-time Fourier transforms, and the windows they look
// through. Griffin and Lim, "Signal Estimation from Modified Short-Time Fourier
// Transform", 1984.
#include "fft.h"

namespace dl {

/// hop_length 0: a quarter of n_fft; win_length 0: n_fft; no window: ones.
struct StftOptions {
  i64 hop_length = 0, win_length = 0;
  Tensor window = {};
  bool center = true;
  const char *pad_mode = "reflect";
  bool normalized = false, onesided = true, return_complex = true;
};
/// `length`: of the signal; 0: as the frames say.
struct IstftOptions {
  i64 hop_length = 0, win_length = 0;
  Tensor window = {};
  bool center = true, normalized = false, onesided = true;
  i64 length = 0;
};

namespace detail {

/// a0 - a1 cos(t) + a2 cos(2 t), once around.
inline Tensor cosine_window(const char *what, i64 length, bool periodic,
                            double a0, double a1, double a2) {
  Called called(what);
  if (length < 1)
    fail("{}: {} elements; at least 1 is wanted", what, length);
  if (length == 1)
    return ones({1});
  double step = 2 * 3.14159265358979323846 /
                static_cast<double>(periodic ? length : length - 1);
  Tensor angle = arange(length).to(kFloat) * step;
  Tensor window = a0 - angle.cos() * a1;
  return a2 == 0 ? window : window + (angle * 2.0).cos() * a2;
}

/// Hops and windows that fit.
struct Frames {
  i64 size, hop;
  Tensor window; ///< [size], or undefined

  Frames(const char *what, i64 n_fft, i64 hop_length, i64 win_length,
         const Tensor &given)
      : size(n_fft), hop(hop_length ? hop_length : n_fft / 4), window(given) {
    i64 length = win_length        ? win_length
                 : given.defined() ? given.numel()
                                   : n_fft;
    if (n_fft < 1 || hop < 1 || length < 1 || length > n_fft)
      fail("{}: n_fft = {}, hop_length = {}, win_length = {}: at least 1, and "
           "a window of at most n_fft",
           what, n_fft, hop, length);
    if (given.defined() && given.sizes() != Shape{length})
      fail("{}: the window is {}, and win_length {}", what, given.sizes(),
           length);
    if (!given.defined() && length < n_fft)
      window = ones({length});
    if (i64 left = (n_fft - length) / 2; window.defined() && length < n_fft)
      window = nn::functional::pad(window, {left, n_fft - length - left});
  }

  /// How many hops a frame covers.
  i64 hops() const { return (size + hop - 1) / hop; }

  /// [..., T] to [..., frames, size]: rows of a hop each, side by side.
  Tensor cut(const Tensor &x) const {
    i64 count = (x.size(-1) - size) / hop + 1, rows = count - 1 + hops();
    Tensor padded = x.size(-1) < rows * hop
                        ? nn::functional::pad(x, {0, rows * hop - x.size(-1)})
                        : x.narrow(-1, 0, rows * hop);
    Tensor each = padded.unflatten(-1, {rows, hop});
    TensorList parts;
    for (i64 i = 0; i < hops(); ++i)
      parts.push_back(each.narrow(-2, i, count));
    return cat(parts, -1).narrow(-1, 0, size);
  }

  /// The sum of what cut() would cut out: [..., frames, size] to [..., T].
  Tensor add(const Tensor &frames) const {
    i64 count = frames.size(-2), most = hops();
    Tensor whole = nn::functional::pad(frames, {0, most * hop - size}), sum;
    for (i64 i = 0; i < most; ++i) {
      Tensor part = nn::functional::pad(whole.narrow(-1, i * hop, hop),
                                        {0, 0, i, most - 1 - i});
      sum = sum.defined() ? sum + part : part;
    }
    return sum.flatten(-2).narrow(-1, 0, (count - 1) * hop + size);
  }
};

} // namespace detail

inline Tensor hann_window(i64 window_length, bool periodic = true) {
  return detail::cosine_window("hann_window", window_length, periodic, 0.5, 0.5,
                               0);
}
inline Tensor hamming_window(i64 window_length, bool periodic = true,
                             double alpha = 0.54, double beta = 0.46) {
  return detail::cosine_window("hamming_window", window_length, periodic, alpha,
                               beta, 0);
}
inline Tensor blackman_window(i64 window_length, bool periodic = true) {
  return detail::cosine_window("blackman_window", window_length, periodic, 0.42,
                               0.5, 0.08);
}
/// A triangle from 0 to 1 and back.
inline Tensor bartlett_window(i64 window_length, bool periodic = true) {
  detail::Called called("bartlett_window");
  if (window_length == 1)
    return ones({1});
  double last = static_cast<double>(window_length - (periodic ? 0 : 1));
  return 1.0 - (arange(window_length).to(kFloat) * (2 / last) - 1.0).abs();
}
/// I0(beta sqrt(1 - t^2)) / I0(beta), by the series of the Bessel function I0
/// (Abramowitz and Stegun 9.6.12), whose terms are all positive.
inline Tensor kaiser_window(i64 window_length, bool periodic = true,
                            double beta = 12) {
  detail::Called called("kaiser_window");
  if (window_length == 1)
    return ones({1});
  if (!(beta >= 0 && beta <= 50))
    detail::fail("kaiser_window: beta = {}; from 0 to 50 is wanted", beta);
  double last = static_cast<double>(window_length - (periodic ? 0 : 1));
  Tensor t = arange(window_length).to(kFloat) * (2 / last) - 1.0;
  Tensor square = (1.0 - t.square()) * (beta * beta / 4);
  double most = beta * beta / 4, whole = 1;
  Tensor sum = ones_like(t);
  int terms = 25 + static_cast<int>(1.5 * beta);
  for (int k = terms; k > 0; --k) { // by Horner's rule
    sum = 1.0 + square * sum / static_cast<double>(k * k);
    whole = 1 + most * whole / (k * k);
  }
  return sum / whole;
}

/// [T] or [batch, T] to [..., frequencies, frames].
inline Complex stft(const Tensor &x, i64 n_fft, StftOptions options = {}) {
  detail::Called called("stft");
  if (x.dim() != 1 && x.dim() != 2)
    detail::fail("stft: a signal is [T] or [batch, T], got {}", x.sizes());
  if (!options.return_complex)
    detail::fail(
        "stft: return_complex = false is dl::view_as_real(dl::stft(...))");
  detail::Frames frames("stft", n_fft, options.hop_length, options.win_length,
                        options.window);
  Tensor signal = x;
  if (options.center) {
    Shape both = {n_fft / 2, n_fft / 2};
    signal = nn::functional::pad(x.dim() == 1 ? x.unsqueeze(0) : x, both,
                                 options.pad_mode);
    signal = x.dim() == 1 ? signal.squeeze(0) : signal;
  }
  if (signal.size(-1) < n_fft)
    detail::fail("stft: n_fft = {} of a signal {}", n_fft, x.sizes());
  Tensor cut = frames.cut(signal);
  if (frames.window.defined())
    cut = cut * frames.window;
  fft::FftOptions how{.norm = options.normalized ? "ortho" : "backward"};
  Complex y = options.onesided ? fft::rfft(cut, how) : fft::fft(cut, how);
  return y.transpose(-1, -2);
}

/// In PyTorch's positions.
inline Complex stft(const Tensor &x, i64 n_fft, i64 hop_length,
                    i64 win_length = 0, const Tensor &window = {},
                    bool center = true) {
  return stft(x, n_fft,
              {.hop_length = hop_length,
               .win_length = win_length,
               .window = window,
               .center = center});
}

/// [..., frequencies, frames] to [..., T]: the signal whose frames are nearest
/// to these. NaN where no window reaches, as at the first element of a Hann
/// window without `center`.
inline Tensor istft(const Complex &x, i64 n_fft, IstftOptions options = {}) {
  detail::Called called("istft");
  if (x.dim() != 2 && x.dim() != 3)
    detail::fail("istft: [frequencies, frames] or [batch, ...] is wanted, got "
                 "{}",
                 x.sizes());
  if (i64 numbers = options.onesided ? n_fft / 2 + 1 : n_fft;
      x.size(-2) != numbers)
    detail::fail("istft: n_fft = {} makes {} frequencies, got {}", n_fft,
                 numbers, x.sizes());
  detail::Frames frames("istft", n_fft, options.hop_length, options.win_length,
                        options.window);
  Complex rows = x.transpose(-1, -2);
  const char *norm = options.normalized ? "ortho" : "backward";
  Tensor cut = options.onesided
                   ? fft::irfft(rows, {.n = n_fft, .norm = norm})
                   : fft::ifft(rows, {.n = n_fft, .norm = norm}).real;
  Tensor window = frames.window.defined() ? frames.window : ones({n_fft});
  Tensor signal = frames.add(cut * window);
  Tensor weight =
      frames.add((window * window).expand({x.size(-1), n_fft}).clone());
  i64 begin = options.center ? n_fft / 2 : 0, all = signal.size(-1);
  i64 length = options.length ? options.length
                              : all - begin - (options.center ? n_fft / 2 : 0);
  i64 there = length < all - begin ? length : all - begin;
  Tensor y = signal.narrow(-1, begin, there) / weight.narrow(-1, begin, there);
  return length > there ? nn::functional::pad(y, {0, length - there}) : y;
}

} // namespace dl
