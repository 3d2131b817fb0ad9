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
/// A number for each item.
inline Tensor drawn(const Tensor &x, const Range &range) {
  return rand({x.size(0), 1, 1, 1}) * (range.to - range.from) + range.from;
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
  Range brightness, contrast, saturation, hue;
  explicit ColorJitter(const ColorJitterOptions &o)
      : brightness(o.brightness.around("brightness", 1, 0, kMost)),
        contrast(o.contrast.around("contrast", 1, 0, kMost)),
        saturation(o.saturation.around("saturation", 1, 0, kMost)),
        hue(o.hue.around("hue", 0, -0.5, 0.5)) {}
  Tensor operator()(Tensor x) const {
    detail::check_colors("ColorJitter", x);
    if (!x.is_floating_point())
      detail::fail("ColorJitter: the pictures hold integers; numbers from 0 to "
                   "1 are wanted");
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

} // namespace dl::transforms
