#pragma once
// torch.nn.init: sets the initial distribution of a parameter.
#include "module.h"

namespace dl::nn::init {

inline Parameter &uniform_(Parameter &parameter, double a = 0, double b = 1) {
  dl_parameter_initial(parameter.id, DL_UNIFORM, a, b);
  return parameter;
}
inline Parameter &normal_(Parameter &parameter, double mean = 0,
                          double std = 1) {
  dl_parameter_initial(parameter.id, DL_NORMAL, mean, std);
  return parameter;
}
inline Parameter &constant_(Parameter &parameter, double value) {
  dl_parameter_initial(parameter.id, DL_CONSTANT, value, 0);
  return parameter;
}
inline Parameter &zeros_(Parameter &parameter) {
  return constant_(parameter, 0);
}
inline Parameter &ones_(Parameter &parameter) {
  return constant_(parameter, 1);
}

namespace detail {
using namespace dl::detail;

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

inline Parameter &kaiming_uniform_(Parameter &parameter,
                                   const KaimingOptions &options = {}) {
  double bound = __builtin_sqrt(3.0) *
                 detail::kaiming_std("kaiming_uniform_", parameter, options);
  return uniform_(parameter, -bound, bound);
}
inline Parameter &kaiming_normal_(Parameter &parameter,
                                  const KaimingOptions &options = {}) {
  return normal_(parameter, 0,
                 detail::kaiming_std("kaiming_normal_", parameter, options));
}
inline Parameter &xavier_uniform_(Parameter &parameter, double gain = 1) {
  detail::Fans both = detail::fans("xavier_uniform_", parameter);
  double bound = gain * __builtin_sqrt(6.0 / (both.in + both.out));
  return uniform_(parameter, -bound, bound);
}
inline Parameter &xavier_normal_(Parameter &parameter, double gain = 1) {
  detail::Fans both = detail::fans("xavier_normal_", parameter);
  return normal_(parameter, 0,
                 gain * __builtin_sqrt(2.0 / (both.in + both.out)));
}

} // namespace dl::nn::init
