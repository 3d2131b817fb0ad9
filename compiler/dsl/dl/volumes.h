#pragma once
// Transposed convolutions of three dims, made of those of two.
#include "image_layers.h"

namespace dl::nn {

struct ConvTranspose3dOptions {
  Triple stride = 1, padding = 0, output_padding = 0;
  i64 groups = 1;
  bool bias = true;
  Triple dilation = 1;
};

namespace functional {

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
