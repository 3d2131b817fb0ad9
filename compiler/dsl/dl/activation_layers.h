#pragma once
// The activations of torch.nn beyond those in layers.h.
#include "layers.h"

namespace dl::nn {

#define DL_ACTIVATION(Layer, function)                                         \
  class Layer : public Module {                                                \
  public:                                                                      \
    bool inplace;                                                              \
    explicit Layer(InplaceOptions o = {}) : inplace(o.inplace) {}              \
    template <detail::Bool T> explicit Layer(T inplace) : inplace(inplace) {}  \
    Tensor forward(Tensor x) {                                                 \
      Tensor y = functional::function(x);                                      \
      return functional::detail::in_place(x, y, inplace);                      \
    }                                                                          \
  };
DL_ACTIVATION(ReLU6, relu6)
DL_ACTIVATION(SELU, selu)
DL_ACTIVATION(Mish, mish)
DL_ACTIVATION(Hardswish, hardswish)
DL_ACTIVATION(Hardsigmoid, hardsigmoid)
DL_ACTIVATION(Softsign, softsign)
DL_ACTIVATION(LogSigmoid, logsigmoid)
DL_ACTIVATION(Tanhshrink, tanhshrink)
#undef DL_ACTIVATION

/// Those with one number.
#define DL_ACTIVATION(Layer, function, Options, number, standard)              \
  class Layer : public Module {                                                \
  public:                                                                      \
    double number;                                                             \
    bool inplace;                                                              \
    explicit Layer(double number = standard, InplaceOptions o = {})            \
        : number(number), inplace(o.inplace) {}                                \
    Layer(double number, bool inplace) : number(number), inplace(inplace) {}   \
    explicit Layer(functional::Options o)                                      \
        : number(o.number), inplace(o.inplace) {}                              \
    Tensor forward(Tensor x) {                                                 \
      Tensor y = functional::function(x, number);                              \
      return functional::detail::in_place(x, y, inplace);                      \
    }                                                                          \
  };
DL_ACTIVATION(LeakyReLU, leaky_relu, LeakyReLUOptions, negative_slope, 0.01)
DL_ACTIVATION(ELU, elu, ELUOptions, alpha, 1)
DL_ACTIVATION(CELU, celu, ELUOptions, alpha, 1)
DL_ACTIVATION(Hardshrink, hardshrink, ShrinkOptions, lambd, 0.5)
DL_ACTIVATION(Softshrink, softshrink, ShrinkOptions, lambd, 0.5)
#undef DL_ACTIVATION

/// Those with two.
#define DL_ACTIVATION(Layer, function, Options, first, one, second, two)       \
  class Layer : public Module {                                                \
  public:                                                                      \
    double first, second;                                                      \
    bool inplace;                                                              \
    explicit Layer(double first = one, double second = two,                    \
                   InplaceOptions o = {})                                      \
        : first(first), second(second), inplace(o.inplace) {}                  \
    Layer(double first, double second, bool inplace)                           \
        : first(first), second(second), inplace(inplace) {}                    \
    explicit Layer(functional::Options o)                                      \
        : first(o.first), second(o.second), inplace(o.inplace) {}              \
    Tensor forward(Tensor x) {                                                 \
      Tensor y = functional::function(x, first, second);                       \
      return functional::detail::in_place(x, y, inplace);                      \
    }                                                                          \
  };
DL_ACTIVATION(Hardtanh, hardtanh, HardtanhOptions, min_val, -1, max_val, 1)
DL_ACTIVATION(Softplus, softplus, SoftplusOptions, beta, 1, threshold, 20)
#undef DL_ACTIVATION

/// In training steps with random slopes, else with the middle one.
class RReLU : public Module {
public:
  double lower, upper;
  bool inplace;
  explicit RReLU(double lower = 1.0 / 8, double upper = 1.0 / 3,
                 InplaceOptions o = {})
      : lower(lower), upper(upper), inplace(o.inplace) {}
  RReLU(double lower, double upper, bool inplace)
      : lower(lower), upper(upper), inplace(inplace) {}
  explicit RReLU(functional::RReLUOptions o)
      : lower(o.lower), upper(o.upper), inplace(o.inplace) {}
  Tensor forward(Tensor x) {
    return functional::rrelu(x, lower, upper, dl_is_training(), inplace);
  }
};

class Threshold : public Module {
public:
  double threshold, value;
  bool inplace;
  Threshold(double threshold, double value, InplaceOptions o = {})
      : Threshold(threshold, value, o.inplace) {}
  Threshold(double threshold, double value, bool inplace)
      : threshold(threshold), value(value), inplace(inplace) {}
  Tensor forward(Tensor x) {
    Tensor y = functional::threshold(x, threshold, value);
    return functional::detail::in_place(x, y, inplace);
  }
};

class GLU : public Module {
public:
  i64 dim;
  explicit GLU(i64 dim = -1) : dim(dim) {}
  explicit GLU(SoftmaxOptions o) : dim(o.dim) {}
  Tensor forward(Tensor x) { return functional::glu(x, dim); }
};

class Softmin : public Module {
public:
  i64 dim;
  explicit Softmin(i64 dim) : dim(dim) {}
  explicit Softmin(SoftmaxOptions o) : dim(o.dim) {}
  Tensor forward(Tensor x) { return functional::softmin(x, dim); }
};

struct PReLUOptions {
  i64 num_parameters = 1;
  double init = 0.25;
};
/// `weight` is trained: one slope, or num_parameters of them, one a channel.
class PReLU : public Module {
public:
  Parameter weight;
  explicit PReLU(i64 num_parameters = 1, double init = 0.25)
      : weight(full({num_parameters}, init)) {}
  explicit PReLU(PReLUOptions o) : PReLU(o.num_parameters, o.init) {}
  Tensor forward(Tensor x) { return functional::prelu(x, weight); }
};

class CosineSimilarity : public Module {
public:
  i64 dim;
  double eps;
  explicit CosineSimilarity(i64 dim = 1, double eps = 1e-8)
      : dim(dim), eps(eps) {}
  Tensor forward(Tensor x1, Tensor x2) {
    return functional::cosine_similarity(x1, x2, dim, eps);
  }
};

class PairwiseDistance : public Module {
public:
  double p, eps;
  bool keepdim;
  explicit PairwiseDistance(double p = 2, double eps = 1e-6,
                            bool keepdim = false)
      : p(p), eps(eps), keepdim(keepdim) {}
  Tensor forward(Tensor x1, Tensor x2) {
    return functional::pairwise_distance(x1, x2, p, eps, keepdim);
  }
};

} // namespace dl::nn
