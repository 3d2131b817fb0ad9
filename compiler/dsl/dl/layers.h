#pragma once
// The layers of torch.nn, with PyTorch's arguments, defaults and initial
// distributions.
#include "containers.h"
#include "init.h"

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

class Linear : public Module {
public:
  i64 in_features, out_features;
  Parameter weight, bias;

  Linear(i64 in_features, i64 out_features, LinearOptions options = {})
      : in_features(in_features), out_features(out_features) {
    detail::at_least_one("Linear", "in_features", in_features);
    detail::at_least_one("Linear", "out_features", out_features);
    weight = detail::fan_in_uniform({out_features, in_features}, in_features);
    if (options.bias)
      bias = detail::fan_in_uniform({out_features}, in_features);
  }
  Tensor forward(Tensor x) { return functional::linear(x, weight, bias); }
};

namespace detail {
/// The weight [first, second / groups, kernel...] of a convolution, and its
/// bias; its fan-in is all that is behind the first dim.
template <class Convolution>
void make_convolution(const char *what, Convolution &made, i64 first,
                      i64 second, const Shape &kernel) {
  i64 groups = made.options.groups;
  at_least_one(what, "in_channels", made.in_channels);
  at_least_one(what, "out_channels", made.out_channels);
  at_least_one(what, "groups", groups);
  if (made.in_channels % groups)
    fail("{}: in_channels = {} must be divisible by groups = {}", what,
         made.in_channels, groups);
  if (made.out_channels % groups)
    fail("{}: out_channels = {} must be divisible by groups = {}", what,
         made.out_channels, groups);
  Shape shape{first, second / groups};
  i64 fan_in = second / groups;
  for (int i = 0; i < kernel.rank; ++i) {
    at_least_one(what, "kernel_size", kernel[i]);
    shape.push_back(kernel[i]);
    fan_in *= kernel[i];
  }
  made.weight = fan_in_uniform(shape, fan_in);
  if (made.options.bias)
    made.bias = fan_in_uniform({made.out_channels}, fan_in);
}
} // namespace detail

class Conv2d : public Module {
public:
  i64 in_channels, out_channels;
  Pair kernel_size;
  Conv2dOptions options;
  Parameter weight, bias;

  Conv2d(i64 in_channels, i64 out_channels, Pair kernel_size,
         const Conv2dOptions &options = {})
      : in_channels(in_channels), out_channels(out_channels),
        kernel_size(kernel_size), options(options) {
    detail::make_convolution("Conv2d", *this, out_channels, in_channels,
                             {kernel_size.h, kernel_size.w});
  }
  /// In PyTorch's positions.
  Conv2d(i64 in_channels, i64 out_channels, Pair kernel_size, i64 stride,
         Padding padding = {}, Pair dilation = 1, i64 groups = 1,
         bool bias = true)
      : Conv2d(in_channels, out_channels, kernel_size,
               Conv2dOptions{stride, padding, dilation, groups, bias}) {}
  Conv2d(i64 in_channels, i64 out_channels, Pair kernel_size, list<i64> stride,
         Padding padding = {}, Pair dilation = 1, i64 groups = 1,
         bool bias = true)
      : Conv2d(in_channels, out_channels, kernel_size,
               Conv2dOptions{detail::pair("Conv2d", stride), padding, dilation,
                             groups, bias}) {}
  Tensor forward(Tensor x) {
    return functional::conv2d(x, weight, bias, options);
  }
};

class MaxPool2d : public Module {
public:
  Pair kernel_size;
  MaxPool2dOptions options;
  explicit MaxPool2d(Pair kernel_size, const MaxPool2dOptions &options = {})
      : kernel_size(kernel_size), options(options) {}
  explicit MaxPool2d(Pair kernel_size, i64 stride, Pair padding = 0)
      : kernel_size(kernel_size), options{stride, padding} {}
  explicit MaxPool2d(Pair kernel_size, list<i64> stride, Pair padding = 0)
      : kernel_size(kernel_size),
        options{detail::pair("MaxPool2d", stride), padding} {}
  Tensor forward(Tensor x) {
    return functional::max_pool2d(x, kernel_size, options);
  }
};

class AvgPool2d : public Module {
public:
  Pair kernel_size;
  AvgPool2dOptions options;
  explicit AvgPool2d(Pair kernel_size, const AvgPool2dOptions &options = {})
      : kernel_size(kernel_size), options(options) {}
  explicit AvgPool2d(Pair kernel_size, i64 stride, Pair padding = 0)
      : kernel_size(kernel_size), options{stride, padding} {}
  explicit AvgPool2d(Pair kernel_size, list<i64> stride, Pair padding = 0)
      : kernel_size(kernel_size),
        options{detail::pair("AvgPool2d", stride), padding} {}
  Tensor forward(Tensor x) {
    return functional::avg_pool2d(x, kernel_size, options);
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

class Dropout : public Module {
public:
  double p;
  explicit Dropout(double p = 0.5, InplaceOptions = {}) : p(p) {}
  Dropout(double p, bool) : p(p) {}
  Tensor forward(Tensor x) { return functional::dropout(x, p); }
};

class Dropout2d : public Module {
public:
  double p;
  explicit Dropout2d(double p = 0.5, InplaceOptions = {}) : p(p) {}
  Dropout2d(double p, bool) : p(p) {}
  Tensor forward(Tensor x) { return functional::dropout2d(x, p); }
};

class ReLU : public Module {
public:
  explicit ReLU(InplaceOptions = {}) {}
  template <detail::Bool T> explicit ReLU(T) {}
  Tensor forward(Tensor x) { return x.relu(); }
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
  explicit SiLU(InplaceOptions = {}) {}
  template <detail::Bool T> explicit SiLU(T) {}
  Tensor forward(Tensor x) { return functional::silu(x); }
};

class GELU : public Module {
public:
  GELUOptions options;
  explicit GELU(GELUOptions options = {}) : options(options) {}
  explicit GELU(const char *approximate) : options{approximate} {}
  Tensor forward(Tensor x) { return functional::gelu(x, options); }
};

/// PyTorch guesses dim where it is left out; here it is asked for.
class Softmax : public Module {
public:
  i64 dim;
  explicit Softmax(i64 dim) : dim(dim) {}
  Tensor forward(Tensor x) { return x.softmax(dim); }
};

class LogSoftmax : public Module {
public:
  i64 dim;
  explicit LogSoftmax(i64 dim) : dim(dim) {}
  Tensor forward(Tensor x) { return x.log_softmax(dim); }
};

} // namespace dl::nn
