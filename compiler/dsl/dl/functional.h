#pragma once
// torch.nn.functional. Options have PyTorch's names and defaults; a value that
// this version cannot honour is refused by name.
#include "resize.h"

namespace dl::nn {

namespace detail {
using namespace dl::detail;

/// {2, 2}, or {} for None.
inline Pair pair(const char *what, list<i64> values) {
  if (values.size() > 2)
    fail("{}: {} numbers where one or two are wanted", what,
         static_cast<i64>(values.size()));
  if (values.size() == 0)
    return 0;
  return {values.begin()[0], values.begin()[values.size() - 1]};
}
} // namespace detail

/// What stands around an image: a number, {rows, columns}, "valid" (nothing),
/// or "same": as much as keeps the size, with stride 1.
struct Padding {
  Pair sizes = 0;
  bool same = false;

  constexpr Padding() = default;
  template <detail::Number T> // so that 0 is no pointer
  constexpr Padding(T both) : sizes(static_cast<i64>(both)) {}
  constexpr Padding(i64 h, i64 w) : sizes(h, w) {}
  constexpr Padding(Pair sizes) : sizes(sizes) {}
  Padding(const char *name) : same(detail::equal(name, "same")) {
    if (!same && !detail::equal(name, "valid"))
      detail::fail("conv2d: padding = \"{}\" is unknown; numbers, \"same\" and "
                   "\"valid\" are",
                   name);
  }
};

struct Conv2dOptions {
  Pair stride = 1;
  Padding padding{};
  Pair dilation = 1;
  i64 groups = 1;
  bool bias = true;
  const char *padding_mode = "zeros";
};

/// stride 0 stands for PyTorch's None: the kernel size.
struct MaxPool2dOptions {
  Pair stride = 0, padding = 0, dilation = 1;
  bool return_indices = false, ceil_mode = false;
};

/// stride 0 and divisor_override 0 stand for PyTorch's None.
struct AvgPool2dOptions {
  Pair stride = 0, padding = 0;
  bool ceil_mode = false, count_include_pad = true;
  i64 divisor_override = 0;
};

/// approximate: "none" or "tanh".
struct GELUOptions {
  const char *approximate = "none";
};

/// Accepted, as nn::ReLU{true} is, and without meaning: the compiler decides.
struct InplaceOptions {
  bool inplace = false;
};

namespace functional {

// The elementwise ones of torch.nn.functional are those of dl.
using dl::log_softmax, dl::relu, dl::sigmoid, dl::softmax, dl::tanh;

/// x @ weight^T + bias; weight is [out, in].
inline Tensor linear(Tensor x, Tensor weight, Tensor bias = {}) {
  detail::Called called("linear");
  Shape from = x.sizes(), features = weight.sizes();
  if (features.rank != 2)
    detail::fail("linear: the weight is [out_features,in_features], got {}",
                 features);
  if (from.rank == 0)
    detail::fail("linear: the input needs a dim of {} features, got a scalar",
                 features[1]);
  if (from[-1] != features[1])
    detail::fail("linear: input {} has {} features, the layer expects {} "
                 "(weight {})",
                 from, from[-1], features[1], features);
  detail::Labels rows;
  for (int i = 0; i + 1 < from.rank; ++i)
    rows.add('a' + i);
  Tensor y = detail::contract(x, rows + "k", weight, "nk", rows + "n");
  return bias.defined() ? y + bias : y;
}

inline Tensor conv2d(Tensor x, Tensor weight, Tensor bias = {},
                     const Conv2dOptions &options = {}) {
  detail::Called called("conv2d");
  if (x.dim() != 4)
    detail::fail("conv2d: the input [batch,channels,h,w] has 4 dims, got {}",
                 x.sizes());
  Shape stride = options.stride, padding = options.padding.sizes,
        dilation = options.dilation, kernel = weight.sizes();
  bool odd[] = {false, false};
  if (options.padding.same) {
    if (options.stride != Pair(1))
      detail::fail("conv2d: padding = \"same\" goes with stride 1 only");
    for (int i = 0; i < 2 && kernel.rank == 4; ++i) {
      i64 both = dilation[i] * (kernel[i + 2] - 1);
      odd[i] = both % 2;
      padding[i] = (both + 1) / 2;
    }
  }
  if (!detail::equal(options.padding_mode, "zeros")) {
    x = pad(x, {padding[1], padding[1], padding[0], padding[0]},
            options.padding_mode);
    padding = {0, 0};
  }
  Tensor y = detail::emit("conv2d", x, weight,
                          {{"stride", stride},
                           {"padding", padding},
                           {"dilation", dilation},
                           {"groups", options.groups}});
  // An odd number of rows: PyTorch puts the greater half below.
  for (int i = 0; i < 2; ++i)
    if (odd[i])
      y = y.slice(i + 2, 1);
  return bias.defined() ? y + bias.reshape({-1, 1, 1}) : y;
}

inline Tensor max_pool2d(Tensor x, Pair kernel_size,
                         const MaxPool2dOptions &options = {}) {
  detail::Called called("max_pool2d");
  if (options.dilation != Pair(1))
    detail::unsupported("max_pool2d: dilation = {}: not in this version",
                        Shape(options.dilation));
  if (options.ceil_mode)
    detail::unsupported("max_pool2d: ceil_mode = true: not in this version");
  if (options.return_indices)
    detail::unsupported(
        "max_pool2d: return_indices = true: not in this version");
  Shape kernel = kernel_size, padding = options.padding;
  Shape stride = options.stride == Pair(0) ? kernel_size : options.stride;
  detail::Results<2> both = detail::emit_many<2>(
      "max_pool2d", {Operand::fixed(x)},
      {{"kernel", kernel}, {"stride", stride}, {"padding", padding}});
  Tensor values;
  values.id = both.ids[0];
  return values;
}
/// In PyTorch's positions: kernel_size, stride, padding.
inline Tensor max_pool2d(Tensor x, Pair kernel_size, i64 stride,
                         Pair padding = 0) {
  return max_pool2d(x, kernel_size, {.stride = stride, .padding = padding});
}
inline Tensor max_pool2d(Tensor x, Pair kernel_size, list<i64> stride,
                         Pair padding = 0) {
  return max_pool2d(
      x, kernel_size,
      {.stride = detail::pair("max_pool2d", stride), .padding = padding});
}

namespace detail {
using namespace nn::detail;

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

inline Tensor avg_pool2d(Tensor x, Pair kernel_size,
                         const AvgPool2dOptions &options = {}) {
  detail::Called called("avg_pool2d");
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

inline Tensor avg_pool2d(Tensor x, Pair kernel_size, i64 stride,
                         Pair padding = 0) {
  return avg_pool2d(x, kernel_size, {.stride = stride, .padding = padding});
}
inline Tensor avg_pool2d(Tensor x, Pair kernel_size, list<i64> stride,
                         Pair padding = 0) {
  return avg_pool2d(
      x, kernel_size,
      {.stride = detail::pair("avg_pool2d", stride), .padding = padding});
}

inline Tensor silu(Tensor x) {
  detail::Called called("silu");
  return x * x.sigmoid();
}

inline Tensor gelu(Tensor x, const GELUOptions &options = {}) {
  detail::Called called("gelu");
  if (detail::equal(options.approximate, "tanh")) {
    Tensor inner =
        (x + x * x * x * 0.044715) * 0.7978845608028654; // sqrt(2/pi)
    return x * 0.5 * (inner.tanh() + 1.0);
  }
  if (!detail::equal(options.approximate, "none"))
    detail::fail("gelu: approximate = \"{}\" is unknown; \"none\" and "
                 "\"tanh\" are",
                 options.approximate);
  return x * 0.5 * ((x * 0.7071067811865476).erf() + 1.0); // sqrt(1/2)
}
inline Tensor gelu(Tensor x, const char *approximate) {
  return gelu(x, GELUOptions{approximate});
}

namespace detail {

inline Tensor dropout(const char *what, Tensor x, double p, bool training,
                      bool channelwise) {
  Called called(what);
  if (!(p >= 0 && p <= 1))
    fail("{}: p = {} is no probability between 0 and 1", what, p);
  if (!training || p == 0)
    return held(x);
  return Tensor(
      emit_many<1>("dropout", {Operand::fixed(x), Operand::step_scalars()},
                   {{"p", p}, Attr::key("key"), {"channelwise", channelwise}}));
}
} // namespace detail

/// In training steps; p.eval() steps pass x through.
inline Tensor dropout(Tensor x, double p = 0.5) {
  return detail::dropout("dropout", x, p, dl_is_training(), false);
}
inline Tensor dropout(Tensor x, double p, bool training) {
  return detail::dropout("dropout", x, p, training, false);
}
/// Drops whole channels: x is [N, C, ...].
inline Tensor dropout2d(Tensor x, double p = 0.5) {
  return detail::dropout("dropout2d", x, p, dl_is_training(), true);
}
inline Tensor dropout2d(Tensor x, double p, bool training) {
  return detail::dropout("dropout2d", x, p, training, true);
}

} // namespace functional
} // namespace dl::nn

namespace dl {
namespace F = nn::functional;
}
