#pragma once
// torch.nn.functional. Options have PyTorch's names and defaults; a value that
// this version cannot honour is refused by name.
#include "einsum.h"
#include "embeddings.h"
#include "literals.h"
#include "resize.h"
#include "trigonometry.h"

namespace dl::nn {

/// approximate: "none" or "tanh".
struct GELUOptions {
  const char *approximate = "none";
};

/// As in PyTorch what has the operand has the result then; memory is the
/// compiler's matter.
struct InplaceOptions {
  bool inplace = false;
};
/// By default the step says which it is.
struct DropoutOptions {
  double p = 0.5;
  bool training = dl_is_training(), inplace = false;
};

namespace functional {

namespace detail { // below
using namespace nn::detail;

/// The result, which the operand becomes, too.
inline Tensor in_place(const Tensor &x, const Tensor &result, bool inplace) {
  if (inplace)
    dl_become(x.id, result.id);
  return result;
}
} // namespace detail

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

/// Element o of the result is x1^T weight[o] x2 + bias[o].
inline Tensor bilinear(Tensor x1, Tensor x2, Tensor weight, Tensor bias = {}) {
  detail::Called called("bilinear");
  Shape first = x1.sizes(), second = x2.sizes(), features = weight.sizes();
  if (features.rank != 3)
    detail::fail("bilinear: the weight is "
                 "[out_features,in1_features,in2_features], got {}",
                 features);
  if (first.rank == 0 || second.rank == 0 || first[-1] != features[1] ||
      second[-1] != features[2])
    detail::fail("bilinear: inputs {} and {} do not fit the weight {}", first,
                 second, features);
  Tensor y = einsum("...i,oij,...j->...o", x1, weight, x2);
  return bias.defined() ? y + bias : y;
}

inline Tensor conv2d(Tensor x, Tensor weight, Tensor bias = {},
                     const Conv2dOptions &options = {}) {
  detail::Called called("conv2d");
  if (x.dim() == 3) // without a batch
    return conv2d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  if (x.dim() != 4)
    detail::fail("conv2d: the input [batch,channels,h,w] has 4 dims, or 3 "
                 "without the batch, got {}",
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

/// In training steps; p.eval() steps pass x through. dropout1d to dropout3d
/// drop whole channels: x is [N, C, ...].
#define DL_DROPOUT(Name, channelwise)                                          \
  inline Tensor Name(Tensor x, double p = 0.5) {                               \
    return detail::dropout(#Name, x, p, dl_is_training(), channelwise);        \
  }                                                                            \
  inline Tensor Name(Tensor x, double p, bool training,                        \
                     bool inplace = false) {                                   \
    Tensor y = detail::dropout(#Name, x, p, training, channelwise);            \
    return detail::in_place(x, y, inplace);                                    \
  }                                                                            \
  inline Tensor Name(Tensor x, double p, DropoutOptions o) {                   \
    return Name(x, p, o.training, o.inplace);                                  \
  }                                                                            \
  inline Tensor Name(Tensor x, DropoutOptions o) {                             \
    return Name(x, o.p, o.training, o.inplace);                                \
  }
DL_DROPOUT(dropout, false)
DL_DROPOUT(dropout1d, true)
DL_DROPOUT(dropout2d, true)
DL_DROPOUT(dropout3d, true)
#undef DL_DROPOUT

/// What is dropped becomes the least value of selu, and all is scaled, so that
/// mean 0 and variance 1 stay (Klambauer and others, 2017).
inline Tensor alpha_dropout(Tensor x, double p = 0.5,
                            bool training = dl_is_training()) {
  detail::Called called("alpha_dropout");
  if (!(p >= 0 && p < 1))
    detail::fail("alpha_dropout: p = {} is not between 0 and below 1", p);
  if (!training || p == 0)
    return detail::held(x);
  constexpr double least = 1.7580993408473766; // minus scale times alpha
  double a = 1 / __builtin_sqrt((least * least * p + 1) * (1 - p));
  Tensor kept = rand_like(x) >= p;
  return dl::where(kept, x, -least) * a + least * a * p;
}

} // namespace functional
} // namespace dl::nn

namespace dl {
namespace F = nn::functional;
}
