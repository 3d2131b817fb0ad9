#pragma once
// The elementwise functions of torch.nn.functional.
#include "functional.h"

namespace dl::nn::functional {

inline Tensor leaky_relu(Tensor x, double negative_slope = 0.01) {
  detail::Called called("leaky_relu");
  return where(x > 0, x, x * negative_slope);
}
/// `weight` holds one slope, or one for each channel (dim 1).
inline Tensor prelu(Tensor x, Tensor weight) {
  detail::Called called("prelu");
  Tensor slope = weight;
  if (weight.numel() != 1 && x.dim() > 1) {
    if (weight.numel() != x.size(1))
      detail::fail("prelu: {} slopes for the {} channels of {}", weight.numel(),
                   x.size(1), x.sizes());
    Shape shape{-1};
    for (int i = 2; i < x.dim(); ++i)
      shape.push_back(1);
    slope = weight.reshape(shape);
  }
  return where(x > 0, x, x * slope);
}
namespace detail {
/// exp(x) - 1 below 0; above it a large exponential would meet a zero.
inline Tensor expm1_below(const Tensor &x) {
  return expm1_to_1(where(x > 0, 0.0, x));
}
} // namespace detail
inline Tensor elu(Tensor x, double alpha = 1) {
  detail::Called called("elu");
  return where(x > 0, x, detail::expm1_below(x) * alpha);
}
inline Tensor celu(Tensor x, double alpha = 1) {
  detail::Called called("celu");
  return where(x > 0, x, detail::expm1_below(x / alpha) * alpha);
}
inline Tensor selu(Tensor x) {
  detail::Called called("selu");
  constexpr double alpha = 1.6732632423543772848170429916717,
                   scale = 1.0507009873554804934193349852946;
  return elu(x, alpha) * scale;
}
/// PyTorch's gradient at both bounds is 0.
inline Tensor hardtanh(Tensor x, double min_val = -1, double max_val = 1) {
  detail::Called called("hardtanh");
  return where(x <= min_val, min_val, where(x >= max_val, max_val, x));
}
inline Tensor relu6(Tensor x) {
  detail::Called called("relu6");
  return hardtanh(x, 0, 6);
}
inline Tensor hardsigmoid(Tensor x) {
  detail::Called called("hardsigmoid");
  return where(x <= -3, 0.0, where(x >= 3, 1.0, x / 6.0 + 0.5));
}
inline Tensor hardswish(Tensor x) {
  detail::Called called("hardswish");
  return where(x <= -3, 0.0, where(x < 3, x * (x + 3.0) / 6.0, x));
}
/// log(1 + exp(beta x)) / beta, and x itself where beta x is beyond threshold.
inline Tensor softplus(Tensor x, double beta = 1, double threshold = 20) {
  detail::Called called("softplus");
  Tensor scaled = x * beta, linear = scaled > threshold;
  Tensor inside = where(linear, 0.0, scaled);
  return where(linear, x, inside.exp().log1p() / beta);
}
inline Tensor softsign(Tensor x) {
  detail::Called called("softsign");
  return x / (x.abs() + 1.0);
}
/// min(x, 0) - log(1 + exp(-|x|)), in two branches that are smooth at 0 each.
inline Tensor logsigmoid(Tensor x) {
  detail::Called called("logsigmoid");
  Tensor low = x.lt(0.0);
  return where(low, x, 0.0) - where(low, x, x.neg()).exp().log1p();
}
inline Tensor mish(Tensor x) {
  detail::Called called("mish");
  return x * softplus(x).tanh();
}
inline Tensor glu(Tensor x, i64 dim = -1) {
  detail::Called called("glu");
  if (x.size(static_cast<int>(dim)) % 2)
    detail::fail("glu: dim {} of {} has no two halves", dim, x.sizes());
  TensorList halves = x.chunk(2, dim);
  return halves[0] * halves[1].sigmoid();
}
inline Tensor threshold(Tensor x, double threshold, double value) {
  detail::Called called("threshold");
  return where(x > threshold, x, value);
}
inline Tensor hardshrink(Tensor x, double lambd = 0.5) {
  detail::Called called("hardshrink");
  return where(x.abs() > lambd, x, 0.0);
}
inline Tensor softshrink(Tensor x, double lambd = 0.5) {
  detail::Called called("softshrink");
  return where(x > lambd, x - lambd, where(x < -lambd, x + lambd, 0.0));
}
inline Tensor tanhshrink(Tensor x) {
  detail::Called called("tanhshrink");
  return x - x.tanh();
}
/// In training steps each negative element has a slope of its own.
inline Tensor rrelu(Tensor x, double lower = 1.0 / 8, double upper = 1.0 / 3,
                    bool training = false, bool inplace = false) {
  detail::Called called("rrelu");
  if (!(lower <= upper))
    detail::fail("rrelu: slopes from {} to {}; lower is not above upper", lower,
                 upper);
  Tensor y = training
                 ? where(x > 0, x, x * (rand_like(x) * (upper - lower) + lower))
                 : where(x > 0, x, x * ((lower + upper) / 2));
  return detail::in_place(x, y, inplace);
}
inline Tensor softmin(Tensor x, i64 dim) {
  detail::Called called("softmin");
  return (-x).softmax(dim);
}

/// inplace, by name or in its position.
#define DL_INPLACE(function)                                                   \
  template <detail::Bool T> Tensor function(Tensor x, T inplace) {             \
    return detail::in_place(x, function(x), inplace);                          \
  }                                                                            \
  inline Tensor function(Tensor x, InplaceOptions options) {                   \
    return function(x, options.inplace);                                       \
  }
#define DL_INPLACE_NUMBER(function)                                            \
  template <detail::Bool T>                                                    \
  Tensor function(Tensor x, double number, T inplace) {                        \
    return detail::in_place(x, function(x, number), inplace);                  \
  }                                                                            \
  inline Tensor function(Tensor x, double number, InplaceOptions options) {    \
    return function(x, number, options.inplace);                               \
  }
DL_INPLACE(relu)
DL_INPLACE(relu6)
DL_INPLACE(selu)
DL_INPLACE(silu)
DL_INPLACE(mish)
DL_INPLACE(hardswish)
DL_INPLACE(hardsigmoid)
DL_INPLACE_NUMBER(leaky_relu)
DL_INPLACE_NUMBER(elu)
DL_INPLACE_NUMBER(celu)
#undef DL_INPLACE
#undef DL_INPLACE_NUMBER

struct LeakyReLUOptions {
  double negative_slope = 0.01;
  bool inplace = false;
};
/// Of celu, too.
struct ELUOptions {
  double alpha = 1;
  bool inplace = false;
};
/// Of hardshrink and softshrink.
struct ShrinkOptions {
  double lambd = 0.5;
  bool inplace = false;
};
struct HardtanhOptions {
  double min_val = -1, max_val = 1;
  bool inplace = false;
};
struct RReLUOptions {
  double lower = 1.0 / 8, upper = 1.0 / 3;
  bool training = false, inplace = false;
};
struct SoftplusOptions {
  double beta = 1, threshold = 20;
  bool inplace = false;
};
inline Tensor leaky_relu(Tensor x, LeakyReLUOptions options) {
  return leaky_relu(x, options.negative_slope, options.inplace);
}
inline Tensor elu(Tensor x, ELUOptions options) {
  return elu(x, options.alpha, options.inplace);
}
inline Tensor celu(Tensor x, ELUOptions options) {
  return celu(x, options.alpha, options.inplace);
}
inline Tensor hardshrink(Tensor x, ShrinkOptions options) {
  return detail::in_place(x, hardshrink(x, options.lambd), options.inplace);
}
inline Tensor softshrink(Tensor x, ShrinkOptions options) {
  return detail::in_place(x, softshrink(x, options.lambd), options.inplace);
}
inline Tensor hardtanh(Tensor x, HardtanhOptions options) {
  return detail::in_place(x, hardtanh(x, options.min_val, options.max_val),
                          options.inplace);
}
inline Tensor rrelu(Tensor x, RReLUOptions o) {
  return rrelu(x, o.lower, o.upper, o.training, o.inplace);
}
inline Tensor softplus(Tensor x, SoftplusOptions options) {
  return detail::in_place(x, softplus(x, options.beta, options.threshold),
                          options.inplace);
}

} // namespace dl::nn::functional
