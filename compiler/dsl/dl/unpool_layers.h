#pragma once
// The layers of unpools.h.
#include "window_layers.h"

namespace dl::nn {

#define DL_UNPOOL(Name, function, Size, Options)                               \
  class Name : public Module {                                                 \
  public:                                                                      \
    Size kernel_size;                                                          \
    Options options;                                                           \
    explicit Name(Size kernel_size, const Options &options = {})               \
        : kernel_size(kernel_size), options(options) {}                        \
    Name(Size kernel_size, Size stride, Size padding = 0)                      \
        : kernel_size(kernel_size) {                                           \
      options.stride = stride, options.padding = padding;                      \
    }                                                                          \
    Tensor operator()(Tensor x, Tensor indices,                                \
                      const Shape &output_size = {}) {                         \
      detail::Scope scope(*this);                                              \
      return forward(x, indices, output_size);                                 \
    }                                                                          \
    Tensor forward(Tensor x, Tensor indices, const Shape &output_size = {}) {  \
      Options given = options;                                                 \
      if (output_size.rank)                                                    \
        given.output_size = output_size;                                       \
      return functional::function(x, indices, kernel_size, given);             \
    }                                                                          \
  }
DL_UNPOOL(MaxUnpool1d, max_unpool1d, i64, MaxUnpool1dOptions);
DL_UNPOOL(MaxUnpool2d, max_unpool2d, Pair, MaxUnpool2dOptions);
#undef DL_UNPOOL

#define DL_LP_POOL(Name, function, Size, Options)                              \
  class Name : public Module {                                                 \
  public:                                                                      \
    double norm_type;                                                          \
    Size kernel_size;                                                          \
    Options options;                                                           \
    Name(double norm_type, Size kernel_size, const Options &options = {})      \
        : norm_type(norm_type), kernel_size(kernel_size), options(options) {}  \
    Name(double norm_type, Size kernel_size, Size stride,                      \
         bool ceil_mode = false)                                               \
        : norm_type(norm_type), kernel_size(kernel_size) {                     \
      options.stride = stride, options.ceil_mode = ceil_mode;                  \
    }                                                                          \
    Tensor forward(Tensor x) {                                                 \
      return functional::function(x, norm_type, kernel_size, options);         \
    }                                                                          \
  }
DL_LP_POOL(LPPool1d, lp_pool1d, i64, LPPool1dOptions);
DL_LP_POOL(LPPool2d, lp_pool2d, Pair, LPPool2dOptions);
DL_LP_POOL(LPPool3d, lp_pool3d, Triple, LPPool3dOptions);
#undef DL_LP_POOL

} // namespace dl::nn
