#pragma once
// torchvision's transforms of pictures [N, C, H, W]. Of random ones each item
// has its own, as if a data set had made it, whatever the step is: one that is
// to have them calls them.
#include "functional.h"
#include "gather.h"
#include "order.h"

namespace dl::transforms {

/// From a number to another one.
struct Range {
  double from, to;
};

namespace detail {
using namespace dl::detail;

inline void check(const char *what, const Tensor &x) {
  if (x.dim() != 4)
    fail("{}: x is {}; pictures [N, C, H, W] are wanted", what, x.sizes());
}
inline void check_size(const char *what, const Dims &size) {
  bool positive = size.rank >= 1 && size[0] > 0 && size[size.rank - 1] > 0;
  if (!positive || size.rank > 2)
    fail("{}: size {}: one number or a height and a width are wanted", what,
         size);
}
inline void check_fits(const char *what, const Tensor &x, i64 height,
                       i64 width) {
  if (x.size(2) < height || x.size(3) < width)
    fail("{}: {} x {} of pictures of {} x {}", what, height, width, x.size(2),
         x.size(3));
}
inline void check_probability(const char *what, double p) {
  if (!(p >= 0 && p <= 1))
    fail("{}: p = {} is no probability between 0 and 1", what, p);
}
inline void check_range(const char *what, const char *which,
                        const Range &range) {
  if (!(range.from > 0 && range.from <= range.to))
    fail(
        "{}: {} from {} to {}; two numbers above 0 are wanted, the smaller one "
        "first",
        what, which, range.from, range.to);
}
/// A number for each item.
inline Tensor drawn(const Tensor &x, const Range &range) {
  return rand({x.size(0), 1, 1, 1}) * (range.to - range.from) + range.from;
}
inline void check_floats(const char *what, const Tensor &x) {
  check(what, x);
  if (!x.is_floating_point())
    fail("{}: the pictures hold integers; numbers from 0 to 1 are wanted: "
         "x.to(dl::kFloat) / 255",
         what);
}
class RandomFlip {
  const char *what;
  i64 dim;

protected:
  RandomFlip(const char *what, double p, i64 dim) : what(what), dim(dim), p(p) {
    check_probability(what, p);
  }

public:
  double p;
  Tensor operator()(Tensor x) const {
    check(what, x);
    Tensor flips = rand({x.size(0), 1, 1, 1}).lt(p);
    return where(flips, x.flip({dim}), x);
  }
};
/// `size` neighbours along a dim, from a place of its own in each item.
inline Tensor cropped(Tensor x, i64 dim, i64 size) {
  i64 places = x.size(dim) - size + 1;
  Shape shape = x.sizes(), along{1, 1, 1, 1};
  along[static_cast<int>(dim)] = shape[static_cast<int>(dim)] = size;
  Tensor begin = randint(places, {x.size(0), 1, 1, 1});
  Tensor index = begin + arange(size).view(along);
  return x.gather(dim, index.expand(shape));
}
/// Of pictures that are read one by one; of batches another function may do.
[[noreturn]] inline void fail_of_tensor(const char *what, const char *instead) {
  fail("{}: it is for .transform of dl::data::ImageFolder, whose pictures "
       "have sizes of their own; of tensors {}",
       what, instead);
}
} // namespace detail

/// Left for right, with probability p.
class RandomHorizontalFlip : public detail::RandomFlip {
public:
  static constexpr char kName[] = "RandomHorizontalFlip";
  explicit RandomHorizontalFlip(double p = 0.5)
      : RandomFlip("RandomHorizontalFlip", p, 3) {}
};

/// Upside down, with probability p.
class RandomVerticalFlip : public detail::RandomFlip {
public:
  static constexpr char kName[] = "RandomVerticalFlip";
  explicit RandomVerticalFlip(double p = 0.5)
      : RandomFlip("RandomVerticalFlip", p, 2) {}
};

/// Of a border: one number, or one for each of at most four channels.
class Fill {
  static constexpr int kMost = 4;
  double values[kMost] = {};
  int count = 0;

public:
  Fill(double value) : values{value}, count(1) {}
  Fill(list<double> channels) {
    for (double value : channels) {
      if (count == kMost)
        detail::fail("fill: at most {} channels", kMost);
      values[count++] = value;
    }
  }
  /// x with so many rows and columns more on each side.
  Tensor border(const Tensor &x, i64 side) const {
    i64 channels = x.size(1);
    if (count != 1 && count != channels)
      detail::fail("fill: {} numbers for {} channels; one is wanted, or one "
                   "for each channel",
                   count, channels);
    for (double value : values)
      if (!x.is_floating_point() && value != static_cast<i64>(value))
        detail::fail("fill: {} is no integer, and the pictures have integers",
                     value);
      else if (x.dtype() == kUInt8 && !(value >= 0 && value <= 255))
        detail::fail("fill: {} is no byte, and the pictures have bytes", value);
    Dims sides{side, side, side, side};
    if (count == 1)
      return nn::functional::pad(x, sides, "constant", values[0]);
    TensorList parts;
    for (int c = 0; c < count; ++c)
      parts.push_back(
          nn::functional::pad(x.narrow(1, c, 1), sides, "constant", values[c]));
    return cat(parts, 1);
  }
};

struct RandomCropOptions {
  i64 padding = 0; ///< on all four sides, first
  Fill fill = 0;   ///< of the border: of a normalised picture 0 is the mean
};

/// A part of `size` rows and columns, anywhere.
class RandomCrop {
public:
  i64 height, width;
  RandomCropOptions options;
  explicit RandomCrop(const Dims &size, const RandomCropOptions &options = {})
      : height(size[0]), width(size[size.rank - 1]), options(options) {
    detail::check_size("RandomCrop", size);
    if (options.padding < 0)
      detail::fail("RandomCrop: padding = {}; at least 0 is wanted",
                   options.padding);
  }
  Tensor operator()(Tensor x) const {
    detail::check("RandomCrop", x);
    i64 side = options.padding;
    if (side > 0)
      x = options.fill.border(x, side);
    detail::check_fits("RandomCrop", x, height, width);
    if (x.size(2) > height)
      x = detail::cropped(x, 2, height);
    return x.size(3) > width ? detail::cropped(x, 3, width) : x;
  }
};

/// The middle: `size` rows and columns of a picture that has as many.
class CenterCrop {
  /// Half of what is left over, to the nearest even number where it is none.
  static i64 half(i64 rest) { return rest / 2 + (rest % 4 == 3); }

public:
  i64 height, width;
  explicit CenterCrop(const Dims &size)
      : height(size[0]), width(size[size.rank - 1]) {
    detail::check_size("CenterCrop", size);
  }
  Tensor operator()(Tensor x) const {
    detail::check("CenterCrop", x);
    detail::check_fits("CenterCrop", x, height, width);
    return x.narrow(2, half(x.size(2) - height), height)
        .narrow(3, half(x.size(3) - width), width);
  }
};

/// Of ImageFolder's pictures: to this height and width, or, where there is one
/// number, so that the shorter edge has it. Bilinear, as Pillow does it: each
/// pixel is made of all those that it covers.
class Resize {
public:
  i64 height, width; ///< width 0: the shorter edge gets the height
  explicit Resize(const Dims &size)
      : height(size[0]), width(size.rank == 1 ? 0 : size[size.rank - 1]) {
    detail::check_size("Resize", size);
  }
  Tensor operator()(const Tensor &) const {
    detail::fail_of_tensor("Resize", "F::interpolate(x, {.size = {h, w}, "
                                     ".mode = \"bilinear\"}) makes others");
  }
};

/// Each channel less its mean, over its standard deviation.
class Normalize {
  static constexpr int kMost = 4;
  static void read(list<double> from, double *to, int &count) {
    count = 0;
    for (double value : from) {
      if (count == kMost)
        detail::fail("Normalize: at most {} channels", kMost);
      to[count++] = value;
    }
  }

public:
  static constexpr char kName[] = "Normalize";
  double mean[kMost] = {}, std[kMost] = {};
  int channels = 0;
  Normalize(list<double> mean, list<double> std) {
    int deviations = 0;
    read(mean, this->mean, channels);
    read(std, this->std, deviations);
    if (channels == 0 || channels != deviations)
      detail::fail("Normalize: {} means and {} standard deviations; one of "
                   "each is wanted for a channel",
                   channels, deviations);
    for (int c = 0; c < channels; ++c)
      if (!(this->std[c] > 0 || this->std[c] < 0)) // NaN, too
        detail::fail("Normalize: the standard deviation of channel {} is {}", c,
                     this->std[c]);
  }
  Tensor operator()(Tensor x) const {
    detail::check("Normalize", x);
    if (channels != 1 && channels != x.size(1))
      detail::fail("Normalize: {} means for the {} channels of {}", channels,
                   x.size(1), x.sizes());
    TensorList means, deviations;
    for (int c = 0; c < channels; ++c) {
      means.push_back(full({1, 1, 1}, mean[c]));
      deviations.push_back(full({1, 1, 1}, std[c]));
    }
    return x.sub(cat(means, 0)).div(cat(deviations, 0));
  }
};

/// Numbers from 0 to 1: what ImageFolder's pictures are anyway.
class ToTensor {
public:
  static constexpr char kName[] = "ToTensor";
  Tensor operator()(Tensor x) const { return x; }
};

} // namespace dl::transforms
