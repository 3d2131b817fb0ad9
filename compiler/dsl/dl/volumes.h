#pragma once
// Pools and transposed convolutions of three dims, made of those of two.
#include "image_layers.h"

namespace dl::nn {

struct ConvTranspose3dOptions {
  Triple stride = 1, padding = 0, output_padding = 0;
  i64 groups = 1;
  bool bias = true;
  Triple dilation = 1;
};

/// stride 0 and divisor_override 0 stand for PyTorch's None.
struct MaxPool3dOptions {
  Triple stride = 0, padding = 0, dilation = 1;
  bool ceil_mode = false;
};
struct AvgPool3dOptions {
  Triple stride = 0, padding = 0;
  bool ceil_mode = false, count_include_pad = true;
  i64 divisor_override = 0;
};

namespace functional {

namespace detail {

/// A pool of planes, then one along the depth: what both take of a window, it
/// takes of each dim.
template <class Pool>
inline Tensor pool_volume(const char *what, Tensor x, Triple kernel,
                          Triple stride, Pool pool) {
  require_images(what, x, 5, "[batch,channels,depth,height,width]");
  if (stride.d == 0 && stride.h == 0 && stride.w == 0)
    stride = kernel;
  Shape s = x.sizes();
  Tensor planes =
      pool(x.reshape({s[0], s[1] * s[2], s[3], s[4]}), Pair(kernel.h, kernel.w),
           Pair(stride.h, stride.w), false);
  i64 height = planes.size(2), width = planes.size(3);
  Tensor columns = pool(planes.reshape({s[0], s[1], s[2], height * width}),
                        Pair(kernel.d, 1), Pair(stride.d, 1), true);
  return columns.reshape({s[0], s[1], columns.size(2), height, width});
}

} // namespace detail

inline Tensor max_pool3d(Tensor x, Triple kernel_size,
                         const MaxPool3dOptions &options = {}) {
  detail::Called called("max_pool3d");
  Triple p = options.padding, d = options.dilation;
  return detail::pool_volume(
      "max_pool3d", x, kernel_size, options.stride,
      [&](Tensor y, Pair kernel, Pair stride, bool along) {
        return max_pool2d(y, kernel,
                          {.stride = stride,
                           .padding = along ? Pair(p.d, 0) : Pair(p.h, p.w),
                           .dilation = along ? Pair(d.d, 1) : Pair(d.h, d.w),
                           .ceil_mode = options.ceil_mode});
      });
}

inline Tensor avg_pool3d(Tensor x, Triple kernel_size,
                         const AvgPool3dOptions &options = {}) {
  detail::Called called("avg_pool3d");
  Triple p = options.padding;
  bool isSum = options.divisor_override != 0;
  Tensor y = detail::pool_volume(
      "avg_pool3d", x, kernel_size, options.stride,
      [&](Tensor z, Pair kernel, Pair stride, bool along) {
        return avg_pool2d(z, kernel,
                          {.stride = stride,
                           .padding = along ? Pair(p.d, 0) : Pair(p.h, p.w),
                           .ceil_mode = options.ceil_mode,
                           .count_include_pad = options.count_include_pad,
                           .divisor_override = isSum ? 1 : 0});
      });
  return isSum ? y / static_cast<double>(options.divisor_override) : y;
}

/// [N,C,D,H,W] with a weight [C,O/groups,KD,KH,KW]: each plane of the kernel
/// gives planes, which add up where they fall together.
inline Tensor conv_transpose3d(Tensor x, Tensor weight, Tensor bias = {},
                               const ConvTranspose3dOptions &options = {}) {
  detail::Called called("conv_transpose3d");
  detail::require_images("conv_transpose3d", x, 5, "[batch,channels,d,h,w]");
  Triple s = options.stride, p = options.padding, o = options.output_padding,
         d = options.dilation;
  Shape k = weight.sizes(), from = x.sizes();
  if (k.rank != 5 || k[0] != from[1])
    detail::fail("conv_transpose3d: input {} needs a weight "
                 "[{},out/groups,kd,kh,kw], got {}",
                 from, from[1], k);
  i64 all = (from[2] - 1) * s.d + d.d * (k[2] - 1) + o.d + 1,
      depth = all - 2 * p.d;
  if (depth < 1 || o.d < 0 || (o.d >= s.d && o.d >= d.d))
    detail::fail("conv_transpose3d: padding {} and output_padding {} do not "
                 "fit {}",
                 Shape(p), Shape(o), from);
  Tensor planes = x.permute(0, 2, 1, 3, 4)
                      .reshape({from[0] * from[2], from[1], from[3], from[4]});
  Tensor sum;
  for (i64 i = 0; i < k[2]; ++i) {
    Tensor y = conv_transpose2d(planes, weight.select(2, i), {},
                                {.stride = {s.h, s.w},
                                 .padding = {p.h, p.w},
                                 .output_padding = {o.h, o.w},
                                 .groups = options.groups,
                                 .dilation = {d.h, d.w}});
    y = y.reshape({from[0], from[2], y.size(1), y.size(2), y.size(3)});
    i64 before = i * d.d, after = all - before - (from[2] - 1) * s.d - 1;
    y = detail::emit("pad", y,
                     {{"low", Shape{0, before, 0, 0, 0}},
                      {"high", Shape{0, after, 0, 0, 0}},
                      {"interior", Shape{0, s.d - 1, 0, 0, 0}},
                      {"value", 0.0}});
    sum = sum.defined() ? sum + y : y;
  }
  sum = sum.narrow(1, p.d, depth).permute(0, 2, 1, 3, 4);
  return bias.defined() ? sum + bias.reshape({-1, 1, 1, 1}) : sum;
}

} // namespace functional

class MaxPool3d : public Module {
public:
  Triple kernel_size;
  MaxPool3dOptions options;
  explicit MaxPool3d(Triple kernel_size, const MaxPool3dOptions &options = {})
      : kernel_size(kernel_size), options(options) {}
  Tensor forward(Tensor x) {
    return functional::max_pool3d(x, kernel_size, options);
  }
};

class AvgPool3d : public Module {
public:
  Triple kernel_size;
  AvgPool3dOptions options;
  explicit AvgPool3d(Triple kernel_size, const AvgPool3dOptions &options = {})
      : kernel_size(kernel_size), options(options) {}
  Tensor forward(Tensor x) {
    return functional::avg_pool3d(x, kernel_size, options);
  }
};

class ConvTranspose3d : public Module {
public:
  i64 in_channels, out_channels;
  Triple kernel_size;
  ConvTranspose3dOptions options;
  Parameter weight, bias;

  ConvTranspose3d(i64 in_channels, i64 out_channels, Triple kernel_size,
                  const ConvTranspose3dOptions &options = {})
      : in_channels(in_channels), out_channels(out_channels),
        kernel_size(kernel_size), options(options) {
    detail::make_convolution("ConvTranspose3d", *this, in_channels,
                             out_channels, kernel_size);
  }
  Tensor forward(Tensor x) {
    return functional::conv_transpose3d(x, weight, bias, options);
  }
};

} // namespace dl::nn
