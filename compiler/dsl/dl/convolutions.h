#pragma once
// Convolutions and pools of one and three dims, transposed ones, and pools that
// know the size of their result. All are made of those of two dims.
#include "functional.h"

namespace dl::nn {

/// Depth, height and width: 5 means {5, 5, 5}.
struct Triple {
  i64 d, h, w;
  constexpr Triple(i64 all) noexcept : d(all), h(all), w(all) {}
  constexpr Triple(i64 d, i64 h, i64 w) noexcept : d(d), h(h), w(w) {}
  operator Shape() const { return {d, h, w}; }
};

struct Conv1dOptions {
  i64 stride = 1, padding = 0, dilation = 1, groups = 1;
  bool bias = true;
  const char *padding_mode = "zeros";
};
struct Conv3dOptions {
  Triple stride = 1, padding = 0, dilation = 1;
  i64 groups = 1;
  bool bias = true;
  const char *padding_mode = "zeros";
};
struct ConvTranspose1dOptions {
  i64 stride = 1, padding = 0, output_padding = 0, groups = 1;
  bool bias = true;
  i64 dilation = 1;
};
struct ConvTranspose2dOptions {
  Pair stride = 1, padding = 0, output_padding = 0;
  i64 groups = 1;
  bool bias = true;
  Pair dilation = 1;
};
/// stride 0 stands for PyTorch's None: the kernel size.
struct MaxPool1dOptions {
  i64 stride = 0, padding = 0, dilation = 1;
  bool return_indices = false, ceil_mode = false;
};
struct AvgPool1dOptions {
  i64 stride = 0, padding = 0;
  bool ceil_mode = false, count_include_pad = true;
};

namespace functional {

/// [N,C,L] with a weight [O,C/groups,K].
inline Tensor conv1d(Tensor x, Tensor weight, Tensor bias = {},
                     const Conv1dOptions &options = {}) {
  detail::Called called("conv1d");
  detail::require_images("conv1d", x, 3, "[batch,channels,length]");
  if (weight.dim() != 3)
    detail::fail("conv1d: the weight is [out,in/groups,k], got {}",
                 weight.sizes());
  i64 padding = options.padding;
  if (!detail::equal(options.padding_mode, "zeros")) {
    x = pad(x, {padding, padding}, options.padding_mode);
    padding = 0;
  }
  return conv2d(x.unsqueeze(2), weight.unsqueeze(2), bias,
                {.stride = {1, options.stride},
                 .padding = {0, padding},
                 .dilation = {1, options.dilation},
                 .groups = options.groups})
      .squeeze(2);
}

/// [N,C,D,H,W] with a weight [O,C/groups,KD,KH,KW]: the planes that a window
/// has, as channels of images.
inline Tensor conv3d(Tensor x, Tensor weight, Tensor bias = {},
                     const Conv3dOptions &options = {}) {
  detail::Called called("conv3d");
  detail::require_images("conv3d", x, 5, "[batch,channels,d,h,w]");
  Triple s = options.stride, p = options.padding, d = options.dilation;
  Shape k = weight.sizes(), from = x.sizes();
  if (k.rank != 5 || k[1] * options.groups != from[1])
    detail::fail("conv3d: input {} in {} groups needs a weight [out,{},...] of "
                 "5 dims, got {}",
                 from, options.groups, from[1] / options.groups, k);
  bool zeros = detail::equal(options.padding_mode, "zeros");
  x = zeros ? pad(x, {0, 0, 0, 0, p.d, p.d})
            : pad(x, {p.w, p.w, p.h, p.h, p.d, p.d}, options.padding_mode);
  i64 depth = detail::windows_along(from[2], k[2], s.d, p.d, d.d);
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
                     .padding = zeros ? Pair(p.h, p.w) : Pair(0),
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
  Tensor y = detail::emit("conv2d_input_grad", x, weight,
                          {{"stride", s},
                           {"padding", p},
                           {"input_shape", to},
                           {"dilation", d},
                           {"groups", options.groups}});
  return bias.defined() ? y + bias.reshape({-1, 1, 1}) : y;
}

/// [N,C,L] with a weight [C,O/groups,K].
inline Tensor conv_transpose1d(Tensor x, Tensor weight, Tensor bias = {},
                               const ConvTranspose1dOptions &options = {}) {
  detail::Called called("conv_transpose1d");
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

inline Tensor max_pool1d(Tensor x, i64 kernel_size,
                         const MaxPool1dOptions &options = {}) {
  detail::Called called("max_pool1d");
  detail::require_images("max_pool1d", x, 3, "[batch,channels,length]");
  i64 stride = options.stride ? options.stride : kernel_size;
  return max_pool2d(x.unsqueeze(2), {1, kernel_size},
                    {.stride = {1, stride},
                     .padding = {0, options.padding},
                     .dilation = {1, options.dilation},
                     .return_indices = options.return_indices,
                     .ceil_mode = options.ceil_mode})
      .squeeze(2);
}

inline Tensor avg_pool1d(Tensor x, i64 kernel_size,
                         const AvgPool1dOptions &options = {}) {
  detail::Called called("avg_pool1d");
  detail::require_images("avg_pool1d", x, 3, "[batch,channels,length]");
  i64 stride = options.stride ? options.stride : kernel_size;
  return avg_pool2d(x.unsqueeze(2), {1, kernel_size},
                    {.stride = {1, stride},
                     .padding = {0, options.padding},
                     .ceil_mode = options.ceil_mode,
                     .count_include_pad = options.count_include_pad})
      .squeeze(2);
}

namespace detail {

/// One dim in so many parts, which overlap where they do not fit; each becomes
/// one element.
template <class Pool>
Tensor adapt(const char *what, const Tensor &x, int dim, i64 parts, Pool pool) {
  i64 size = x.size(dim);
  if (parts == 0 || parts == size) // PyTorch's None keeps the size
    return x;
  if (parts < 1)
    fail("{}: output_size is {}; at least 1 is wanted", what, parts);
  TensorList results;
  for (i64 i = 0; i < parts; ++i) {
    i64 begin = i * size / parts, end = ((i + 1) * size - 1) / parts + 1;
    results.push_back(pool(x.slice(dim, begin, end), dim));
  }
  return cat(results, dim);
}

/// The last dims, as many as there are sizes.
template <class Pool>
Tensor adapt_all(const char *what, Tensor x, const Shape &sizes, Pool pool) {
  Called called(what);
  int rank = x.dim();
  if (rank < sizes.rank + 1 || rank > sizes.rank + 2)
    fail("{}: the input has {} dims behind the channels, got {}", what,
         sizes.rank, x.sizes());
  for (int i = sizes.rank; i-- > 0;)
    x = adapt(what, x, rank - sizes.rank + i, sizes[i], pool);
  return x;
}

inline Tensor adaptive_avg(const char *what, Tensor x, const Shape &sizes) {
  Called called(what);
  Shape from = x.sizes(), whole;
  for (int i = 0; i < sizes.rank && from.rank >= sizes.rank; ++i)
    if (sizes[i] == 1)
      whole.push_back(from.rank - sizes.rank + i);
  if (whole.rank == sizes.rank)
    return x.mean(Dims(whole), true);
  bool even = sizes.rank == 2 && from.rank == 4;
  for (int i = 0; even && i < 2; ++i)
    even = sizes[i] > 0 && from[2 + i] % sizes[i] == 0;
  if (even)
    return avg_pool2d(x, {from[2] / sizes[0], from[3] / sizes[1]});
  return adapt_all(what, x, sizes, [](const Tensor &part, int dim) {
    return part.mean(dim, true);
  });
}
/// The first of equal maxima, row by row.
inline Tensor adaptive_max(const char *what, Tensor x, const Shape &sizes) {
  return adapt_all(what, x, sizes, [](const Tensor &part, int dim) {
    return part.max(dim, true).values;
  });
}
} // namespace detail

/// output_size 0 stands for PyTorch's None: as many as there are.
inline Tensor adaptive_avg_pool1d(Tensor x, i64 output_size) {
  return detail::adaptive_avg("adaptive_avg_pool1d", x, {output_size});
}
inline Tensor adaptive_avg_pool2d(Tensor x, Pair output_size) {
  return detail::adaptive_avg("adaptive_avg_pool2d", x, output_size);
}
inline Tensor adaptive_avg_pool3d(Tensor x, Triple output_size) {
  return detail::adaptive_avg("adaptive_avg_pool3d", x, output_size);
}
inline Tensor adaptive_max_pool1d(Tensor x, i64 output_size) {
  return detail::adaptive_max("adaptive_max_pool1d", x, {output_size});
}
inline Tensor adaptive_max_pool2d(Tensor x, Pair output_size) {
  return detail::adaptive_max("adaptive_max_pool2d", x, output_size);
}
inline Tensor adaptive_max_pool3d(Tensor x, Triple output_size) {
  return detail::adaptive_max("adaptive_max_pool3d", x, output_size);
}

} // namespace functional
} // namespace dl::nn
