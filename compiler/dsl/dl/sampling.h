#pragma once
// Images sampled at places that are data, and choices that have a gradient.
#include "functional.h"

namespace dl::nn::functional {

struct GridSampleOptions {
  const char *mode = "bilinear", *padding_mode = "zeros";
  bool align_corners = false;
};

namespace detail {
/// From [-1, 1] to the pixels of a dim, and back inside as padding_mode says.
inline Tensor pixel_of(Tensor x, i64 count, const char *padding,
                       bool align_corners) {
  double size = static_cast<double>(count);
  x = align_corners ? (x + 1) / 2 * (size - 1) : ((x + 1) * size - 1) / 2;
  if (equal(padding, "reflection")) {
    double low = align_corners ? 0 : -0.5,
           span = align_corners ? size - 1 : size;
    if (span == 0)
      return x * 0;
    Tensor far = (x - low).abs(), flips = (far / span).floor().detach();
    Tensor rest = far - flips * span;
    x = where(flips.remainder(2).eq(0), rest + low, span - rest + low);
  }
  return equal(padding, "zeros") ? x : x.clamp(0, size - 1);
}
/// The pixels [N, C, Ho, Wo] at whole places [N, Ho, Wo]; 0 outside.
inline Tensor pixels_at(Tensor image, Tensor x, Tensor y) {
  auto [N, C, H, W] = image.sizes<4>();
  Shape places = x.sizes();
  Tensor inside = x.ge(0)
                      .logical_and(x.le(W - 1))
                      .logical_and(y.ge(0).logical_and(y.le(H - 1)));
  Tensor index = (y.clamp(0, H - 1) * W + x.clamp(0, W - 1)).to(kInt64);
  i64 count = places[1] * places[2];
  Tensor found =
      image.reshape({N, C, H * W})
          .gather(2, index.reshape({N, 1, count}).expand({N, C, count}))
          .reshape({N, C, places[1], places[2]});
  return where(inside.unsqueeze(1), found, 0.0);
}
} // namespace detail

/// input [N, C, H, W] at the places grid [N, Ho, Wo, 2], which are x and y in
/// [-1, 1].
inline Tensor grid_sample(Tensor input, Tensor grid,
                          const GridSampleOptions &o = {}) {
  detail::Called called("grid_sample");
  Shape image = input.sizes(), places = grid.sizes();
  if (image.rank == 5)
    detail::unsupported("grid_sample: volumes {}: not in this version", image);
  if (image.rank != 4 || places.rank != 4 || places[3] != 2 ||
      image[0] != places[0])
    detail::fail("grid_sample: input {} and grid {}; [N, C, H, W] and "
                 "[N, Ho, Wo, 2] are wanted",
                 image, places);
  bool nearest = detail::equal(o.mode, "nearest");
  if (detail::equal(o.mode, "bicubic"))
    detail::unsupported("grid_sample: mode = \"bicubic\": not in this version");
  if (!nearest && !detail::equal(o.mode, "bilinear"))
    detail::fail("grid_sample: mode = \"{}\" is unknown; \"bilinear\" and "
                 "\"nearest\" are",
                 o.mode);
  if (!detail::equal(o.padding_mode, "zeros") &&
      !detail::equal(o.padding_mode, "border") &&
      !detail::equal(o.padding_mode, "reflection"))
    detail::fail("grid_sample: padding_mode = \"{}\" is unknown; \"zeros\", "
                 "\"border\" and \"reflection\" are",
                 o.padding_mode);
  Tensor x = detail::pixel_of(grid.select(3, 0), image[3], o.padding_mode,
                              o.align_corners);
  Tensor y = detail::pixel_of(grid.select(3, 1), image[2], o.padding_mode,
                              o.align_corners);
  if (nearest)
    return detail::pixels_at(input, x.round().detach(), y.round().detach());
  Tensor left = x.floor().detach(), top = y.floor().detach();
  Tensor right = (x - left).unsqueeze(1), below = (y - top).unsqueeze(1);
  Tensor sum =
      detail::pixels_at(input, left, top) * ((1 - right) * (1 - below));
  sum += detail::pixels_at(input, left + 1, top) * (right * (1 - below));
  sum += detail::pixels_at(input, left, top + 1) * ((1 - right) * below);
  return sum + detail::pixels_at(input, left + 1, top + 1) * (right * below);
}

struct AffineGridOptions {
  bool align_corners = false;
};
/// The places [N, H, W, 2] that theta [N, 2, 3] moves those of an image of this
/// size [N, C, H, W] to.
inline Tensor affine_grid(Tensor theta, const Shape &size,
                          AffineGridOptions options = {}) {
  detail::Called called("affine_grid");
  Shape given = theta.sizes();
  if (size.rank == 5)
    detail::unsupported("affine_grid: volumes {}: not in this version", size);
  if (size.rank != 4 || !(given == Shape{size[0], 2, 3}))
    detail::fail("affine_grid: theta {} for size {}; [N, 2, 3] and "
                 "[N, C, H, W] are wanted",
                 given, size);
  auto places = [&](i64 count) {
    if (count == 1)
      return zeros({1});
    double share = static_cast<double>(count - 1) / static_cast<double>(count);
    Tensor even = linspace(-1, 1, count);
    return options.align_corners ? even : even * share;
  };
  i64 H = size[2], W = size[3];
  Tensor x = places(W).view({1, W}).expand({H, W}),
         y = places(H).view({H, 1}).expand({H, W});
  Tensor base = stack({x, y, ones({H, W})}, -1).view({H * W, 3});
  return matmul(base, theta.transpose(1, 2)).view({size[0], H, W, 2});
}
inline Tensor affine_grid(Tensor theta, const Shape &size, bool align_corners) {
  return affine_grid(theta, size, AffineGridOptions{align_corners});
}

struct GumbelSoftmaxOptions {
  double tau = 1;
  bool hard = false;
  double eps = 1e-10; // not used, as in PyTorch
  i64 dim = -1;
};
/// hard: one-hot, with the gradient of what is not.
inline Tensor gumbel_softmax(Tensor logits,
                             const GumbelSoftmaxOptions &o = {}) {
  detail::Called called("gumbel_softmax");
  Tensor gumbels = rand_like(logits).log().neg().log().neg();
  Tensor soft = ((logits + gumbels) / o.tau).softmax(o.dim);
  if (!o.hard)
    return soft;
  Tensor chosen = soft.argmax(o.dim, true);
  Tensor one = zeros_like(soft).scatter(o.dim, chosen, 1.0);
  return one - soft.detach() + soft;
}
inline Tensor gumbel_softmax(Tensor logits, const Operand &tau,
                             bool hard = false) {
  return gumbel_softmax(logits / tau, {.tau = 1, .hard = hard});
}

} // namespace dl::nn::functional
