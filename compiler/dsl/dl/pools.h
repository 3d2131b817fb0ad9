#pragma once
// Pools. Those of one and three dims are made of those of two.
#include "convolutions.h"

namespace dl::nn::functional {

namespace detail {

inline Tensor emit_max_pool(const Tensor &x, const Shape &kernel,
                            const Shape &stride, const Shape &padding) {
  Results<2> both = emit_many<2>(
      "max_pool2d", {Operand::fixed(x)},
      {{"kernel", kernel}, {"stride", stride}, {"padding", padding}});
  Tensor values;
  values.id = both.ids[0];
  return values;
}

/// How many windows there are along a dim; with ceil_mode the last one may
/// reach behind the padding, if it begins before it.
inline i64 pooled_size(i64 size, i64 kernel, i64 stride, i64 padding,
                       i64 dilation, bool ceil_mode) {
  i64 room = size + 2 * padding - dilation * (kernel - 1) - 1;
  i64 count = room < 0 ? 0 : room / stride + 1;
  bool more = ceil_mode && room % stride && count * stride < size + padding;
  return count + (room >= 0 && more);
}

/// What all windows see, with their number: those of a max pool with holes, or
/// beyond the border.
struct PooledWindows {
  Tensor x;
  i64 h, w;
};
inline PooledWindows windows_of(Tensor x, Pair k, Pair s, Pair p, Pair d,
                                bool ceil_mode) {
  Shape from = x.sizes();
  if (from.rank != 4 || k.h < 1 || k.w < 1 || s.h < 1 || s.w < 1 || d.h < 1 ||
      d.w < 1 || p.h < 0 || p.w < 0 || 2 * p.h > k.h || 2 * p.w > k.w)
    fail("max_pool2d: {} with a kernel {}, stride {}, padding {} and dilation "
         "{}: [batch,channels,h,w] and at most half of the kernel around it "
         "are wanted",
         from, Shape(k), Shape(s), Shape(p), Shape(d));
  i64 h = pooled_size(from[2], k.h, s.h, p.h, d.h, ceil_mode),
      w = pooled_size(from[3], k.w, s.w, p.w, d.w, ceil_mode);
  if (h < 1 || w < 1)
    fail("max_pool2d: the kernel {} with dilation {} is larger than the input "
         "{} with padding {}",
         Shape(k), Shape(d), from, Shape(p));
  i64 high = (h - 1) * s.h + (k.h - 1) * d.h + 1,
      wide = (w - 1) * s.w + (k.w - 1) * d.w + 1, below = high - p.h - from[2],
      right = wide - p.w - from[3];
  x = pad(x, {p.w, right > 0 ? right : 0, p.h, below > 0 ? below : 0},
          "constant", -__builtin_inf());
  return {x.slice(2, 0, high).slice(3, 0, wide), h, w};
}
/// Of what each place of the kernel sees, the first of equal maxima.
inline ValuesAndIndices max_of_taps(const PooledWindows &of, Pair k, Pair s,
                                    Pair d) {
  TensorList taps;
  for (i64 i = 0; i < k.h; ++i)
    for (i64 j = 0; j < k.w; ++j)
      taps.push_back(
          of.x.slice(2, i * d.h, i * d.h + (of.h - 1) * s.h + 1, s.h)
              .slice(3, j * d.w, j * d.w + (of.w - 1) * s.w + 1, s.w));
  return stack(taps, -1).max(-1);
}

/// How many elements the windows along one dim average over.
inline Tensor window_counts(i64 windows, i64 size, i64 kernel, i64 stride,
                            i64 padding, bool count_padding) {
  Tensor start = arange(0, windows, 1, {.dtype = kFloat})
                     .mul(static_cast<double>(stride))
                     .sub(static_cast<double>(padding));
  Tensor end = start.add(static_cast<double>(kernel));
  end = end.minimum(static_cast<double>(count_padding ? size + padding : size));
  return end - (count_padding ? start : start.maximum(0.0));
}
} // namespace detail

inline Tensor max_pool2d(Tensor x, Pair kernel_size,
                         const MaxPool2dOptions &options = {}) {
  detail::Called called("max_pool2d");
  if (x.dim() == 3) // without a batch
    return max_pool2d(x.unsqueeze(0), kernel_size, options).squeeze(0);
  if (options.return_indices)
    detail::fail("max_pool2d: return_indices = true: auto [y, indices] = "
                 "F::max_pool2d_with_indices(x, 2) gives both, as does "
                 "pool.forward_with_indices(x) of an nn::MaxPool2d");
  Pair stride = options.stride == Pair(0) ? kernel_size : options.stride,
       dilation = options.dilation;
  if (!options.ceil_mode && dilation == Pair(1))
    return detail::emit_max_pool(x, kernel_size, stride, options.padding);
  detail::PooledWindows windows = detail::windows_of(
      x, kernel_size, stride, options.padding, dilation, options.ceil_mode);
  return dilation == Pair(1)
             ? detail::emit_max_pool(windows.x, kernel_size, stride, {0, 0})
             : detail::max_of_taps(windows, kernel_size, stride, dilation)
                   .values;
}

inline Tensor avg_pool2d(Tensor x, Pair kernel_size,
                         const AvgPool2dOptions &options = {}) {
  detail::Called called("avg_pool2d");
  if (x.dim() == 3) // without a batch
    return avg_pool2d(x.unsqueeze(0), kernel_size, options).squeeze(0);
  Shape kernel = kernel_size, padding = options.padding;
  Shape stride = options.stride == Pair(0) ? kernel_size : options.stride;
  Tensor sums = detail::emit("sum_pool2d", x,
                             {{"kernel", kernel},
                              {"stride", stride},
                              {"padding", padding},
                              {"ceil_mode", options.ceil_mode}});
  if (options.divisor_override)
    return sums / static_cast<double>(options.divisor_override);
  bool counts = options.count_include_pad;
  if (!options.ceil_mode && (counts || options.padding == Pair(0)))
    return sums /
           (static_cast<double>(kernel[0]) * static_cast<double>(kernel[1]));
  Shape from = x.sizes(), to = sums.sizes();
  Tensor rows = detail::window_counts(to[2], from[2], kernel[0], stride[0],
                                      padding[0], counts);
  Tensor columns = detail::window_counts(to[3], from[3], kernel[1], stride[1],
                                         padding[1], counts);
  return sums / (rows.unsqueeze(1) * columns);
}

inline Tensor max_pool1d(Tensor x, i64 kernel_size,
                         const MaxPool1dOptions &options = {}) {
  detail::Called called("max_pool1d");
  if (x.dim() == 2) // without a batch
    return max_pool1d(x.unsqueeze(0), kernel_size, options).squeeze(0);
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
  if (x.dim() == 2) // without a batch
    return avg_pool1d(x.unsqueeze(0), kernel_size, options).squeeze(0);
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

/// A pool of planes, then one along the depth: what both take of a window, it
/// takes of each dim.
template <class Pool>
inline Tensor pool_volume(const char *what, Tensor x, Triple kernel,
                          Triple stride, Pool pool) {
  require_images(what, x, 5, "[batch,channels,depth,height,width]");
  if (stride == Triple(0))
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
  if (x.dim() == 4) // without a batch
    return max_pool3d(x.unsqueeze(0), kernel_size, options).squeeze(0);
  Triple p = options.padding, d = options.dilation;
  return detail::pool_volume(
      "max_pool3d", x, kernel_size, options.stride,
      [&](Tensor y, Pair kernel, Pair stride, bool along) {
        return max_pool2d(y, kernel,
                          {.stride = stride,
                           .padding = along ? Pair(p.d, 0) : Pair(p.h, p.w),
                           .dilation = along ? Pair(d.d, 1) : Pair(d.h, d.w),
                           .return_indices = options.return_indices,
                           .ceil_mode = options.ceil_mode});
      });
}

inline Tensor avg_pool3d(Tensor x, Triple kernel_size,
                         const AvgPool3dOptions &options = {}) {
  detail::Called called("avg_pool3d");
  if (x.dim() == 4) // without a batch
    return avg_pool3d(x.unsqueeze(0), kernel_size, options).squeeze(0);
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

/// In PyTorch's positions.
#define DL_POSITIONS(max_pool, avg_pool, Size)                                 \
  inline Tensor max_pool(Tensor input, Size kernel_size, Size stride,          \
                         Size padding = 0, Size dilation = 1,                  \
                         bool ceil_mode = false,                               \
                         bool return_indices = false) {                        \
    return max_pool(input, kernel_size,                                        \
                    {.stride = stride,                                         \
                     .padding = padding,                                       \
                     .dilation = dilation,                                     \
                     .return_indices = return_indices,                         \
                     .ceil_mode = ceil_mode});                                 \
  }                                                                            \
  inline Tensor avg_pool(Tensor input, Size kernel_size, Size stride,          \
                         Size padding = 0, bool ceil_mode = false,             \
                         bool count_include_pad = true) {                      \
    return avg_pool(input, kernel_size,                                        \
                    {.stride = stride,                                         \
                     .padding = padding,                                       \
                     .ceil_mode = ceil_mode,                                   \
                     .count_include_pad = count_include_pad});                 \
  }
DL_POSITIONS(max_pool1d, avg_pool1d, i64)
DL_POSITIONS(max_pool2d, avg_pool2d, Pair)
DL_POSITIONS(max_pool3d, avg_pool3d, Triple)
#undef DL_POSITIONS

/// The last ones by name: F::avg_pool2d(x, 3, 2, {.ceil_mode = true}).
#define DL_KEYWORDS(pool, Size, Options)                                       \
  inline Tensor pool(Tensor input, Size kernel_size, Size stride,              \
                     Options options) {                                        \
    options.stride = stride;                                                   \
    return pool(input, kernel_size, options);                                  \
  }                                                                            \
  inline Tensor pool(Tensor input, Size kernel_size, Size stride,              \
                     Size padding, Options options) {                          \
    options.padding = padding;                                                 \
    return pool(input, kernel_size, stride, options);                          \
  }
DL_KEYWORDS(max_pool1d, i64, MaxPool1dOptions)
DL_KEYWORDS(avg_pool1d, i64, AvgPool1dOptions)
DL_KEYWORDS(max_pool2d, Pair, MaxPool2dOptions)
DL_KEYWORDS(avg_pool2d, Pair, AvgPool2dOptions)
DL_KEYWORDS(max_pool3d, Triple, MaxPool3dOptions)
DL_KEYWORDS(avg_pool3d, Triple, AvgPool3dOptions)
#undef DL_KEYWORDS

} // namespace dl::nn::functional
