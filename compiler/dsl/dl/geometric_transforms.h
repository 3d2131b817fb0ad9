#pragma once
// torchvision's transforms that move what pictures [N, C, H, W] show: each item
// has random numbers of its own.
#include "sampling.h"
#include "transforms.h"

namespace dl::transforms {

struct RandomResizedCropOptions {
  Range scale{0.08, 1.0};            ///< of the picture's area
  Range ratio{3.0 / 4.0, 4.0 / 3.0}; ///< width / height
};

/// A part of random size and shape, anywhere, brought to `size`: bilinear, each
/// pixel made of all those that it covers, as Pillow does it. Of ImageFolder's
/// pictures as they are read, of a batch in the step: there by two products, in
/// full precision.
class RandomResizedCrop {
public:
  static constexpr char kName[] = "RandomResizedCrop";
  i64 height, width;
  RandomResizedCropOptions options;
  explicit RandomResizedCrop(const Dims &size,
                             const RandomResizedCropOptions &options = {})
      : height(size[0]), width(size[size.rank - 1]), options(options) {
    detail::check_size(kName, size);
    detail::check_range(kName, "scale", options.scale);
    detail::check_range(kName, "ratio", options.ratio);
  }
  Tensor operator()(Tensor x) const {
    detail::check_floats(kName, x);
    double rows = static_cast<double>(x.size(2)),
           columns = static_cast<double>(x.size(3));
    // Of so many parts the first that fits, else the middle of the picture.
    constexpr i64 kTries = 10;
    Shape tries{x.size(0), kTries};
    auto between = [&](double from, double to) {
      return rand(tries) * (to - from) + from;
    };
    Tensor area =
        between(options.scale.from, options.scale.to) * (rows * columns);
    Tensor ratio = between(__builtin_log(options.ratio.from),
                           __builtin_log(options.ratio.to))
                       .exp();
    Tensor wide = (area * ratio).sqrt().round(),
           high = (area / ratio).sqrt().round();
    Tensor fits = wide.ge(1) * high.ge(1) * wide.le(columns) * high.le(rows);
    Tensor first = fits.to(x.dtype()).argmax(1, true), any = fits.any(1, true);
    double shape = columns / rows, least = options.ratio.from,
           most = options.ratio.to;
    double middleWide = shape > most ? __builtin_round(rows * most) : columns;
    double middleHigh = shape < least ? __builtin_round(columns / least) : rows;
    auto chosen = [&](const Tensor &drawn, double middle) {
      return where(any, drawn.gather(1, first), middle).reshape({-1, 1, 1, 1});
    };
    Tensor w = chosen(wide, middleWide), h = chosen(high, middleHigh);
    Tensor here = any.reshape({-1, 1, 1, 1});
    auto begin = [&](double all, const Tensor &part) {
      Tensor left = all - part, place = rand({x.size(0), 1, 1, 1});
      return where(here, (place * (left + 1)).floor(), (left / 2).floor());
    };
    Tensor x0 = begin(columns, w), y0 = begin(rows, h);
    Tensor down = weights(y0, h, x.size(2), height).squeeze(1),
           along = weights(x0, w, x.size(3), width).squeeze(1);
    Tensor y = detail::contract(down, "bor", x, "bcrp", "bcop", true);
    return detail::contract(y, "bcop", along, "bqp", "bcoq", true);
  }

private:
  /// What each of `size` pixels is made of: a triangle over those it covers.
  static Tensor weights(const Tensor &begin, const Tensor &length, i64 from,
                        i64 size) {
    Tensor step = length / static_cast<double>(size);
    Tensor centre =
        begin +
        (arange(size).view({1, 1, size, 1}).to(length.dtype()) + 0.5) * step;
    Tensor at = arange(from).view({1, 1, 1, from}).to(length.dtype()) + 0.5;
    Tensor weight = (1 - (at - centre).abs() / step.clamp_min(1)).clamp_min(0);
    weight = weight * (at.gt(begin) * at.lt(begin + length)).to(length.dtype());
    return weight / weight.sum(-1, true);
  }
};

/// From -degrees to degrees, or from where to where.
class Degrees {
public:
  Range range;
  Degrees(double degrees) : range{-degrees, degrees} {}
  Degrees(double from, double to) : range{from, to} {}
  void check(const char *what, const char *which) const {
    if (!(range.from <= range.to))
      detail::fail("{}: {} from {} to {}; the smaller one first is wanted, or "
                   "one number that is at least 0",
                   what, which, range.from, range.to);
  }
};

namespace detail {
constexpr double kDegree = kPi / 180;

/// Of each pixel the place that matrix, [[a, b, c], [d, e, f]] of each item,
/// says, counted from the picture's middle; `fill` outside of the picture.
inline Tensor placed(const char *what, const Tensor &x,
                     const Tensor (&matrix)[6], const char *interpolation,
                     double fill) {
  check_floats(what, x);
  bool nearest = equal(interpolation, "nearest");
  if (!nearest && !equal(interpolation, "bilinear"))
    fail("{}: interpolation = \"{}\"; \"nearest\" and \"bilinear\" are known",
         what, interpolation);
  i64 height = x.size(2), width = x.size(3);
  auto middle = [&](i64 size) {
    return arange(size).to(x.dtype()) - static_cast<double>(size - 1) / 2;
  };
  Tensor across = middle(width).view({1, 1, width}),
         down = middle(height).view({1, height, 1});
  auto place = [&](int row, i64 size) {
    Tensor at = matrix[3 * row] * across + matrix[3 * row + 1] * down +
                matrix[3 * row + 2];
    return at / (static_cast<double>(size) / 2);
  };
  Tensor grid = stack({place(0, width), place(1, height)}, -1);
  const nn::functional::GridSampleOptions options{.mode = interpolation};
  Tensor made = nn::functional::grid_sample(x, grid, options);
  if (fill == 0)
    return made;
  Tensor there = nn::functional::grid_sample(
      ones({x.size(0), 1, height, width}), grid, options);
  return made + (1 - there) * fill;
}
/// A number for each item, as one of a matrix.
inline Tensor entry(const Tensor &x, const Range &range) {
  return drawn(x, range).reshape({-1, 1, 1});
}
} // namespace detail

struct RandomRotationOptions {
  const char *interpolation = "nearest"; ///< or "bilinear"
  double fill = 0;                       ///< of what comes in
};

/// Turned around the middle, by an angle of its own for each item.
class RandomRotation {
public:
  static constexpr char kName[] = "RandomRotation";
  Degrees degrees;
  RandomRotationOptions options;
  explicit RandomRotation(const Degrees &degrees,
                          const RandomRotationOptions &options = {})
      : degrees(degrees), options(options) {
    degrees.check(kName, "degrees");
  }
  Tensor operator()(Tensor x) const {
    Tensor angle = detail::entry(x, degrees.range) * detail::kDegree;
    Tensor c = angle.cos(), s = angle.sin(), none = zeros_like(angle);
    return detail::placed(kName, x, {c, -s, none, s, c, none},
                          options.interpolation, options.fill);
  }
};

struct RandomAffineOptions {
  Range translate{0, 0};                 ///< at most, of the width, the height
  Range scale{1, 1};                     ///< a factor
  Degrees shear{0};                      ///< along the rows
  const char *interpolation = "nearest"; ///< or "bilinear"
  double fill = 0;                       ///< of what comes in
};

/// Turned, moved by whole pixels, made larger or smaller, and sheared.
class RandomAffine {
public:
  static constexpr char kName[] = "RandomAffine";
  Degrees degrees;
  RandomAffineOptions options;
  explicit RandomAffine(const Degrees &degrees,
                        const RandomAffineOptions &options = {})
      : degrees(degrees), options(options) {
    degrees.check(kName, "degrees");
    options.shear.check(kName, "shear");
    detail::check_range(kName, "scale", options.scale);
    const Range &by = options.translate;
    if (!(by.from >= 0 && by.from <= 1 && by.to >= 0 && by.to <= 1))
      detail::fail("RandomAffine: translate {} of the width and {} of the "
                   "height; numbers from 0 to 1 are wanted",
                   by.from, by.to);
  }
  /// The inverse of translation * rotation * shear * scale.
  Tensor operator()(Tensor x) const {
    detail::check(kName, x);
    Tensor angle = detail::entry(x, degrees.range) * detail::kDegree;
    Tensor slant =
        (detail::entry(x, options.shear.range) * detail::kDegree).tan();
    Tensor scale = detail::entry(x, options.scale);
    auto moved = [&](double share, i64 size) {
      double most = share * static_cast<double>(size);
      return detail::entry(x, {-most, most}).round();
    };
    Tensor right = moved(options.translate.from, x.size(3)),
           down = moved(options.translate.to, x.size(2));
    Tensor c = angle.cos(), s = angle.sin();
    Tensor a = (c - s * slant) / scale, b = (s + c * slant) / scale;
    Tensor d = -s / scale, e = c / scale;
    return detail::placed(
        kName, x,
        {a, b, -(a * right + b * down), d, e, -(d * right + e * down)},
        options.interpolation, options.fill);
  }
};

} // namespace dl::transforms
