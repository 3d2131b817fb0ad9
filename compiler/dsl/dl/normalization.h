#pragma once
// Norms and distances of torch.nn.functional.
#include "activations.h"

namespace dl::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true, bias = true;
};
/// eps 0 stands for PyTorch's None: the distance from 1 to the next float.
struct RMSNormOptions {
  double eps = 0;
  bool elementwise_affine = true;
};
struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
};
/// momentum 0 stands for PyTorch's None: the average of all batches.
struct BatchNormOptions {
  double eps = 1e-5, momentum = 0.1;
  bool affine = true, track_running_stats = true;
};

namespace functional {
namespace detail {
/// How many dims the shape normalises; it must be how x ends.
inline Dims last_dims(const char *what, const Tensor &x, const Shape &shape) {
  Shape from = x.sizes(), dims;
  bool fits = shape.rank > 0 && shape.rank <= from.rank;
  for (int i = 1; fits && i <= shape.rank; ++i)
    fits = shape[-i] == from[-i];
  if (!fits)
    fail("{}: the input {} does not end with the normalized_shape {}", what,
         from, shape);
  for (int i = from.rank - shape.rank; i < from.rank; ++i)
    dims.push_back(i);
  return dims;
}
/// The variance that divides by the count. Its derivative by the mean is the
/// sum of x - mean, which is zero: no gradient needs to be added up for it.
inline Tensor variance(const Tensor &x, const Tensor &mean, const Dims &dims,
                       bool keepdim) {
  return (x - stationary(mean)).square().mean(dims, keepdim);
}
/// In two passes.
inline Tensor standardized(const Tensor &x, const Dims &dims, double eps) {
  Tensor mean = x.mean(dims, true);
  return (x - mean) * (variance(x, mean, dims, true) + eps).rsqrt();
}
/// Of [N, C, ...], a value for each channel.
inline Tensor along_channels(const Tensor &values, const Tensor &x) {
  Shape shape{-1};
  for (int i = 2; i < x.dim(); ++i)
    shape.push_back(1);
  return values.reshape(shape);
}
inline Tensor affine(Tensor x, const Tensor &weight, const Tensor &bias) {
  if (weight.defined())
    x = x * along_channels(weight, x);
  return bias.defined() ? x + along_channels(bias, x) : x;
}
} // namespace detail

inline Tensor layer_norm(Tensor x, const Dims &normalized_shape,
                         Tensor weight = {}, Tensor bias = {},
                         double eps = 1e-5) {
  detail::Called called("layer_norm");
  x = detail::standardized(
      x, detail::last_dims("layer_norm", x, normalized_shape), eps);
  if (weight.defined())
    x = x * weight;
  return bias.defined() ? x + bias : x;
}
/// Of layer_norm and group_norm, by name.
struct AffineOptions {
  Tensor weight = {}, bias = {};
  double eps = 1e-5;
};
inline Tensor layer_norm(Tensor x, const Dims &normalized_shape,
                         const AffineOptions &o) {
  return layer_norm(x, normalized_shape, o.weight, o.bias, o.eps);
}
/// {} in place of a weight.
inline Tensor layer_norm(Tensor x, const Dims &normalized_shape,
                         decltype(nullptr)) {
  return layer_norm(x, normalized_shape);
}
/// x / sqrt(mean(x^2) + eps) * weight.
inline Tensor rms_norm(Tensor x, const Dims &normalized_shape,
                       Tensor weight = {}, double eps = 0) {
  detail::Called called("rms_norm");
  Dims dims = detail::last_dims("rms_norm", x, normalized_shape);
  if (eps == 0)
    eps = dl_float_is_double() ? 0x1p-52 : 0x1p-23;
  x = x * (x.square().mean(dims, true) + eps).rsqrt();
  return weight.defined() ? x * weight : x;
}
/// Of [N, C, ...]: each of num_groups groups of channels by itself.
inline Tensor group_norm(Tensor x, i64 num_groups, Tensor weight = {},
                         Tensor bias = {}, double eps = 1e-5) {
  detail::Called called("group_norm");
  Shape from = x.sizes();
  if (from.rank < 2 || num_groups < 1 || from[1] % num_groups)
    detail::fail("group_norm: {} has no channels that divide into {} groups",
                 from, num_groups);
  Tensor grouped = x.reshape({from[0], num_groups, -1});
  grouped = detail::standardized(grouped, 2, eps);
  return detail::affine(grouped.reshape(from), weight, bias);
}
inline Tensor group_norm(Tensor x, i64 num_groups, const AffineOptions &o) {
  return group_norm(x, num_groups, o.weight, o.bias, o.eps);
}
inline Tensor group_norm(Tensor x, i64 num_groups, decltype(nullptr)) {
  return group_norm(x, num_groups);
}
inline Tensor instance_norm(Tensor x, Tensor weight = {}, Tensor bias = {},
                            double eps = 1e-5) {
  detail::Called called("instance_norm");
  if (x.dim() < 3)
    detail::fail("instance_norm: [N, C, ...] is wanted, got {}", x.sizes());
  return group_norm(x, x.size(1), weight, bias, eps);
}
/// Of [N, C, ...], each channel by itself: by the statistics of the batch where
/// `training`, which go into the running ones with the weight `momentum` (the
/// unbiased variance, as in PyTorch), else by the running ones.
inline Tensor batch_norm(Tensor x, Buffer &running_mean, Buffer &running_var,
                         Tensor weight = {}, Tensor bias = {},
                         bool training = false, const Operand &momentum = 0.1,
                         double eps = 1e-5) {
  detail::Called called("batch_norm");
  Shape from = x.sizes();
  if (from.rank < 2)
    detail::fail("batch_norm: [N, C, ...] is wanted, got {}", from);
  if (!training) {
    if (!running_mean.defined() || !running_var.defined())
      detail::fail("batch_norm: without running statistics it needs training");
    Tensor scale = (running_var + eps).rsqrt();
    x = (x - detail::along_channels(running_mean, x)) *
        detail::along_channels(scale, x);
    return detail::affine(x, weight, bias);
  }
  Shape dims;
  i64 count = 1;
  for (int i = 0; i < from.rank; ++i)
    if (i != 1) {
      dims.push_back(i);
      count *= from[i];
    }
  if (count < 2)
    detail::fail("batch_norm: a channel of {} has one element; training needs "
                 "more",
                 from);
  // Each is [C], as the running ones are: one kernel makes both.
  Tensor mean = x.mean(dims), by_channel = detail::along_channels(mean, x);
  Tensor var = detail::variance(x, by_channel, dims, false);
  if (running_mean.defined()) {
    double unbiased =
        static_cast<double>(count) / static_cast<double>(count - 1);
    Tensor new_mean = mean.detach(), new_var = var.detach() * unbiased;
    running_mean = running_mean + (new_mean - running_mean) * momentum;
    running_var = running_var + (new_var - running_var) * momentum;
  }
  Tensor scale = (var + eps).rsqrt();
  return detail::affine((x - by_channel) * detail::along_channels(scale, x),
                        weight, bias);
}

/// By the statistics of the batch alone: batch_norm(x, {}, {}, weight, bias,
/// true).
inline Tensor batch_norm(Tensor x, decltype(nullptr), decltype(nullptr),
                         Tensor weight = {}, Tensor bias = {},
                         bool training = false, const Operand &momentum = 0.1,
                         double eps = 1e-5) {
  Buffer mean, var;
  return batch_norm(x, mean, var, weight, bias, training, momentum, eps);
}

struct NormalizeOptions {
  double p = 2;
  i64 dim = 1;
  double eps = 1e-12;
};
/// x / max(|x|_p, eps) along a dim.
inline Tensor normalize(Tensor x, const NormalizeOptions &o = {}) {
  detail::Called called("normalize");
  return x / x.norm(o.p, o.dim, true).clamp(o.eps);
}
inline Tensor normalize(Tensor x, double p, i64 dim = 1, double eps = 1e-12) {
  return normalize(x, NormalizeOptions{p, dim, eps});
}
/// x / (k + alpha mean of x^2)^beta, the mean over `size` channels around each,
/// zeros beyond the first and the last.
inline Tensor local_response_norm(Tensor x, i64 size, double alpha = 1e-4,
                                  double beta = 0.75, double k = 1) {
  detail::Called called("local_response_norm");
  Shape from = x.sizes(), low, high, between;
  if (from.rank < 3 || size < 1)
    detail::fail("local_response_norm: {} with size = {}: [N, C, ...] and at "
                 "least 1 are wanted",
                 from, size);
  for (int i = 0; i < from.rank; ++i) {
    low.push_back(i == 1 ? size / 2 : 0);
    high.push_back(i == 1 ? (size - 1) / 2 : 0);
    between.push_back(0);
  }
  Tensor squares = detail::emit(
      "pad", x.square(),
      {{"low", low}, {"high", high}, {"interior", between}, {"value", 0.0}});
  Tensor sum = squares.narrow(1, 0, from[1]);
  for (i64 i = 1; i < size; ++i)
    sum = sum + squares.narrow(1, i, from[1]);
  return x / (sum * (alpha / static_cast<double>(size)) + k).pow(beta);
}
struct CosineSimilarityOptions {
  i64 dim = 1;
  double eps = 1e-8;
};
/// x1 x2 / (max(|x1|, eps) max(|x2|, eps)) along a dim.
inline Tensor cosine_similarity(Tensor x1, Tensor x2, i64 dim,
                                double eps = 1e-8) {
  detail::Called called("cosine_similarity");
  Tensor a = x1 / x1.norm(2, dim, true).clamp(eps),
         b = x2 / x2.norm(2, dim, true).clamp(eps);
  return (a * b).sum(dim);
}
inline Tensor cosine_similarity(Tensor x1, Tensor x2,
                                const CosineSimilarityOptions &o = {}) {
  return cosine_similarity(x1, x2, o.dim, o.eps);
}
/// |x1 - x2 + eps|_p along the last dim.
inline Tensor pairwise_distance(Tensor x1, Tensor x2, double p = 2,
                                double eps = 1e-6, bool keepdim = false) {
  detail::Called called("pairwise_distance");
  return (x1 - x2 + eps).norm(p, -1, keepdim);
}

} // namespace functional
} // namespace dl::nn
