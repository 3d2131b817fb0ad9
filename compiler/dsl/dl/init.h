#pragma once
// torch.nn.init: sets the initial distribution of a parameter, or of a part of
// one:
//
//   for (auto gate : lstm.get_parameter("weight_hh_l0").data().chunk(4)) {
//     nn::init::orthogonal_(gate);
//   }
#include "module.h"

namespace dl::nn::init {

namespace detail {
using namespace dl::detail;

inline Tensor begin_as(const Tensor &tensor, dl_initial_kind kind, double a,
                       double b, double low = 0, double high = 0) {
  dl_parameter_initial(tensor.id, kind, a, b, low, high);
  return tensor;
}
} // namespace detail

inline Tensor uniform_(const Tensor &tensor, double a = 0, double b = 1) {
  return detail::begin_as(tensor, DL_UNIFORM, a, b);
}
inline Tensor normal_(const Tensor &tensor, double mean = 0, double std = 1) {
  return detail::begin_as(tensor, DL_NORMAL, mean, std);
}
struct UniformOptions {
  dl::detail::ByName by_name = {};
  double a = 0, b = 1;
};
inline Tensor uniform_(const Tensor &tensor, const UniformOptions &o) {
  return uniform_(tensor, o.a, o.b);
}
inline Tensor normal_(const Tensor &tensor, const NormalOptions &o) {
  return normal_(tensor, o.mean, o.std);
}
inline Tensor constant_(const Tensor &tensor, double value) {
  return detail::begin_as(tensor, DL_CONSTANT, value, 0);
}
inline Tensor zeros_(const Tensor &tensor) { return constant_(tensor, 0); }
inline Tensor ones_(const Tensor &tensor) { return constant_(tensor, 1); }

/// trunc_normal_(tensor, {.std = 0.02}).
struct TruncNormalOptions {
  double mean = 0, std = 1, a = -2, b = 2;
};
/// Normal, drawn again where it is not in [a, b], which are no multiples of
/// std.
inline Tensor trunc_normal_(const Tensor &tensor,
                            const TruncNormalOptions &o = {}) {
  if (!(o.std > 0 && o.a < o.b))
    detail::fail(
        "trunc_normal_: std = {} in [{}, {}]; a positive one in bounds "
        "that are some way apart is wanted",
        o.std, o.a, o.b);
  return detail::begin_as(tensor, DL_TRUNCATED, o.mean, o.std, o.a, o.b);
}
inline Tensor trunc_normal_(const Tensor &tensor, double mean, double std = 1,
                            double a = -2, double b = 2) {
  return trunc_normal_(tensor, TruncNormalOptions{mean, std, a, b});
}

namespace detail {
inline void require_rank(const char *what, const Tensor &x, int least,
                         int most) {
  Shape shape = x.sizes();
  if (shape.rank < least || shape.rank > most)
    fail("{}: {} has {} dims; {} to {} are wanted", what, shape, shape.rank,
         least, most);
}
} // namespace detail

/// A matrix with orthonormal rows or columns, whichever are fewer, times gain;
/// all dims but the first count as one.
inline Tensor orthogonal_(const Tensor &tensor, double gain = 1) {
  detail::require_rank("orthogonal_", tensor, 2, Shape::kMaxRank);
  return detail::begin_as(tensor, DL_ORTHOGONAL, gain, 0);
}
/// The identity.
inline Tensor eye_(const Tensor &tensor) {
  detail::require_rank("eye_", tensor, 2, 2);
  return detail::begin_as(tensor, DL_DIRAC, 1, 0);
}
/// A convolution that passes its channels on, in so many groups.
inline Tensor dirac_(const Tensor &tensor, i64 groups = 1) {
  detail::require_rank("dirac_", tensor, 3, 5);
  if (groups < 1 || tensor.size(0) % groups)
    detail::fail("dirac_: groups = {} do not divide {} channels", groups,
                 tensor.size(0));
  return detail::begin_as(tensor, DL_DIRAC, static_cast<double>(groups), 0);
}
/// Normal around 0, but the share `sparsity` of each column is 0.
inline Tensor sparse_(const Tensor &tensor, double sparsity,
                      double std = 0.01) {
  detail::require_rank("sparse_", tensor, 2, 2);
  if (!(sparsity >= 0 && sparsity <= 1))
    detail::fail("sparse_: sparsity = {}; 0 to 1 is wanted", sparsity);
  return detail::begin_as(tensor, DL_SPARSE, sparsity, std);
}

namespace detail {
struct Fans {
  double in, out;
};
inline Fans fans(const char *what, const Tensor &x) {
  Shape shape = x.sizes();
  if (shape.rank < 2)
    fail("{}: {} has less than 2 dims, so no fan-in and fan-out", what, shape);
  double field = 1;
  for (int i = 2; i < shape.rank; ++i)
    field *= static_cast<double>(shape[i]);
  return {static_cast<double>(shape[1]) * field,
          static_cast<double>(shape[0]) * field};
}
} // namespace detail

/// The recommended gain for what follows the layer.
inline double calculate_gain(const char *nonlinearity, double a = 0.01) {
  for (const char *one : {"linear", "conv1d", "conv2d", "conv3d", "sigmoid"})
    if (detail::equal(nonlinearity, one))
      return 1;
  if (detail::equal(nonlinearity, "tanh"))
    return 5.0 / 3;
  if (detail::equal(nonlinearity, "relu"))
    return __builtin_sqrt(2.0);
  if (detail::equal(nonlinearity, "leaky_relu"))
    return __builtin_sqrt(2.0 / (1 + a * a));
  if (detail::equal(nonlinearity, "selu"))
    return 0.75;
  detail::fail(
      "calculate_gain: nonlinearity \"{}\" is unknown; linear, conv1d, "
      "conv2d, conv3d, sigmoid, tanh, relu, leaky_relu and selu are",
      nonlinearity);
}

struct KaimingOptions {
  double a = 0;
  const char *mode = "fan_in";
  const char *nonlinearity = "leaky_relu";
};

namespace detail {
inline double kaiming_std(const char *what, const Tensor &x,
                          const KaimingOptions &options) {
  Fans both = fans(what, x);
  bool in = equal(options.mode, "fan_in");
  if (!in && !equal(options.mode, "fan_out"))
    fail("{}: mode \"{}\" is unknown; \"fan_in\" and \"fan_out\" are", what,
         options.mode);
  return calculate_gain(options.nonlinearity, options.a) /
         __builtin_sqrt(in ? both.in : both.out);
}
} // namespace detail

inline Tensor kaiming_uniform_(const Tensor &tensor,
                               const KaimingOptions &options = {}) {
  double bound = __builtin_sqrt(3.0) *
                 detail::kaiming_std("kaiming_uniform_", tensor, options);
  return uniform_(tensor, -bound, bound);
}
inline Tensor kaiming_uniform_(const Tensor &tensor, double a,
                               const char *mode = "fan_in",
                               const char *nonlinearity = "leaky_relu") {
  return kaiming_uniform_(tensor, KaimingOptions{a, mode, nonlinearity});
}
inline Tensor kaiming_normal_(const Tensor &tensor,
                              const KaimingOptions &options = {}) {
  return normal_(tensor, 0,
                 detail::kaiming_std("kaiming_normal_", tensor, options));
}
inline Tensor kaiming_normal_(const Tensor &tensor, double a,
                              const char *mode = "fan_in",
                              const char *nonlinearity = "leaky_relu") {
  return kaiming_normal_(tensor, KaimingOptions{a, mode, nonlinearity});
}
inline Tensor xavier_uniform_(const Tensor &tensor, double gain = 1) {
  detail::Fans both = detail::fans("xavier_uniform_", tensor);
  double bound = gain * __builtin_sqrt(6.0 / (both.in + both.out));
  return uniform_(tensor, -bound, bound);
}
inline Tensor xavier_normal_(const Tensor &tensor, double gain = 1) {
  detail::Fans both = detail::fans("xavier_normal_", tensor);
  return normal_(tensor, 0, gain * __builtin_sqrt(2.0 / (both.in + both.out)));
}
struct XavierOptions {
  dl::detail::ByName by_name = {};
  double gain = 1;
};
inline Tensor xavier_uniform_(const Tensor &tensor, const XavierOptions &o) {
  return xavier_uniform_(tensor, o.gain);
}
inline Tensor xavier_normal_(const Tensor &tensor, const XavierOptions &o) {
  return xavier_normal_(tensor, o.gain);
}

} // namespace dl::nn::init
