#pragma once
// torch.nn.functional. Options have PyTorch's names and defaults; a value that
// this version cannot honour is refused by name.
#include "create.h"

namespace dl::nn {

struct Conv2dOptions {
  Pair stride = 1, padding = 0, dilation = 1;
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

struct LossOptions {
  Tensor weight = {};
  i64 ignore_index = -100;
  const char *reduction = "mean";
  double label_smoothing = 0;
};

struct InplaceOptions {
  bool inplace = false; // accepted and without meaning: the compiler decides
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
  if (!detail::equal(options.padding_mode, "zeros"))
    detail::unsupported("conv2d: padding_mode = \"{}\": not in this version",
                        options.padding_mode);
  if (x.dim() != 4)
    detail::fail("conv2d: the input [batch,channels,h,w] has 4 dims, got {}",
                 x.sizes());
  Shape stride = options.stride, padding = options.padding,
        dilation = options.dilation;
  Tensor y = detail::emit("conv2d", x, weight,
                          {{"stride", stride},
                           {"padding", padding},
                           {"dilation", dilation},
                           {"groups", options.groups}});
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

namespace detail {
using namespace dl::detail;

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

namespace detail {
inline void check_reduction(const char *loss, const char *reduction) {
  if (!equal(reduction, "mean") && !equal(reduction, "sum") &&
      !equal(reduction, "none"))
    fail("{}: reduction \"{}\" is unknown; \"mean\", \"sum\" and \"none\" are",
         loss, reduction);
}

inline Tensor nll_loss(const char *loss, Tensor log_probabilities,
                       Tensor target, const LossOptions &options) {
  Called called(loss);
  check_reduction(loss, options.reduction);
  if (options.weight.defined())
    unsupported("{}: weight: not in this version", loss);
  Tensor x = log_probabilities;
  if (target.is_floating_point() || target.dtype() == kBool)
    fail("{}: the target holds {}; class indices (integers) are wanted", loss,
         target.dtype() == kBool ? "booleans" : "floats");
  Tensor classes = target.to(kInt64);
  Tensor value = emit("nll_loss", x, classes,
                      {{"ignore_index", options.ignore_index},
                       {"reduction", options.reduction}});
  i64 bound = x.size(1);
  Tensor wrong =
      emit("index_check", classes,
           {{"bound", bound}, {"ignore_index", options.ignore_index}});
  const dl_text texts[] = {Text(loss), Text(bound)};
  dl_error_flag(wrong.id, "{}: target out of range [0, {})", texts, 2);
  return value;
}

inline Tensor reduce(const Tensor &x, const char *reduction) {
  return equal(reduction, "mean")  ? x.mean()
         : equal(reduction, "sum") ? x.sum()
                                   : x;
}
} // namespace detail

/// Of log-probabilities [N, C, ...] and class indices [N, ...].
inline Tensor nll_loss(Tensor input, Tensor target,
                       const LossOptions &options = {}) {
  return detail::nll_loss("nll_loss", input, target, options);
}

/// Of logits [N, C, ...] and class indices [N, ...].
inline Tensor cross_entropy(Tensor input, Tensor target,
                            const LossOptions &options = {}) {
  detail::Called called("cross_entropy");
  if (options.label_smoothing != 0)
    detail::unsupported("cross_entropy: label_smoothing: not in this version");
  if (input.dim() < 2)
    detail::fail(
        "cross_entropy: input {} has no dim of classes; [N, C] is wanted",
        input.sizes());
  return detail::nll_loss("cross_entropy", input.log_softmax(1), target,
                          options);
}

inline Tensor mse_loss(Tensor input, Tensor target,
                       const LossOptions &options = {}) {
  detail::Called called("mse_loss");
  detail::check_reduction("mse_loss", options.reduction);
  if (input.sizes() != target.sizes())
    detail::fail("mse_loss: input {} and target {} have different shapes",
                 input.sizes(), target.sizes());
  Tensor difference = input - target;
  return detail::reduce(difference.square(), options.reduction);
}

} // namespace functional
} // namespace dl::nn

namespace dl {
namespace F = nn::functional;
}
