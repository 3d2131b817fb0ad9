#pragma once
// The layers of torch.nn that normalise. Weights begin as ones, biases as
// zeros.
#include "activation_layers.h"

namespace dl::nn {

class LayerNorm : public Module {
public:
  Shape normalized_shape;
  LayerNormOptions options;
  Parameter weight, bias;

  LayerNorm() = default;
  explicit LayerNorm(const Dims &normalized_shape,
                     LayerNormOptions options = {})
      : normalized_shape(normalized_shape), options(options) {
    if (options.elementwise_affine)
      weight = ones(normalized_shape);
    if (options.elementwise_affine && options.bias)
      bias = zeros(normalized_shape);
  }
  LayerNorm(const Dims &normalized_shape, double eps,
            bool elementwise_affine = true, bool bias = true)
      : LayerNorm(normalized_shape, {eps, elementwise_affine, bias}) {}
  LayerNorm(const Dims &normalized_shape, double eps, LayerNormOptions o)
      : LayerNorm(normalized_shape, (o.eps = eps, o)) {}
  Tensor forward(Tensor x) {
    return functional::layer_norm(x, normalized_shape, weight, bias,
                                  options.eps);
  }
};

class RMSNorm : public Module {
public:
  Shape normalized_shape;
  RMSNormOptions options;
  Parameter weight;

  RMSNorm() = default;
  explicit RMSNorm(const Dims &normalized_shape, RMSNormOptions options = {})
      : normalized_shape(normalized_shape), options(options) {
    if (options.elementwise_affine)
      weight = ones(normalized_shape);
  }
  RMSNorm(const Dims &normalized_shape, double eps,
          bool elementwise_affine = true)
      : RMSNorm(normalized_shape, {eps, elementwise_affine}) {}
  Tensor forward(Tensor x) {
    return functional::rms_norm(x, normalized_shape, weight, options.eps);
  }
};

class GroupNorm : public Module {
public:
  i64 num_groups = 0, num_channels = 0;
  GroupNormOptions options;
  Parameter weight, bias;

