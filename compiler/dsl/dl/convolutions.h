#pragma once
// Convolutions of one and three dims, and transposed ones. All are made of
// those of two dims.
#include "functional.h"

namespace dl::nn::functional {

/// [N,C,L] with a weight [O,C/groups,K].
inline Tensor conv1d(Tensor x, Tensor weight, Tensor bias = {},
                     const Conv1dOptions &options = {}) {
  detail::Called called("conv1d");
  if (x.dim() == 2) // without a batch
    return conv1d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  detail::require_images("conv1d", x, 3, "[batch,channels,length]");
  if (weight.dim() != 3)
    detail::fail("conv1d: the weight is [out,in/groups,k], got {}",
                 weight.sizes());
  Padding<Pair> padding{0, options.padding.sizes};
  padding.same = options.padding.same;
  return conv2d(x.unsqueeze(2), weight.unsqueeze(2), bias,
                {.stride = {1, options.stride},
                 .padding = padding,
                 .dilation = {1, options.dilation},
                 .groups = options.groups,
                 .padding_mode = options.padding_mode})
      .squeeze(2);
}

/// [N,C,D,H,W] with a weight [O,C/groups,KD,KH,KW]: the planes that a window
/// has, as channels of images.
inline Tensor conv3d(Tensor x, Tensor weight, Tensor bias = {},
                     const Conv3dOptions &options = {}) {
  detail::Called called("conv3d");
  if (x.dim() == 4) // without a batch
    return conv3d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  detail::require_images("conv3d", x, 5, "[batch,channels,d,h,w]");
  Triple s = options.stride, p = options.padding.sizes, d = options.dilation;
  Shape k = weight.sizes(), from = x.sizes();
  if (k.rank != 5 || k[1] * options.groups != from[1])
    detail::fail("conv3d: input {} in {} groups needs a weight [out,{},...] of "
                 "5 dims, got {}",
                 from, options.groups, from[1] / options.groups, k);
  bool zeros = detail::equal(options.padding_mode, "zeros"),
       same = options.padding.same;
  if (same && s != Triple(1))
    detail::fail("conv3d: padding = \"same\" goes with stride 1 only");
  Shape around{p.w, p.w, p.h, p.h, p.d, p.d}, dilation = d;
  for (int i = 0; same && i < 3; ++i) { // the greater half behind, as PyTorch
    i64 both = dilation[2 - i] * (k[4 - i] - 1);
    around[2 * i] = both / 2, around[2 * i + 1] = both - both / 2;
  }
  bool planesPad = zeros && !same; // conv2d does it
  if (planesPad)
    around = {0, 0, 0, 0, p.d, p.d};
  x = pad(x, around, zeros ? "constant" : options.padding_mode);
  i64 depth = detail::windows_along(x.size(2), k[2], s.d, 0, d.d);
  if (depth < 1)
    detail::fail("conv3d: the weight {} does not fit into {}", k, from);
  TensorList planes;
  for (i64 i = 0; i < k[2]; ++i)
    planes.push_back(x.slice(2, i * d.d, i * d.d + (depth - 1) * s.d + 1, s.d));
  Tensor images =
      stack(planes, 2)
          .permute(0, 3, 1, 2, 4, 5)
          .reshape({from[0] * depth, from[1] * k[2], x.size(3), x.size(4)});
  Tensor y = conv2d(images, weight.reshape({k[0], k[1] * k[2], k[3], k[4]}), {},
                    {.stride = {s.h, s.w},
                     .padding = planesPad ? Pair(p.h, p.w) : Pair(0),
                     .dilation = {d.h, d.w},
                     .groups = options.groups});
  y = y.reshape({from[0], depth, k[0], y.size(2), y.size(3)})
          .permute(0, 2, 1, 3, 4);
  return bias.defined() ? y + bias.reshape({-1, 1, 1, 1}) : y;
}

/// What conv2d does to its input's gradient: [N,C,H,W] with a weight
/// [C,O/groups,KH,KW].
inline Tensor conv_transpose2d(Tensor x, Tensor weight, Tensor bias = {},
                               const ConvTranspose2dOptions &options = {}) {
  detail::Called called("conv_transpose2d");
  if (x.dim() == 3) // without a batch
    return conv_transpose2d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  detail::require_images("conv_transpose2d", x, 4, "[batch,channels,h,w]");
  Pair s = options.stride, p = options.padding, o = options.output_padding,
       d = options.dilation;
  Shape k = weight.sizes(), from = x.sizes();
  if (k.rank != 4 || k[0] != from[1])
    detail::fail("conv_transpose2d: input {} needs a weight "
                 "[{},out/groups,kh,kw], got {}",
                 from, from[1], k);
  if (o.h < 0 || o.w < 0 || (o.h >= s.h && o.h >= d.h) ||
      (o.w >= s.w && o.w >= d.w))
    detail::fail("conv_transpose2d: output_padding {} must be smaller than "
                 "stride {} or dilation {}",
                 Shape(o), Shape(s), Shape(d));
  Shape to{from[0], k[1] * options.groups,
           (from[2] - 1) * s.h - 2 * p.h + d.h * (k[2] - 1) + o.h + 1,
           (from[3] - 1) * s.w - 2 * p.w + d.w * (k[3] - 1) + o.w + 1};
  if (to[2] < 1 || to[3] < 1)
    detail::fail("conv_transpose2d: padding {} leaves nothing of {}", Shape(p),
                 from);
  // Rows that conv2d would leave over at the end are no part of what it does to
  // a gradient: these come from all that there is without padding.
  bool leavesOver = o.h >= s.h || o.w >= s.w;
  Shape whole = to;
  if (leavesOver)
    for (int i = 2; i < 4; ++i)
      whole[i] += (i == 2 ? 2 * p.h - o.h : 2 * p.w - o.w);
  Tensor y = detail::emit("conv2d_input_grad", x, weight,
                          {{"stride", s},
                           {"padding", leavesOver ? Pair(0) : p},
                           {"input_shape", whole},
                           {"dilation", d},
                           {"groups", options.groups}});
  if (leavesOver)
    y = detail::emit("pad", y,
                     {{"low", Shape{0, 0, 0, 0}},
                      {"high", Shape{0, 0, o.h > p.h ? o.h - p.h : 0,
                                     o.w > p.w ? o.w - p.w : 0}},
                      {"interior", Shape{0, 0, 0, 0}},
                      {"value", 0.0}})
            .narrow(2, p.h, to[2])
            .narrow(3, p.w, to[3]);
  return bias.defined() ? y + bias.reshape({-1, 1, 1}) : y;
}

/// [N,C,L] with a weight [C,O/groups,K].
inline Tensor conv_transpose1d(Tensor x, Tensor weight, Tensor bias = {},
                               const ConvTranspose1dOptions &options = {}) {
  detail::Called called("conv_transpose1d");
  if (x.dim() == 2) // without a batch
    return conv_transpose1d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  detail::require_images("conv_transpose1d", x, 3, "[batch,channels,length]");
  if (weight.dim() != 3)
    detail::fail("conv_transpose1d: the weight is [in,out/groups,k], got {}",
                 weight.sizes());
  return conv_transpose2d(x.unsqueeze(2), weight.unsqueeze(2), bias,
                          {.stride = {1, options.stride},
                           .padding = {0, options.padding},
                           .output_padding = {0, options.output_padding},
                           .groups = options.groups,
                           .dilation = {1, options.dilation}})
      .squeeze(2);
}

/// [N,C,D,H,W] with a weight [C,O/groups,KD,KH,KW]: each plane of the kernel
/// gives planes, which add up where they fall together.
inline Tensor conv_transpose3d(Tensor x, Tensor weight, Tensor bias = {},
                               const ConvTranspose3dOptions &options = {}) {
  detail::Called called("conv_transpose3d");
  if (x.dim() == 4) // without a batch
    return conv_transpose3d(x.unsqueeze(0), weight, bias, options).squeeze(0);
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

/// In PyTorch's positions.
#define DL_POSITIONS(convolution, transposed, Size, Options,                   \
                     TransposedOptions)                                        \
  inline Tensor convolution(Tensor input, Tensor weight, Tensor bias,          \
                            Size stride, Padding<Size> padding = {},           \
                            Size dilation = 1, i64 groups = 1) {               \
    return convolution(input, weight, bias,                                    \
                       Options{.stride = stride,                               \
                               .padding = padding,                             \
                               .dilation = dilation,                           \
                               .groups = groups});                             \
  }                                                                            \
  inline Tensor transposed(                                                    \
      Tensor input, Tensor weight, Tensor bias, Size stride, Size padding = 0, \
      Size output_padding = 0, i64 groups = 1, Size dilation = 1) {            \
    return transposed(input, weight, bias,                                     \
                      TransposedOptions{.stride = stride,                      \
                                        .padding = padding,                    \
                                        .output_padding = output_padding,      \
                                        .groups = groups,                      \
                                        .dilation = dilation});                \
  }
DL_POSITIONS(conv1d, conv_transpose1d, i64, Conv1dOptions,
             ConvTranspose1dOptions)
DL_POSITIONS(conv2d, conv_transpose2d, Pair, Conv2dOptions,
             ConvTranspose2dOptions)
DL_POSITIONS(conv3d, conv_transpose3d, Triple, Conv3dOptions,
             ConvTranspose3dOptions)
#undef DL_POSITIONS

/// What {} is in place of a bias.
enum class NoBias {};

/// Without a bias: F::conv2d(x, w, {.padding = 1}).
#define DL_WITHOUT_BIAS(convolution, Options)                                  \
  inline Tensor convolution(Tensor input, Tensor weight,                       \
                            const Options &options) {                          \
    return convolution(input, weight, Tensor(), options);                      \
  }                                                                            \
  inline Tensor convolution(Tensor input, Tensor weight, NoBias) {             \
    return convolution(input, weight, Tensor());                               \
  }
DL_WITHOUT_BIAS(conv1d, Conv1dOptions)
DL_WITHOUT_BIAS(conv2d, Conv2dOptions)
DL_WITHOUT_BIAS(conv3d, Conv3dOptions)
DL_WITHOUT_BIAS(conv_transpose1d, ConvTranspose1dOptions)
DL_WITHOUT_BIAS(conv_transpose2d, ConvTranspose2dOptions)
DL_WITHOUT_BIAS(conv_transpose3d, ConvTranspose3dOptions)
#undef DL_WITHOUT_BIAS

} // namespace dl::nn::functional
