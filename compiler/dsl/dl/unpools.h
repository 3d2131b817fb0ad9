#pragma once
// Max pools that say where their maxima were, and what takes these back there;
// pools of powers.
#include "function.h"
#include "pools.h"

namespace dl::nn {

/// No size: that which a pool without ceil_mode makes the input from.
struct MaxUnpool1dOptions : detail::ByName {
  i64 stride = 0, padding = 0;
  Shape output_size{};
};
struct MaxUnpool2dOptions : detail::ByName {
  Pair stride = 0, padding = 0;
  Shape output_size{};
};

namespace functional {

/// auto [y, indices] = F::max_pool2d_with_indices(x, 2); an index counts the
/// pixels of its plane, as in PyTorch.
inline ValuesAndIndices
max_pool2d_with_indices(Tensor x, Pair kernel_size,
                        const MaxPool2dOptions &options = {}) {
  detail::Called called("max_pool2d_with_indices");
  Pair k = kernel_size, d = options.dilation, p = options.padding,
       s = options.stride == Pair(0) ? k : options.stride;
  detail::PooledWindows windows =
      detail::windows_of(x, k, s, p, d, options.ceil_mode);
  auto [values, tap] = detail::max_of_taps(windows, k, s, d);
  Tensor row = tap.floor_divide(k.w) * d.h +
               (arange(windows.h) * s.h - p.h).unsqueeze(1),
         column = tap.remainder(k.w) * d.w + (arange(windows.w) * s.w - p.w);
  return {values, row * x.size(3) + column};
}
inline ValuesAndIndices
max_pool1d_with_indices(Tensor x, i64 kernel_size,
                        const MaxPool1dOptions &options = {}) {
  detail::Called called("max_pool1d_with_indices");
  detail::require_images("max_pool1d_with_indices", x, 3,
                         "[batch,channels,length]");
  i64 stride = options.stride ? options.stride : kernel_size;
  auto [values, indices] =
      max_pool2d_with_indices(x.unsqueeze(2), {1, kernel_size},
                              {.stride = {1, stride},
                               .padding = {0, options.padding},
                               .dilation = {1, options.dilation},
                               .ceil_mode = options.ceil_mode});
  return {values.squeeze(2), indices.squeeze(2)};
}

namespace detail {
/// Of windows that overlap several elements may go to one place: as in PyTorch
/// the last one is there, and each has the gradient of the place.
struct Unpooled : autograd::Function<Unpooled> {
  static Tensor forward(autograd::AutogradContext *ctx, Tensor x,
                        Tensor indices, i64 size) {
    ctx->save_for_backward({indices});
    return zeros({x.size(0), x.size(1), size}).scatter(2, indices, x);
  }
  static TensorList backward(autograd::AutogradContext *ctx, TensorList grads) {
    return {grads[0].gather(2, ctx->get_saved_variables()[0]), {}, {}};
  }
};
} // namespace detail

/// Zeros with each element of x where its index says.
inline Tensor max_unpool2d(Tensor x, Tensor indices, Pair kernel_size,
                           const MaxUnpool2dOptions &options = {}) {
  detail::Called called("max_unpool2d");
  detail::require_images("max_unpool2d", x, 4, "[batch,channels,h,w]");
  Shape from = x.sizes(), size = options.output_size;
  if (indices.sizes() != from)
    detail::fail("max_unpool2d: {} has other sizes than the indices {}", from,
                 indices.sizes());
  Pair k = kernel_size, p = options.padding,
       s = options.stride == Pair(0) ? k : options.stride;
  if (size.rank == 0)
    size = {(from[2] - 1) * s.h - 2 * p.h + k.h,
            (from[3] - 1) * s.w - 2 * p.w + k.w};
  if (size.rank < 2)
    detail::fail("max_unpool2d: output_size {}; a height and a width are "
                 "wanted",
                 size);
  i64 h = size[-2], w = size[-1];
  return detail::Unpooled::apply(x.flatten(2), indices.flatten(2), h * w)
      .reshape({from[0], from[1], h, w});
}
inline Tensor max_unpool1d(Tensor x, Tensor indices, i64 kernel_size,
                           const MaxUnpool1dOptions &options = {}) {
  detail::Called called("max_unpool1d");
  detail::require_images("max_unpool1d", x, 3, "[batch,channels,length]");
  MaxUnpool2dOptions planes;
  planes.stride = {1, options.stride ? options.stride : kernel_size};
  planes.padding = {0, options.padding};
  if (options.output_size.rank)
    planes.output_size = {1, options.output_size[-1]};
  return max_unpool2d(x.unsqueeze(2), indices.unsqueeze(2), {1, kernel_size},
                      planes)
      .squeeze(2);
}

/// In PyTorch's positions.
#define DL_POSITIONS(unpool, Size, Options)                                    \
  inline Tensor unpool(Tensor x, Tensor indices, Size kernel_size,             \
                       Size stride, Size padding = 0,                          \
                       const Shape &output_size = {}) {                        \
    Options options;                                                           \
    options.stride = stride, options.padding = padding;                        \
    options.output_size = output_size;                                         \
    return unpool(x, indices, kernel_size, options);                           \
  }
DL_POSITIONS(max_unpool1d, i64, MaxUnpool1dOptions)
DL_POSITIONS(max_unpool2d, Pair, MaxUnpool2dOptions)
#undef DL_POSITIONS

namespace detail {
/// The root of the sum of a window's powers: of so many elements, whose mean
/// `average` gives.
template <class Average>
inline Tensor root_of_powers(const char *what, const Tensor &x,
                             double norm_type, i64 count,
                             const Average &average) {
  if (norm_type == 0)
    fail("{}: norm_type is 0, which has no root", what);
  return (average(x.pow(norm_type)) * static_cast<double>(count))
      .pow(1 / norm_type);
}
} // namespace detail

/// (sum x^norm_type)^(1/norm_type) of each window. As in PyTorch the gradient
/// is not finite where a sum is 0, and of negative elements powers that are no
/// whole numbers are NaN.
#define DL_LP_POOL(pool, avg_pool, Size, count)                                \
  inline Tensor pool(Tensor x, double norm_type, Size kernel_size,             \
                     Size stride = 0, bool ceil_mode = false) {                \
    detail::Called called(#pool);                                              \
    auto average = [&](const Tensor &powers) {                                 \
      return avg_pool(powers, kernel_size,                                     \
                      {.stride = stride, .ceil_mode = ceil_mode});             \
    };                                                                         \
    return detail::root_of_powers(#pool, x, norm_type, count, average);        \
  }
DL_LP_POOL(lp_pool1d, avg_pool1d, i64, kernel_size)
DL_LP_POOL(lp_pool2d, avg_pool2d, Pair, kernel_size.h *kernel_size.w)
DL_LP_POOL(lp_pool3d, avg_pool3d, Triple,
           kernel_size.d *kernel_size.h *kernel_size.w)
#undef DL_LP_POOL

} // namespace functional

/// The last ones by name.
struct LPPool1dOptions : detail::ByName {
  i64 stride = 0;
  bool ceil_mode = false;
};
struct LPPool2dOptions : detail::ByName {
  Pair stride = 0;
  bool ceil_mode = false;
};
struct LPPool3dOptions : detail::ByName {
  Triple stride = 0;
  bool ceil_mode = false;
};

namespace functional {
#define DL_KEYWORDS(pool, Size, Options)                                       \
  inline Tensor pool(Tensor x, double norm_type, Size kernel_size,             \
                     Options options) {                                        \
    return pool(x, norm_type, kernel_size, options.stride, options.ceil_mode); \
  }
DL_KEYWORDS(lp_pool1d, i64, LPPool1dOptions)
DL_KEYWORDS(lp_pool2d, Pair, LPPool2dOptions)
DL_KEYWORDS(lp_pool3d, Triple, LPPool3dOptions)
#undef DL_KEYWORDS
} // namespace functional

} // namespace dl::nn