  GroupNorm() = default;
  GroupNorm(i64 num_groups, i64 num_channels, GroupNormOptions options = {})
      : num_groups(num_groups), num_channels(num_channels), options(options) {
    if (num_groups < 1 || num_channels < 1 || num_channels % num_groups)
      detail::fail("GroupNorm: {} channels do not divide into {} groups",
                   num_channels, num_groups);
    if (options.affine) {
      weight = ones({num_channels});
      bias = zeros({num_channels});
    }
  }
  GroupNorm(i64 num_groups, i64 num_channels, double eps, bool affine = true)
      : GroupNorm(num_groups, num_channels, {eps, affine}) {}
  GroupNorm(i64 num_groups, i64 num_channels, double eps, GroupNormOptions o)
      : GroupNorm(num_groups, num_channels, (o.eps = eps, o)) {}
  Tensor forward(Tensor x) {
    return functional::group_norm(x, num_groups, weight, bias, options.eps);
  }
};

/// Without running statistics: PyTorch's default. `momentum` is theirs.
struct InstanceNormOptions {
  double eps = 1e-5, momentum = 0.1;
  bool affine = false, track_running_stats = false;
};

namespace detail {
/// Each channel of each item by its own mean and variance.
template <int Rank> class InstanceNorm : public Module {
public:
  i64 num_features = 0;
  InstanceNormOptions options;
  Parameter weight, bias;

  InstanceNorm() = default;
  explicit InstanceNorm(i64 num_features, InstanceNormOptions options = {})
      : num_features(num_features), options(options) {
    if (num_features < 1)
      fail("InstanceNorm{}d: {} features; at least 1 is wanted", Rank - 2,
           num_features);
    if (options.track_running_stats)
      unsupported("InstanceNorm{}d: track_running_stats: not in this version; "
                  "each item is normalised by its own statistics",
                  Rank - 2);
    if (options.affine) {
      weight = ones({num_features});
      bias = zeros({num_features});
    }
  }
  InstanceNorm(i64 num_features, double eps, double momentum = 0.1,
               bool affine = false, bool track_running_stats = false)
      : InstanceNorm(num_features,
                     {eps, momentum, affine, track_running_stats}) {}
  InstanceNorm(i64 num_features, double eps, InstanceNormOptions o)
      : InstanceNorm(num_features, (o.eps = eps, o)) {}
  Tensor forward(Tensor x) {
    if (x.dim() != Rank || x.size(1) != num_features)
      fail("InstanceNorm{}d: {} dims with {} channels are wanted, got {}",
           Rank - 2, Rank, num_features, x.sizes());
    return functional::instance_norm(x, weight, bias, options.eps);
  }
};
} // namespace detail

class InstanceNorm1d : public detail::InstanceNorm<3> {
public:
  using InstanceNorm::InstanceNorm;
};
class InstanceNorm2d : public detail::InstanceNorm<4> {
public:
  using InstanceNorm::InstanceNorm;
};
class InstanceNorm3d : public detail::InstanceNorm<5> {
public:
  using InstanceNorm::InstanceNorm;
};

namespace detail {
/// In p.train() it normalises by the statistics of the batch, of all its items
/// on all devices, and keeps running ones, by which p.eval() normalises.
template <int Least, int Most> class BatchNorm : public Module {
public:
  i64 num_features = 0;
  /// May be set: with a momentum of 0 running statistics stay as they are.
  double eps = 1e-5, momentum = 0.1;
  bool affine = true, track_running_stats = true;
  /// The options' momentum is 0, PyTorch's None: means of all batches.
  bool is_cumulative = false;
  Parameter weight, bias;
  Buffer running_mean, running_var, num_batches_tracked;

  BatchNorm() = default;
  explicit BatchNorm(i64 num_features, BatchNormOptions options = {})
      : num_features(num_features), eps(options.eps),
        momentum(options.momentum), affine(options.affine),
        track_running_stats(options.track_running_stats),
        is_cumulative(options.momentum == 0) {
    at_least_one("BatchNorm", "num_features", num_features);
    if (affine) {
      weight = ones({num_features});
      bias = zeros({num_features});
    }
    if (track_running_stats) {
      running_mean = zeros({num_features});
      running_var = ones({num_features});
      num_batches_tracked = zeros({}, kInt64);
    }
  }
  BatchNorm(i64 num_features, double eps, double momentum = 0.1,
            bool affine = true, bool track_running_stats = true)
      : BatchNorm(num_features, {eps, momentum, affine, track_running_stats}) {}
  BatchNorm(i64 num_features, double eps, BatchNormOptions o)
      : BatchNorm(num_features, (o.eps = eps, o)) {}
  Tensor forward(Tensor x) {
    int rank = x.dim();
    if (rank < Least || rank > Most)
      fail("BatchNorm{}d: the input {} has {} dims", Most - 2, x.sizes(), rank);
    if (x.size(1) != num_features)
      fail("BatchNorm{}d: the input {} has {} channels, the layer expects {}",
           Most - 2, x.sizes(), x.size(1), num_features);
    bool training = is_training();
    Operand share = momentum;
    if (training && track_running_stats) {
      num_batches_tracked = num_batches_tracked + 1;
      if (is_cumulative)
        share = num_batches_tracked.to(kFloat).reciprocal();
    }
    return functional::batch_norm(x, running_mean, running_var, weight, bias,
                                  training || !track_running_stats, share, eps);
  }
};
} // namespace detail

struct LocalResponseNormOptions {
  double alpha = 1e-4, beta = 0.75, k = 1;
};
class LocalResponseNorm : public Module {
public:
  i64 size;
  LocalResponseNormOptions options;
  explicit LocalResponseNorm(i64 size, LocalResponseNormOptions options = {})
      : size(size), options(options) {}
  LocalResponseNorm(i64 size, double alpha, double beta = 0.75, double k = 1)
      : LocalResponseNorm(size, {alpha, beta, k}) {}
  Tensor forward(Tensor x) {
    return functional::local_response_norm(x, size, options.alpha, options.beta,
                                           options.k);
  }
};

/// Of [N, C] or [N, C, L].
class BatchNorm1d : public detail::BatchNorm<2, 3> {
public:
  using BatchNorm::BatchNorm;
};
/// Of [N, C, H, W].
class BatchNorm2d : public detail::BatchNorm<4, 4> {
public:
  using BatchNorm::BatchNorm;
};
/// Of [N, C, D, H, W].
class BatchNorm3d : public detail::BatchNorm<5, 5> {
public:
  using BatchNorm::BatchNorm;
};

} // namespace dl::nn
