#pragma once
// Padding, and windows cut from images and put back.
#include "window_options.h"

namespace dl::nn::functional {

namespace detail {
using namespace nn::detail;

/// Zeros of as many dims, for attributes.
inline Shape zero_each(int rank) {
  Shape zeros;
  for (int i = 0; i < rank; ++i)
    zeros.push_back(0);
  return zeros;
}

inline Tensor pad_constant(Tensor x, const Shape &low, const Shape &high,
                           double value) {
  Shape before = low, after = high;
  for (int i = 0; i < low.rank; ++i) { // less than nothing: cut off
    i64 size = x.size(i), begin = low[i] < 0 ? -low[i] : 0,
        end = high[i] < 0 ? size + high[i] : size;
    if (begin >= end)
      fail("pad: nothing is left of dim {} of {}", i, x.sizes());
    x = begin == 0 && end == size ? x : x.slice(i, begin, end);
    before[i] = low[i] < 0 ? 0 : low[i];
    after[i] = high[i] < 0 ? 0 : high[i];
  }
  return emit("pad", x,
              {{"low", before},
               {"high", after},
               {"interior", zero_each(low.rank)},
               {"value", value}});
}

/// What stands before (or after) x along a dim.
inline Tensor border(const char *mode, const Tensor &x, int dim, i64 count,
                     bool before) {
  i64 size = x.size(dim);
  if (equal(mode, "circular"))
    return x.narrow(dim, before ? size - count : 0, count);
  if (equal(mode, "reflect"))
    return x.narrow(dim, before ? 1 : size - 1 - count, count).flip(dim);
  Shape shape = x.sizes();
  shape[dim] = count;
  return x.narrow(dim, before ? 0 : size - 1, 1).expand(shape);
}

inline Tensor pad_border(const char *mode, Tensor x, const Shape &low,
                         const Shape &high) {
  bool reflects = equal(mode, "reflect");
  if (!reflects && !equal(mode, "replicate") && !equal(mode, "circular"))
    fail("pad: mode \"{}\" is unknown; \"constant\", \"reflect\", "
         "\"replicate\" and \"circular\" are",
         mode);
  x = copied(x);
  for (int i = 0; i < low.rank; ++i) {
    i64 size = x.size(i), most = reflects ? size - 1 : size;
    bool unbounded = equal(mode, "replicate");
    if (low[i] < 0 || high[i] < 0 ||
        (!unbounded && (low[i] > most || high[i] > most)))
      fail("pad: {} and {} around dim {} of {}: mode \"{}\" takes 0 to {}",
           low[i], high[i], i, x.sizes(), mode, unbounded ? kEnd : most);
    TensorList parts;
    if (low[i])
      parts.push_back(border(mode, x, i, low[i], true));
    parts.push_back(x);
    if (high[i])
      parts.push_back(border(mode, x, i, high[i], false));
    if (parts.size() > 1)
      x = cat(parts, i);
  }
  return x;
}
} // namespace detail

/// `pad` names what comes before and after the last dim, then the one before
/// that, ...: {1, 2} is {left, right}.
inline Tensor pad(Tensor x, const Shape &pad, const char *mode = "constant",
                  double value = 0) {
  detail::Called called("pad");
  mode = mode ? mode : "constant"; // no options: {}
  int rank = x.dim();
  if (pad.rank % 2 || pad.rank > 2 * rank)
    detail::fail("pad: {} for {}: two numbers for each dim, from the last, are "
                 "wanted",
                 pad, x.sizes());
  Shape low = detail::zero_each(rank), high = low;
  for (int i = 0; 2 * i < pad.rank; ++i) {
    low[rank - 1 - i] = pad[2 * i];
    high[rank - 1 - i] = pad[2 * i + 1];
  }
  return detail::equal(mode, "constant")
             ? detail::pad_constant(x, low, high, value)
             : detail::pad_border(mode, x, low, high);
}

struct PadOptions {
  const char *mode = "constant";
  double value = 0;
};
inline Tensor pad(Tensor x, const Shape &pad, const PadOptions &options) {
  return functional::pad(x, pad, options.mode, options.value);
}

namespace detail {
inline i64 windows_along(i64 size, i64 kernel, i64 stride, i64 padding,
                         i64 dilation) {
  return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}
inline void require_images(const char *what, const Tensor &x, int rank,
                           const char *shape) {
  if (x.dim() != rank)
    fail("{}: the input is {}, got {}", what, shape, x.sizes());
}
} // namespace detail

/// Windows as columns: [N,C,H,W] becomes [N, C * kernel, windows].
inline Tensor unfold(Tensor x, Pair kernel_size, UnfoldOptions options = {}) {
  detail::Called called("unfold");
  detail::require_images("unfold", x, 4, "[batch,channels,h,w]");
  Pair k = kernel_size, s = options.stride, d = options.dilation,
       p = options.padding;
  Shape from = x.sizes();
  i64 h = detail::windows_along(from[2], k.h, s.h, p.h, d.h);
  i64 w = detail::windows_along(from[3], k.w, s.w, p.w, d.w);
  if (h < 1 || w < 1)
    detail::fail("unfold: the kernel {} does not fit into {}", Shape(k), from);
  if (!(p == Pair(0)))
    x = pad(x, {p.w, p.w, p.h, p.h});
  TensorList taps;
  for (i64 i = 0; i < k.h; ++i)
    for (i64 j = 0; j < k.w; ++j)
      taps.push_back(x.slice(2, i * d.h, i * d.h + (h - 1) * s.h + 1, s.h)
                         .slice(3, j * d.w, j * d.w + (w - 1) * s.w + 1, s.w));
  return stack(taps, 2).reshape({from[0], from[1] * k.h * k.w, h * w});
}

/// In PyTorch's positions.
inline Tensor unfold(Tensor input, Pair kernel_size, Pair dilation,
                     Pair padding = 0, Pair stride = 1) {
  return unfold(input, kernel_size,
                {.dilation = dilation, .padding = padding, .stride = stride});
}

/// The sum of what unfold would cut out: [N, C * kernel, windows] becomes
/// [N,C,H,W].
inline Tensor fold(Tensor x, Pair output_size, Pair kernel_size,
                   UnfoldOptions options = {}) {
  detail::Called called("fold");
  Pair k = kernel_size, s = options.stride, d = options.dilation,
       p = options.padding;
  i64 h = detail::windows_along(output_size.h, k.h, s.h, p.h, d.h);
  i64 w = detail::windows_along(output_size.w, k.w, s.w, p.w, d.w);
  Shape from = x.sizes();
  if (from.rank != 3 || h < 1 || w < 1 || from[1] % (k.h * k.w) ||
      from[2] != h * w)
    detail::fail("fold: {} into images of {} by windows of {}: [batch, "
                 "channels * {}, {}] is wanted",
                 from, Shape(output_size), Shape(k), k.h * k.w, h * w);
  Tensor taps = x.reshape({from[0], from[1] / (k.h * k.w), k.h * k.w, h, w});
  Tensor sum;
  for (i64 i = 0; i < k.h; ++i)
    for (i64 j = 0; j < k.w; ++j) {
      i64 top = i * d.h, left = j * d.w;
      Tensor part = detail::emit(
          "pad", taps.select(2, i * k.w + j),
          {{"low", Shape{0, 0, top, left}},
           {"high",
            Shape{0, 0, output_size.h + 2 * p.h - top - (h - 1) * s.h - 1,
                  output_size.w + 2 * p.w - left - (w - 1) * s.w - 1}},
           {"interior", Shape{0, 0, s.h - 1, s.w - 1}},
           {"value", 0.0}});
      sum = sum.defined() ? sum + part : part;
    }
  return sum.narrow(2, p.h, output_size.h).narrow(3, p.w, output_size.w);
}

inline Tensor fold(Tensor input, Pair output_size, Pair kernel_size,
                   Pair dilation, Pair padding = 0, Pair stride = 1) {
  return fold(input, output_size, kernel_size,
              {.dilation = dilation, .padding = padding, .stride = stride});
}

/// Channels 0, 1, 2, ... of each of the groups become neighbours.
inline Tensor channel_shuffle(Tensor x, i64 groups) {
  detail::Called called("channel_shuffle");
  Shape from = x.sizes();
  if (from.rank < 3 || groups < 1 || from[1] % groups)
    detail::fail(
        "channel_shuffle: {} in {} groups: [N, C, ...] with a multiple "
        "of them as channels is wanted",
        from, groups);
  i64 rest = from.numel() / (from[0] * from[1]);
  return x.reshape({from[0], groups, from[1] / groups, rest})
      .transpose(1, 2)
      .reshape(from);
}
/// [..., C * r * r, H, W] becomes [..., C, H * r, W * r].
inline Tensor pixel_shuffle(Tensor x, i64 upscale_factor) {
  detail::Called called("pixel_shuffle");
  Shape from = x.sizes(), to = from;
  i64 r = upscale_factor;
  if (from.rank < 3 || r < 1 || from[-3] % (r * r))
    detail::fail("pixel_shuffle: {} by {}: channels must be a multiple of {}",
                 from, r, r * r);
  i64 c = from[-3] / (r * r),
      n = from.numel() / (from[-3] * from[-2] * from[-1]);
  to[-3] = c, to[-2] = from[-2] * r, to[-1] = from[-1] * r;
  return detail::copied(x.reshape({n, c, r, r, from[-2], from[-1]})
                            .permute(0, 1, 4, 2, 5, 3)
                            .reshape(to));
}
/// [..., C, H * r, W * r] becomes [..., C * r * r, H, W].
inline Tensor pixel_unshuffle(Tensor x, i64 downscale_factor) {
  detail::Called called("pixel_unshuffle");
  Shape from = x.sizes(), to = from;
  i64 r = downscale_factor;
  if (from.rank < 3 || r < 1 || from[-2] % r || from[-1] % r)
    detail::fail("pixel_unshuffle: {} by {}: height and width must be "
                 "multiples of it",
                 from, r);
  i64 n = from.numel() / (from[-3] * from[-2] * from[-1]);
  to[-3] = from[-3] * r * r, to[-2] = from[-2] / r, to[-1] = from[-1] / r;
  return detail::copied(x.reshape({n, from[-3], to[-2], r, to[-1], r})
                            .permute(0, 1, 3, 5, 2, 4)
                            .reshape(to));
}

} // namespace dl::nn::functional
