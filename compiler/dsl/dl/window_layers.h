#pragma once
// Layers of windows: convolutions and pools of sequences, images and volumes.
#include "adaptive_pools.h"
#include "layers.h"
#include "unpools.h"

namespace dl::nn {

namespace detail {
/// The weight [first, second / groups, kernel...] of a convolution, and its
/// bias; its fan-in is all that is behind the first dim.
template <class Convolution>
void make_convolution(const char *what, Convolution &made, i64 first,
                      i64 second, const Shape &kernel) {
  i64 groups = made.options.groups;
  at_least_one(what, "in_channels", made.in_channels);
  at_least_one(what, "out_channels", made.out_channels);
  at_least_one(what, "groups", groups);
  if (made.in_channels % groups)
    fail("{}: in_channels = {} must be divisible by groups = {}", what,
         made.in_channels, groups);
  if (made.out_channels % groups)
    fail("{}: out_channels = {} must be divisible by groups = {}", what,
         made.out_channels, groups);
  Shape shape{first, second / groups};
  i64 fan_in = second / groups;
  for (int i = 0; i < kernel.rank; ++i) {
    at_least_one(what, "kernel_size", kernel[i]);
    shape.push_back(kernel[i]);
    fan_in *= kernel[i];
  }
  made.weight = fan_in_uniform(shape, fan_in);
  if (made.options.bias)
    made.bias = fan_in_uniform({made.out_channels}, fan_in);
}
} // namespace detail

#define DL_CONVOLUTION(Name, function, Size, Options)                          \
  class Name : public Module {                                                 \
  public:                                                                      \
    i64 in_channels = 0, out_channels = 0;                                     \
    Size kernel_size = 0;                                                      \
    Options options;                                                           \
    Parameter weight, bias;                                                    \
                                                                               \
    Name() = default;                                                          \
    Name(i64 in_channels, i64 out_channels, Size kernel_size,                  \
         const Options &options = {})                                          \
        : in_channels(in_channels), out_channels(out_channels),                \
          kernel_size(kernel_size), options(options) {                         \
      detail::make_convolution(#Name, *this, out_channels, in_channels,        \
                               Dims(kernel_size));                             \
    }                                                                          \
    /* All arguments by name, and those behind the channels. */                \
    struct Arguments {                                                         \
      detail::ByName by_name = {};                                             \
      i64 in_channels = 0, out_channels = 0;                                   \
      Size kernel_size = 0, stride = 1;                                        \
      Padding<Size> padding = {};                                              \
      Size dilation = 1;                                                       \
      i64 groups = 1;                                                          \
      bool bias = true;                                                        \
      const char *padding_mode = "zeros";                                      \
    };                                                                         \
    explicit Name(const Arguments &o)                                          \
        : Name(o.in_channels, o.out_channels, o) {}                            \
    Name(i64 in_channels, i64 out_channels, const Arguments &o)                \
        : Name(in_channels, out_channels, o.kernel_size, o.stride, o.padding,  \
               o.dilation, o.groups, o.bias, o.padding_mode) {}                \
    /* In PyTorch's positions. */                                              \
    Name(i64 in_channels, i64 out_channels, Size kernel_size, Size stride,     \
         Padding<Size> padding = {}, Size dilation = 1, i64 groups = 1,        \
         bool bias = true, const char *padding_mode = "zeros")                 \
        : Name(in_channels, out_channels, kernel_size,                         \
               Options{.stride = stride,                                       \
                       .padding = padding,                                     \
                       .dilation = dilation,                                   \
                       .groups = groups,                                       \
                       .bias = bias,                                           \
                       .padding_mode = padding_mode}) {}                       \
    /* The first ones by position, the others by name. */                      \
    Name(i64 in_channels, i64 out_channels, Size kernel_size, Size stride,     \
         Options options)                                                      \
        : Name(in_channels, out_channels, kernel_size,                         \
               (options.stride = stride, options)) {}                          \
    Name(i64 in_channels, i64 out_channels, Size kernel_size, Size stride,     \
         Padding<Size> padding, Options options)                               \
        : Name(in_channels, out_channels, kernel_size,                         \
               (options.stride = stride, options.padding = padding,            \
                options)) {}                                                   \
    Tensor forward(Tensor x) {                                                 \
      return functional::function(x, weight, bias, options);                   \
    }                                                                          \
  }
DL_CONVOLUTION(Conv1d, conv1d, i64, Conv1dOptions);
DL_CONVOLUTION(Conv2d, conv2d, Pair, Conv2dOptions);
DL_CONVOLUTION(Conv3d, conv3d, Triple, Conv3dOptions);
#undef DL_CONVOLUTION

#define DL_TRANSPOSED(Name, function, Size, Options)                           \
  class Name : public Module {                                                 \
  public:                                                                      \
    i64 in_channels = 0, out_channels = 0;                                     \
    Size kernel_size = 0;                                                      \
    Options options;                                                           \
    Parameter weight, bias;                                                    \
                                                                               \
    Name() = default;                                                          \
    Name(i64 in_channels, i64 out_channels, Size kernel_size,                  \
         const Options &options = {})                                          \
        : in_channels(in_channels), out_channels(out_channels),                \
          kernel_size(kernel_size), options(options) {                         \
      detail::make_convolution(#Name, *this, in_channels, out_channels,        \
                               Dims(kernel_size));                             \
    }                                                                          \
    struct Arguments {                                                         \
      detail::ByName by_name = {};                                             \
      i64 in_channels = 0, out_channels = 0;                                   \
      Size kernel_size = 0, stride = 1, padding = 0, output_padding = 0;       \
      i64 groups = 1;                                                          \
      bool bias = true;                                                        \
      Size dilation = 1;                                                       \
    };                                                                         \
    explicit Name(const Arguments &o)                                          \
        : Name(o.in_channels, o.out_channels, o) {}                            \
    Name(i64 in_channels, i64 out_channels, const Arguments &o)                \
        : Name(in_channels, out_channels, o.kernel_size, o.stride, o.padding,  \
               o.output_padding, o.groups, o.bias, o.dilation) {}              \
    Name(i64 in_channels, i64 out_channels, Size kernel_size, Size stride,     \
         Size padding = 0, Size output_padding = 0, i64 groups = 1,            \
         bool bias = true, Size dilation = 1)                                  \
        : Name(in_channels, out_channels, kernel_size,                         \
               Options{.stride = stride,                                       \
                       .padding = padding,                                     \
                       .output_padding = output_padding,                       \
                       .groups = groups,                                       \
                       .bias = bias,                                           \
                       .dilation = dilation}) {}                               \
    Name(i64 in_channels, i64 out_channels, Size kernel_size, Size stride,     \
         Options options)                                                      \
        : Name(in_channels, out_channels, kernel_size,                         \
               (options.stride = stride, options)) {}                          \
    Name(i64 in_channels, i64 out_channels, Size kernel_size, Size stride,     \
         Size padding, Options options)                                        \
        : Name(in_channels, out_channels, kernel_size,                         \
               (options.stride = stride, options.padding = padding,            \
                options)) {}                                                   \
    Tensor forward(Tensor x) {                                                 \
      return functional::function(x, weight, bias, options);                   \
    }                                                                          \
  }
DL_TRANSPOSED(ConvTranspose1d, conv_transpose1d, i64, ConvTranspose1dOptions);
DL_TRANSPOSED(ConvTranspose2d, conv_transpose2d, Pair, ConvTranspose2dOptions);
DL_TRANSPOSED(ConvTranspose3d, conv_transpose3d, Triple,
              ConvTranspose3dOptions);
#undef DL_TRANSPOSED

// Options behind a stride, or a stride and a padding, at their places.
#define DL_LAST_BY_NAME(Name, Size, Options)                                   \
  Name(Size kernel_size, Size stride, Options given)                           \
      : kernel_size(kernel_size), options(given) {                             \
    options.stride = stride;                                                   \
  }                                                                            \
  Name(Size kernel_size, Size stride, Size padding, Options given)             \
      : Name(kernel_size, stride, given) {                                     \
    options.padding = padding;                                                 \
  }

#define DL_MAX_POOL(Name, function, Size, Options, ...)                        \
  class Name : public Module {                                                 \
  public:                                                                      \
    Size kernel_size;                                                          \
    Options options;                                                           \
    explicit Name(Size kernel_size, const Options &options = {})               \
        : kernel_size(kernel_size), options(options) {}                        \
    struct Arguments {                                                         \
      detail::ByName by_name = {};                                             \
      Size kernel_size = 0, stride = 0, padding = 0, dilation = 1;             \
      bool return_indices = false, ceil_mode = false;                          \
    };                                                                         \
    explicit Name(const Arguments &o)                                          \
        : Name(o.kernel_size, o.stride, o.padding, o.dilation,                 \
               o.return_indices, o.ceil_mode) {}                               \
    Name(Size kernel_size, Size stride, Size padding = 0, Size dilation = 1,   \
         bool return_indices = false, bool ceil_mode = false)                  \
        : kernel_size(kernel_size), options{.stride = stride,                  \
                                            .padding = padding,                \
                                            .dilation = dilation,              \
                                            .return_indices = return_indices,  \
                                            .ceil_mode = ceil_mode} {}         \
    DL_LAST_BY_NAME(Name, Size, Options)                                       \
    Tensor forward(Tensor x) {                                                 \
      return functional::function(x, kernel_size, options);                    \
    }                                                                          \
    __VA_ARGS__                                                                \
  }
#define DL_WITH_INDICES(function)                                              \
  ValuesAndIndices forward_with_indices(Tensor x) {                            \
    detail::Scope scope(*this);                                                \
    return functional::function(x, kernel_size, options);                      \
  }
DL_MAX_POOL(MaxPool1d, max_pool1d, i64, MaxPool1dOptions,
            DL_WITH_INDICES(max_pool1d_with_indices));
DL_MAX_POOL(MaxPool2d, max_pool2d, Pair, MaxPool2dOptions,
            DL_WITH_INDICES(max_pool2d_with_indices));
#undef DL_WITH_INDICES
DL_MAX_POOL(MaxPool3d, max_pool3d, Triple, MaxPool3dOptions);
#undef DL_MAX_POOL

#define DL_AVG_POOL(Name, function, Size, Options)                             \
  class Name : public Module {                                                 \
  public:                                                                      \
    Size kernel_size;                                                          \
    Options options;                                                           \
    explicit Name(Size kernel_size, const Options &options = {})               \
        : kernel_size(kernel_size), options(options) {}                        \
    struct Arguments {                                                         \
      detail::ByName by_name = {};                                             \
      Size kernel_size = 0, stride = 0, padding = 0;                           \
      bool ceil_mode = false, count_include_pad = true;                        \
    };                                                                         \
    explicit Name(const Arguments &o)                                          \
        : Name(o.kernel_size, o.stride, o.padding, o.ceil_mode,                \
               o.count_include_pad) {}                                         \
    Name(Size kernel_size, Size stride, Size padding = 0,                      \
         bool ceil_mode = false, bool count_include_pad = true)                \
        : kernel_size(kernel_size),                                            \
          options{.stride = stride,                                            \
                  .padding = padding,                                          \
                  .ceil_mode = ceil_mode,                                      \
                  .count_include_pad = count_include_pad} {}                   \
    DL_LAST_BY_NAME(Name, Size, Options)                                       \
    Tensor forward(Tensor x) {                                                 \
      return functional::function(x, kernel_size, options);                    \
    }                                                                          \
  }
DL_AVG_POOL(AvgPool1d, avg_pool1d, i64, AvgPool1dOptions);
DL_AVG_POOL(AvgPool2d, avg_pool2d, Pair, AvgPool2dOptions);
DL_AVG_POOL(AvgPool3d, avg_pool3d, Triple, AvgPool3dOptions);
#undef DL_AVG_POOL
#undef DL_LAST_BY_NAME

class Unfold : public Module {
public:
  Pair kernel_size;
  UnfoldOptions options;
  explicit Unfold(Pair kernel_size, const UnfoldOptions &options = {})
      : kernel_size(kernel_size), options(options) {}
  Unfold(Pair kernel_size, Pair dilation, Pair padding = 0, Pair stride = 1)
      : kernel_size(kernel_size),
        options{.dilation = dilation, .padding = padding, .stride = stride} {}
  Tensor forward(Tensor x) {
    return functional::unfold(x, kernel_size, options);
  }
};

class Fold : public Module {
public:
  Pair output_size, kernel_size;
  UnfoldOptions options;
  Fold(Pair output_size, Pair kernel_size, const UnfoldOptions &options = {})
      : output_size(output_size), kernel_size(kernel_size), options(options) {}
  Fold(Pair output_size, Pair kernel_size, Pair dilation, Pair padding = 0,
       Pair stride = 1)
      : output_size(output_size), kernel_size(kernel_size),
        options{.dilation = dilation, .padding = padding, .stride = stride} {}
  Tensor forward(Tensor x) {
    return functional::fold(x, output_size, kernel_size, options);
  }
};

#define DL_SIZED(Name, function, Size, size)                                   \
  class Name : public Module {                                                 \
  public:                                                                      \
    Size size;                                                                 \
    explicit Name(Size size) : size(size) {}                                   \
    Tensor forward(Tensor x) { return functional::function(x, size); }         \
  }
DL_SIZED(AdaptiveAvgPool1d, adaptive_avg_pool1d, i64, output_size);
DL_SIZED(AdaptiveAvgPool2d, adaptive_avg_pool2d, AdaptiveSize<Pair>,
         output_size);
DL_SIZED(AdaptiveAvgPool3d, adaptive_avg_pool3d, AdaptiveSize<Triple>,
         output_size);
DL_SIZED(AdaptiveMaxPool1d, adaptive_max_pool1d, i64, output_size);
DL_SIZED(AdaptiveMaxPool2d, adaptive_max_pool2d, AdaptiveSize<Pair>,
         output_size);
DL_SIZED(AdaptiveMaxPool3d, adaptive_max_pool3d, AdaptiveSize<Triple>,
         output_size);
DL_SIZED(PixelShuffle, pixel_shuffle, i64, upscale_factor);
DL_SIZED(PixelUnshuffle, pixel_unshuffle, i64, downscale_factor);
DL_SIZED(ChannelShuffle, channel_shuffle, i64, groups);
#undef DL_SIZED

} // namespace dl::nn
