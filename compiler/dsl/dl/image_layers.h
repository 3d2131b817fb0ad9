#pragma once
// Embedding, images of other sizes, and borders.
#include "window_layers.h"

namespace dl::nn {

/// Weights are drawn from a normal distribution, but the row of padding_idx is
/// 0 and gets no gradient.
/// One size for all dims is a number.
class Upsample : public Module {
public:
  InterpolateOptions options;
  explicit Upsample(const InterpolateOptions &options) : options(options) {}
  explicit Upsample(const Dims &size, const Scales &scale_factor = {},
                    const char *mode = "nearest", bool align_corners = false)
      : options{.size = size,
                .scale_factor = scale_factor,
                .mode = mode,
                .align_corners = align_corners} {}
  Tensor forward(Tensor x) { return functional::interpolate(x, options); }
};
class UpsamplingNearest2d : public Upsample {
public:
  explicit UpsamplingNearest2d(const InterpolateOptions &options)
      : Upsample(options) {}
  explicit UpsamplingNearest2d(const Dims &size,
                               const Scales &scale_factor = {})
      : Upsample(size, scale_factor) {}
};
class UpsamplingBilinear2d : public Upsample {
public:
  explicit UpsamplingBilinear2d(const InterpolateOptions &options)
      : UpsamplingBilinear2d(options.size, options.scale_factor) {}
  explicit UpsamplingBilinear2d(const Dims &size,
                                const Scales &scale_factor = {})
      : Upsample(size, scale_factor, "bilinear", true) {}
};

namespace detail {
/// One number for all sides, or two for each dim, from the last.
struct Sides : Shape {
  Sides(const char *what, const Dims &padding, int dims) {
    if (padding.rank != 1 && padding.rank != 2 * dims)
      fail("{}: padding {}: one number or {} are wanted", what, padding,
           2 * dims);
    for (int i = 0; i < 2 * dims; ++i)
      push_back(padding[padding.rank == 1 ? 0 : i]);
  }
};
} // namespace detail

#define DL_PAD(Name, count, mode)                                              \
  class Name : public Module {                                                 \
  public:                                                                      \
    Shape padding;                                                             \
    explicit Name(const Dims &padding)                                         \
        : padding(detail::Sides(#Name, padding, count)) {}                     \
    Tensor forward(Tensor x) { return functional::pad(x, padding, mode); }     \
  }
DL_PAD(ZeroPad1d, 1, "constant");
DL_PAD(ZeroPad2d, 2, "constant");
DL_PAD(ZeroPad3d, 3, "constant");
DL_PAD(ReflectionPad1d, 1, "reflect");
DL_PAD(ReflectionPad2d, 2, "reflect");
DL_PAD(ReflectionPad3d, 3, "reflect");
DL_PAD(ReplicationPad1d, 1, "replicate");
DL_PAD(ReplicationPad2d, 2, "replicate");
DL_PAD(ReplicationPad3d, 3, "replicate");
DL_PAD(CircularPad1d, 1, "circular");
DL_PAD(CircularPad2d, 2, "circular");
DL_PAD(CircularPad3d, 3, "circular");
#undef DL_PAD

#define DL_PAD(Name, count)                                                    \
  class Name : public Module {                                                 \
  public:                                                                      \
    Shape padding;                                                             \
    double value;                                                              \
    Name(const Dims &padding, double value)                                    \
        : padding(detail::Sides(#Name, padding, count)), value(value) {}       \
    Tensor forward(Tensor x) {                                                 \
      return functional::pad(x, padding, "constant", value);                   \
    }                                                                          \
  }
DL_PAD(ConstantPad1d, 1);
DL_PAD(ConstantPad2d, 2);
DL_PAD(ConstantPad3d, 3);
#undef DL_PAD

} // namespace dl::nn
