#pragma once
// The layers of torch.nn, with PyTorch's arguments, defaults and initial
// distributions.
#include "containers.h"
#include "init.h"
#include "parameter_containers.h"

namespace dl::nn {

namespace detail {
/// Uniform in +-1/sqrt(fan_in): kaiming_uniform_(a = sqrt(5)) of PyTorch's
/// layers.
inline Parameter fan_in_uniform(const Shape &shape, i64 fan_in) {
  double bound =
      fan_in > 0 ? 1 / __builtin_sqrt(static_cast<double>(fan_in)) : 0;
  Parameter parameter = zeros(shape);
  return init::uniform_(parameter, -bound, bound);
}
inline void at_least_one(const char *what, const char *name, i64 value) {
  if (value < 1)
    fail("{}: {} = {}; at least 1 is wanted", what, name, value);
}
} // namespace detail

struct LinearOptions {
  bool bias = true;
};

/// All arguments by name: nn::Linear fc{{.in_features = 4, .out_features = 2}}.
struct LinearArguments {
  detail::ByName by_name = {};
  i64 in_features = 0, out_features = 0;
  bool bias = true;
};

class Linear : public Module {
public:
  i64 in_features = 0, out_features = 0;
  Parameter weight, bias;

  /// To be assigned in the constructor of what has it, as others here.
  Linear() = default;
  Linear(i64 in_features, i64 out_features, LinearOptions options = {})
      : in_features(in_features), out_features(out_features) {
    detail::at_least_one("Linear", "in_features", in_features);
    detail::at_least_one("Linear", "out_features", out_features);
    weight = detail::fan_in_uniform({out_features, in_features}, in_features);
    if (options.bias)
      bias = detail::fan_in_uniform({out_features}, in_features);
  }
  explicit Linear(const LinearArguments &o)
      : Linear(o.in_features, o.out_features, LinearOptions{o.bias}) {}
  template <detail::Bool T>
  Linear(i64 in_features, i64 out_features, T bias)
      : Linear(in_features, out_features, LinearOptions{.bias = bias}) {}
  Tensor forward(Tensor x) { return functional::linear(x, weight, bias); }
};

/// Of two inputs: see functional::bilinear.
class Bilinear : public Module {
public:
  i64 in1_features, in2_features, out_features;
  Parameter weight, bias;

  Bilinear(i64 in1_features, i64 in2_features, i64 out_features,
           LinearOptions options = {})
      : in1_features(in1_features), in2_features(in2_features),
        out_features(out_features) {
    detail::at_least_one("Bilinear", "in1_features", in1_features);
    detail::at_least_one("Bilinear", "in2_features", in2_features);
    detail::at_least_one("Bilinear", "out_features", out_features);
    weight = detail::fan_in_uniform({out_features, in1_features, in2_features},
                                    in1_features);
    if (options.bias)
      bias = detail::fan_in_uniform({out_features}, in1_features);
  }
  template <detail::Bool T>
  Bilinear(i64 in1_features, i64 in2_features, i64 out_features, T bias)
      : Bilinear(in1_features, in2_features, out_features,
                 LinearOptions{.bias = bias}) {}
  Tensor forward(Tensor x1, Tensor x2) {
    return functional::bilinear(x1, x2, weight, bias);
  }
};

struct FlattenOptions {
  i64 start_dim = 1, end_dim = -1;
};

class Flatten : public Module {
public:
  FlattenOptions options;
  explicit Flatten(FlattenOptions options = {}) : options(options) {}
  Flatten(i64 start_dim, i64 end_dim = -1) : options{start_dim, end_dim} {}
  Tensor forward(Tensor x) {
    return x.flatten(options.start_dim, options.end_dim);
  }
};

class Unflatten : public Module {
public:
  i64 dim;
  Shape sizes;
  Unflatten(i64 dim, const Shape &unflattened_size)
      : dim(dim), sizes(unflattened_size) {}
  Tensor forward(Tensor x) { return x.unflatten(dim, sizes); }
};

class Identity : public Module {
public:
  Tensor forward(Tensor x) { return x; }
};

struct DropoutArguments {
  detail::ByName by_name = {};
  double p = 0.5;
  bool inplace = false;
};

#define DL_DROPOUT(Name, function)                                             \
  class Name : public Module {                                                 \
  public:                                                                      \
    double p;                                                                  \
    bool inplace;                                                              \
    explicit Name(double p = 0.5, InplaceOptions o = {})                       \
        : p(p), inplace(o.inplace) {}                                          \
    Name(double p, bool inplace) : p(p), inplace(inplace) {}                   \
    explicit Name(const DropoutArguments &o) : p(o.p), inplace(o.inplace) {}   \
    Tensor forward(Tensor x) {                                                 \
      return functional::function(x, p, is_training(), inplace);               \
    }                                                                          \
  }
DL_DROPOUT(Dropout, dropout);
DL_DROPOUT(Dropout1d, dropout1d);
DL_DROPOUT(Dropout2d, dropout2d);
DL_DROPOUT(Dropout3d, dropout3d);
#undef DL_DROPOUT
class AlphaDropout : public Module {
public:
  double p;
  explicit AlphaDropout(double p = 0.5) : p(p) {}
  Tensor forward(Tensor x) {
    return functional::alpha_dropout(x, p, is_training());
  }
};

class ReLU : public Module {
public:
  bool inplace;
  explicit ReLU(InplaceOptions o = {}) : inplace(o.inplace) {}
  template <detail::Bool T> explicit ReLU(T inplace) : inplace(inplace) {}
  Tensor forward(Tensor x) {
    return functional::detail::in_place(x, x.relu(), inplace);
  }
};

class Sigmoid : public Module {
public:
  Tensor forward(Tensor x) { return x.sigmoid(); }
};

class Tanh : public Module {
public:
  Tensor forward(Tensor x) { return x.tanh(); }
};

class SiLU : public Module {
public:
  bool inplace;
  explicit SiLU(InplaceOptions o = {}) : inplace(o.inplace) {}
  template <detail::Bool T> explicit SiLU(T inplace) : inplace(inplace) {}
  Tensor forward(Tensor x) {
    return functional::detail::in_place(x, functional::silu(x), inplace);
  }
};

class GELU : public Module {
public:
  GELUOptions options;
  explicit GELU(GELUOptions options = {}) : options(options) {}
  explicit GELU(const char *approximate) : options{approximate} {}
  Tensor forward(Tensor x) { return functional::gelu(x, options); }
};

/// Of those along one dim.
struct SoftmaxOptions {
  i64 dim = -1;
};

/// PyTorch guesses dim where it is left out; here it is asked for.

class Softmax : public Module {
public:
  i64 dim;
  explicit Softmax(i64 dim) : dim(dim) {}
  explicit Softmax(SoftmaxOptions o) : dim(o.dim) {}
  Tensor forward(Tensor x) { return x.softmax(dim); }
};

class LogSoftmax : public Module {
public:
  i64 dim;
  explicit LogSoftmax(i64 dim) : dim(dim) {}
  explicit LogSoftmax(SoftmaxOptions o) : dim(o.dim) {}
  Tensor forward(Tensor x) { return x.log_softmax(dim); }
};

} // namespace dl::nn
