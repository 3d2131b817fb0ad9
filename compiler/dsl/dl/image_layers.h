#pragma once
// Layers of sequences, images and volumes beyond those of layers.h, and
// Embedding.
#include "convolutions.h"
#include "layers.h"

namespace dl::nn {

class Conv1d : public Module {
public:
  i64 in_channels, out_channels, kernel_size;
  Conv1dOptions options;
  Parameter weight, bias;

  Conv1d(i64 in_channels, i64 out_channels, i64 kernel_size,
         const Conv1dOptions &options = {})
      : in_channels(in_channels), out_channels(out_channels),
        kernel_size(kernel_size), options(options) {
    detail::make_convolution("Conv1d", *this, out_channels, in_channels,
                             {kernel_size});
  }
  Tensor forward(Tensor x) {
    return functional::conv1d(x, weight, bias, options);
  }
};

class Conv3d : public Module {
public:
  i64 in_channels, out_channels;
  Triple kernel_size;
  Conv3dOptions options;
  Parameter weight, bias;

  Conv3d(i64 in_channels, i64 out_channels, Triple kernel_size,
         const Conv3dOptions &options = {})
      : in_channels(in_channels), out_channels(out_channels),
        kernel_size(kernel_size), options(options) {
    detail::make_convolution("Conv3d", *this, out_channels, in_channels,
                             kernel_size);
  }
  Tensor forward(Tensor x) {
    return functional::conv3d(x, weight, bias, options);
  }
};

class ConvTranspose1d : public Module {
public:
  i64 in_channels, out_channels, kernel_size;
  ConvTranspose1dOptions options;
  Parameter weight, bias;

  ConvTranspose1d(i64 in_channels, i64 out_channels, i64 kernel_size,
                  const ConvTranspose1dOptions &options = {})
      : in_channels(in_channels), out_channels(out_channels),
        kernel_size(kernel_size), options(options) {
    detail::make_convolution("ConvTranspose1d", *this, in_channels,
                             out_channels, {kernel_size});
  }
  Tensor forward(Tensor x) {
    return functional::conv_transpose1d(x, weight, bias, options);
  }
};

class ConvTranspose2d : public Module {
public:
  i64 in_channels, out_channels;
  Pair kernel_size;
  ConvTranspose2dOptions options;
  Parameter weight, bias;

  ConvTranspose2d(i64 in_channels, i64 out_channels, Pair kernel_size,
                  const ConvTranspose2dOptions &options = {})
      : in_channels(in_channels), out_channels(out_channels),
        kernel_size(kernel_size), options(options) {
    detail::make_convolution("ConvTranspose2d", *this, in_channels,
                             out_channels, {kernel_size.h, kernel_size.w});
  }
  Tensor forward(Tensor x) {
    return functional::conv_transpose2d(x, weight, bias, options);
  }
};

/// Weights are drawn from a normal distribution, but the row of padding_idx is
/// 0 and gets no gradient.
class Embedding : public Module {
public:
  i64 num_embeddings, embedding_dim;
  EmbeddingOptions options;
  Parameter weight;

  Embedding(i64 num_embeddings, i64 embedding_dim,
            EmbeddingOptions options = {})
      : num_embeddings(num_embeddings), embedding_dim(embedding_dim),
        options(options) {
    detail::at_least_one("Embedding", "num_embeddings", num_embeddings);
    detail::at_least_one("Embedding", "embedding_dim", embedding_dim);
    weight = zeros({num_embeddings, embedding_dim});
    i64 padding = options.padding_idx;
    if (padding == EmbeddingOptions::kNone) {
      init::normal_(weight);
      return;
    }
    if (padding < -num_embeddings || padding >= num_embeddings)
      detail::fail("Embedding: padding_idx = {} is no row of {}", padding,
                   num_embeddings);
    padding += padding < 0 ? num_embeddings : 0;
    init::detail::begin_as(weight, DL_PADDED, 0, 1,
                           static_cast<double>(padding));
  }
  Tensor forward(Tensor input) {
    return functional::embedding(input, weight, options);
  }
};

/// One size for all dims is a number.
class Upsample : public Module {
public:
  InterpolateOptions options;
  explicit Upsample(const InterpolateOptions &options) : options(options) {}
  Tensor forward(Tensor x) { return functional::interpolate(x, options); }
};
class UpsamplingNearest2d : public Module {
public:
  InterpolateOptions options;
  explicit UpsamplingNearest2d(const InterpolateOptions &options)
      : options(options) {}
  Tensor forward(Tensor x) { return functional::interpolate(x, options); }
};
class UpsamplingBilinear2d : public Module {
public:
  InterpolateOptions options;
  explicit UpsamplingBilinear2d(const InterpolateOptions &options)
      : options(options) {
    this->options.mode = "bilinear";
    this->options.align_corners = true;
  }
  Tensor forward(Tensor x) { return functional::interpolate(x, options); }
};

#define DL_POOL(Name, function, Size, Options)                                 \
  class Name : public Module {                                                 \
  public:                                                                      \
    Size kernel_size;                                                          \
    Options options;                                                           \
    explicit Name(Size kernel_size, const Options &options = {})               \
        : kernel_size(kernel_size), options(options) {}                        \
    Tensor forward(Tensor x) {                                                 \
      return functional::function(x, kernel_size, options);                    \
    }                                                                          \
  }
DL_POOL(MaxPool1d, max_pool1d, i64, MaxPool1dOptions);
DL_POOL(AvgPool1d, avg_pool1d, i64, AvgPool1dOptions);
DL_POOL(Unfold, unfold, Pair, UnfoldOptions);
#undef DL_POOL

class Fold : public Module {
public:
  Pair output_size, kernel_size;
  UnfoldOptions options;
  Fold(Pair output_size, Pair kernel_size, UnfoldOptions options = {})
      : output_size(output_size), kernel_size(kernel_size), options(options) {}
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
DL_SIZED(AdaptiveAvgPool2d, adaptive_avg_pool2d, Pair, output_size);
DL_SIZED(AdaptiveAvgPool3d, adaptive_avg_pool3d, Triple, output_size);
DL_SIZED(AdaptiveMaxPool1d, adaptive_max_pool1d, i64, output_size);
DL_SIZED(AdaptiveMaxPool2d, adaptive_max_pool2d, Pair, output_size);
DL_SIZED(AdaptiveMaxPool3d, adaptive_max_pool3d, Triple, output_size);
DL_SIZED(PixelShuffle, pixel_shuffle, i64, upscale_factor);
DL_SIZED(PixelUnshuffle, pixel_unshuffle, i64, downscale_factor);
#undef DL_SIZED

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
