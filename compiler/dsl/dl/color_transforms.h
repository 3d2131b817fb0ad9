#pragma once
// torchvision's transforms that change what pictures [N, C, H, W] show and not
// where: each item has random numbers of its own.
#include "transforms.h"

namespace dl::transforms {

namespace detail {
inline void check_colors(const char *what, const Tensor &x) {
  check(what, x);
  if (x.size(1) != 3)
    fail("{}: the pictures {} have {} channels; 3 are wanted", what, x.sizes(),
         x.size(1));
}
/// The weights of ITU-R BT.601, as torchvision has them.
inline Tensor gray(const Tensor &x) {
  return x.narrow(1, 0, 1) * 0.2989 + x.narrow(1, 1, 1) * 0.587 +
         x.narrow(1, 2, 1) * 0.114;
}
/// factor * x + (1 - factor) * other, from 0 to 1.
inline Tensor blend(const Tensor &x, const Tensor &other,
                    const Tensor &factor) {
  return (x * factor + other * (1 - factor)).clamp(0, 1);
}
/// Colours turned round by parts of the circle. Hue, saturation and value as A.
/// R. Smith, "Color gamut transform pairs", 1978, has them.
inline Tensor turned(const Tensor &x, const Tensor &by) {
  Tensor r = x.narrow(1, 0, 1), g = x.narrow(1, 1, 1), b = x.narrow(1, 2, 1);
  Tensor most = x.amax(1, true), width = most - x.amin(1, true);
  Tensor isGray = width.eq(0), safe = where(isGray, 1, width);
  Tensor sixths =
      where(most.eq(r), (g - b) / safe,
            where(most.eq(g), 2 + (b - r) / safe, 4 + (r - g) / safe));
  Tensor hue = where(isGray, 0, sixths) + by * 6;
  TensorList colors;
  for (double at : {5., 3., 1.}) {
    Tensor k = (hue + at).remainder(6);
    colors.push_back(most - width * minimum(k, 4 - k).clamp(0, 1));
  }
  return cat(colors, 1);
}
} // namespace detail

/// Of red, green and blue, 1 channel or 3 equal ones.
class Grayscale {
public:
  static constexpr char kName[] = "Grayscale";
  i64 num_output_channels;
  explicit Grayscale(i64 num_output_channels = 1)
      : num_output_channels(num_output_channels) {
    if (num_output_channels != 1 && num_output_channels != 3)
      detail::fail("Grayscale: {} channels; 1 or 3 are wanted",
                   num_output_channels);
  }
  Tensor operator()(Tensor x) const {
    detail::check_colors("Grayscale", x);
    Tensor gray = detail::gray(x);
    return num_output_channels == 1
               ? gray
               : gray.expand({x.size(0), 3, x.size(2), x.size(3)});
  }
};

/// Grayscale(3), with probability p.
class RandomGrayscale {
public:
  static constexpr char kName[] = "RandomGrayscale";
  double p;
  explicit RandomGrayscale(double p = 0.1) : p(p) {
    detail::check_probability("RandomGrayscale", p);
  }
  Tensor operator()(Tensor x) const {
    detail::check_colors("RandomGrayscale", x);
    return where(rand({x.size(0), 1, 1, 1}).lt(p), detail::gray(x), x);
  }
};

/// By how much, 0.4 for 0.6 to 1.4, or from where to where: {0.8, 1.2}.
class Jitter {
public:
  double strength = 0;
  Range range{0, 0};
  bool is_range = false;
  Jitter(double strength) : strength(strength) {}
  Jitter(double from, double to) : range{from, to}, is_range(true) {}
  /// The range around `middle`, within these bounds.
  Range around(const char *what, double middle, double low, double high) const {
    Range result =
        is_range ? range
                 : Range{middle - strength < low ? low : middle - strength,
                         middle + strength};
    bool fits = strength >= 0 && result.from <= result.to &&
                result.from >= low && result.to <= high;
    if (!fits && is_range)
      detail::fail("ColorJitter: {} from {} to {}; two numbers from {} to {} "
                   "are wanted, the smaller one first",
                   what, range.from, range.to, low, high);
    if (!fits)
      detail::fail("ColorJitter: {} = {}; at least 0 and at most {} is wanted",
                   what, strength, high - middle);
    return result;
  }
};

struct ColorJitterOptions {
  Jitter brightness = 0, contrast = 0, saturation = 0, hue = 0;
};

/// Brightness, contrast, saturation and hue, in this order, of pictures whose
/// numbers are from 0 to 1.
class ColorJitter {
public:
  static constexpr char kName[] = "ColorJitter";
  Range brightness, contrast, saturation, hue;
  explicit ColorJitter(const ColorJitterOptions &o)
      : brightness(o.brightness.around("brightness", 1, 0, kMost)),
        contrast(o.contrast.around("contrast", 1, 0, kMost)),
        saturation(o.saturation.around("saturation", 1, 0, kMost)),
        hue(o.hue.around("hue", 0, -0.5, 0.5)) {}
  Tensor operator()(Tensor x) const {
    detail::check_colors("ColorJitter", x);
    detail::check_floats("ColorJitter", x);
    if (changes(brightness, 1))
      x = (x * detail::drawn(x, brightness)).clamp(0, 1);
    if (changes(contrast, 1))
      x = detail::blend(x, detail::gray(x).mean({1, 2, 3}, true),
                        detail::drawn(x, contrast));
    if (changes(saturation, 1))
      x = detail::blend(x, detail::gray(x), detail::drawn(x, saturation));
    return changes(hue, 0) ? detail::turned(x, detail::drawn(x, hue)) : x;
  }

private:
  static constexpr double kMost = 1e6;
  static bool changes(const Range &range, double neutral) {
    return range.from != neutral || range.to != neutral;
  }
};

struct RandomErasingOptions {
  Range scale{0.02, 0.33}; ///< of the picture's area
  Range ratio{0.3, 3.3};   ///< height / width
  double value = 0;        ///< of what is erased: of a normalised picture 0 is
                           ///< the mean
};

/// A rectangle of random size and shape, anywhere, with probability p. Where a
/// side would be longer than the picture's, it is as long.
class RandomErasing {
public:
  static constexpr char kName[] = "RandomErasing";
  double p;
  RandomErasingOptions options;
  explicit RandomErasing(double p = 0.5,
                         const RandomErasingOptions &options = {})
      : p(p), options(options) {
    detail::check_probability("RandomErasing", p);
    detail::check_range("RandomErasing", "scale", options.scale);
    detail::check_range("RandomErasing", "ratio", options.ratio);
  }
  Tensor operator()(Tensor x) const {
    detail::check("RandomErasing", x);
    const Shape one{x.size(0), 1, 1, 1};
    Tensor area = detail::drawn(x, options.scale) *
                  static_cast<double>(x.size(2) * x.size(3));
    Tensor low = log(full({}, options.ratio.from)),
           high = log(full({}, options.ratio.to));
    Tensor ratio = exp(rand(one) * (high - low) + low);
    Tensor there = within(x, 2, (area * ratio).sqrt().round()) *
                   within(x, 3, (area / ratio).sqrt().round());
    return where(there * rand(one).lt(p), options.value, x);
  }

private:
  /// Whether a row or column is one of `length`, which begin anywhere.
  static Tensor within(const Tensor &x, i64 dim, Tensor length) {
    i64 size = x.size(dim);
    length = length.clamp(1, static_cast<double>(size));
    Tensor begin = (rand({x.size(0), 1, 1, 1}) * (size - length + 1)).floor();
    Shape along{1, 1, 1, 1};
    along[static_cast<int>(dim)] = size;
    Tensor at = arange(size).view(along);
    return at.ge(begin) * at.lt(begin + length);
  }
};

/// Smoothed by a Gaussian of a standard deviation of its own for each item; at
/// the border the picture is mirrored.
class GaussianBlur {
public:
  static constexpr char kName[] = "GaussianBlur";
  i64 height, width; ///< of the kernel, both odd
  Range sigma;
  explicit GaussianBlur(const Dims &kernel_size,
                        const Range &sigma = {0.1, 2.0})
      : height(kernel_size[0]), width(kernel_size[kernel_size.rank - 1]),
        sigma(sigma) {
    detail::check_size(kName, kernel_size);
    if (height % 2 == 0 || width % 2 == 0)
      detail::fail("GaussianBlur: kernel_size {}: odd numbers are wanted",
                   kernel_size);
    detail::check_range(kName, "sigma", sigma);
  }
  Tensor operator()(Tensor x) const {
    detail::check_floats(kName, x);
    if (height / 2 >= x.size(2) || width / 2 >= x.size(3))
      detail::fail("GaussianBlur: a kernel of {} x {} for pictures of {} x {}",
                   height, width, x.size(2), x.size(3));
    Tensor deviation = detail::drawn(x, sigma);
    return along(along(x, 3, width, deviation), 2, height, deviation);
  }

private:
  static Tensor along(const Tensor &x, i64 dim, i64 taps, const Tensor &sigma) {
    i64 half = taps / 2, size = x.size(dim);
    Dims sides = dim == 3 ? Dims{half, half, 0, 0} : Dims{0, 0, half, half};
    Tensor padded = nn::functional::pad(x, sides, "reflect"), sum, all;
    for (i64 k = -half; k <= half; ++k) {
      Tensor weight = (-0.5 * (static_cast<double>(k) / sigma).square()).exp();
      Tensor part = padded.narrow(dim, half + k, size) * weight;
      sum = k == -half ? part : sum + part;
      all = k == -half ? weight : all + weight;
    }
    return sum / all;
  }
};

/// What is at least `threshold` upside down, with probability p: 1 - x, of
/// bytes 255 - x.
class RandomSolarize {
public:
  static constexpr char kName[] = "RandomSolarize";
  double threshold, p;
  explicit RandomSolarize(double threshold, double p = 0.5)
      : threshold(threshold), p(p) {
    detail::check_probability(kName, p);
  }
  Tensor operator()(Tensor x) const {
    detail::check(kName, x);
    Tensor chosen = rand({x.size(0), 1, 1, 1}).lt(p);
    Tensor other = x.is_floating_point() ? 1 - x : 255 - x;
    return where(chosen * x.ge(threshold), other, x);
  }
};

/// RandomSolarize of all numbers.
class RandomInvert {
public:
  static constexpr char kName[] = "RandomInvert";
  double p;
  explicit RandomInvert(double p = 0.5) : p(p) {
    detail::check_probability(kName, p);
  }
  Tensor operator()(Tensor x) const {
    detail::check(kName, x);
    Tensor other = x.is_floating_point() ? 1 - x : 255 - x;
    return where(rand({x.size(0), 1, 1, 1}).lt(p), other, x);
  }
};

/// Another transform, with probability p: RandomApply({ColorJitter({.hue =
/// 0.1})}, 0.8). It keeps the size.
template <class Transform> class RandomApply {
public:
  static constexpr char kName[] = "RandomApply";
  Transform transform;
  double p;
  explicit RandomApply(const Transform (&transforms)[1], double p = 0.5)
      : transform(transforms[0]), p(p) {
    detail::check_probability(kName, p);
  }
  template <class One> // (in braces it would be either)
    requires __is_same
  (One, Transform) explicit RandomApply(const One &transform, double p = 0.5)
      : RandomApply({transform}, p) {}
  Tensor operator()(Tensor x) const {
    detail::check(kName, x);
    Tensor made = transform(x);
    if (!(made.sizes() == x.sizes()))
      detail::fail("RandomApply: the transform makes {} of {}; one that keeps "
                   "the size is wanted",
                   made.sizes(), x.sizes());
    return where(rand({x.size(0), 1, 1, 1}).lt(p), made, x);
  }
};
template <class One>
RandomApply(const One (&)[1], double = 0.5) -> RandomApply<One>;
template <class One> RandomApply(const One &, double = 0.5) -> RandomApply<One>;

} // namespace dl::transforms
