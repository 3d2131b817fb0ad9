#pragma once
// Images of another size, and rows of a table.
#include "windows.h"

namespace dl::nn {

/// A factor for all dims, or one for each: 2, {2, 1.5}. 0 stands for None.
struct Scales {
  double values[3]{};
  int count = 0;
  Scales() = default;
  template <dl::detail::Number T> Scales(T all) {
    values[0] = static_cast<double>(all);
    count = 1;
  }
  Scales(list<double> each) {
    for (double value : each)
      if (count < 3)
        values[count++] = value;
  }
};

/// Either `size` or `scale_factor`; mode "nearest", "nearest-exact", "linear",
/// "bilinear", "bicubic", "trilinear" or "area". With antialias a pixel of a
/// smaller image is what "bilinear" or "bicubic" weigh of all that it covers.
struct InterpolateOptions : detail::ByName {
  Dims size = Shape();
  Scales scale_factor = {};
  const char *mode = "nearest";
  bool align_corners = false, antialias = false;
};

namespace functional {

namespace detail {

/// Where the pixels of one dim come from, in PyTorch's arithmetic: by `scale`
/// old pixels for a new one.
struct Resized {
  int dim;
  i64 from, to;
  double scale;
};

/// PyTorch rounds a place times the scale to f32, whatever the data are: for
/// 7 old pixels a 3 new ones, place 3 is 3 * 2.33333325 = 7. A scale that needs
/// no rounding for the same places is right in f64 as well.
inline float scale_of_places(const Resized &r, float offset) {
  float scale = static_cast<float>(r.scale), best = scale;
  for (int tries = 0; tries < 4; ++tries) {
    bool same = true;
    for (i64 i = 0; i < r.to && same; ++i) {
      float place = static_cast<float>(i) + offset;
      float wanted = __builtin_floorf(place * scale);
      same = __builtin_floorf(place * best) == wanted &&
             __builtin_floor(static_cast<double>(place) *
                             static_cast<double>(best)) ==
                 static_cast<double>(wanted);
    }
    if (same)
      return best;
    best = __builtin_nextafterf(best, __builtin_inff());
  }
  return scale;
}

/// That of the old pixel which the new one's corner falls on, or exactly its
/// middle.
inline Tensor nearest(const Tensor &x, const Resized &r, bool exact) {
  float offset = exact ? 0.5f : 0;
  if (r.to % r.from == 0 && r.to / r.from <= 8 &&
      r.scale * static_cast<double>(r.to) == static_cast<double>(r.from))
    return x.repeat_interleave(r.to / r.from, r.dim);
  Tensor place = arange(0, r.to, 1, {.dtype = kFloat32})
                     .add(static_cast<double>(offset))
                     .mul(static_cast<double>(scale_of_places(r, offset)))
                     .floor()
                     .to(kInt64)
                     .minimum(r.from - 1);
  return gathered(x, r.dim, along(place, r.dim, x.dim()));
}

/// Old pixels for a new one.
inline double scale_between(const Resized &r, bool corners) {
  if (!corners)
    return r.scale;
  return r.to > 1
             ? static_cast<double>(r.from - 1) / static_cast<double>(r.to - 1)
             : 0;
}

inline Tensor linear_along(const Tensor &x, const Resized &r, bool corners) {
  Tensor i = arange(0, r.to, 1, {.dtype = x.dtype()});
  double scale = scale_between(r, corners);
  Tensor at =
      corners ? i.mul(scale) : i.add(0.5).mul(scale).sub(0.5).maximum(0.0);
  Tensor first = at.floor().to(kInt64).minimum(r.from - 1);
  Tensor second = first.add(1).minimum(r.from - 1);
  int rank = x.dim();
  Tensor share = along(at - first.to(x.dtype()), r.dim, rank);
  return gathered(x, r.dim, along(first, r.dim, rank)) * (1.0 - share) +
         gathered(x, r.dim, along(second, r.dim, rank)) * share;
}
/// Keys' cubic convolution with a = -0.75, as in PyTorch; beyond its borders
/// the image goes on as it ends.
inline Tensor cubic_along(const Tensor &x, const Resized &r, bool corners) {
  constexpr double a = -0.75;
  Tensor i = arange(0, r.to, 1, {.dtype = x.dtype()});
  double scale = scale_between(r, corners);
  Tensor at = corners ? i.mul(scale) : i.add(0.5).mul(scale).sub(0.5);
  Tensor first = at.floor(), t = at - first, sum;
  auto near = [](const Tensor &d) {
    return ((a + 2) * d - (a + 3)) * d * d + 1.0;
  };
  auto far = [](const Tensor &d) {
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  };
  Tensor weights[] = {far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)};
  for (int tap = 0; tap < 4; ++tap) {
    Tensor place = first.to(kInt64).add(tap - 1).maximum(0).minimum(r.from - 1);
    Tensor part = gathered(x, r.dim, along(place, r.dim, x.dim())) *
                  along(weights[tap], r.dim, x.dim());
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

/// The weights [to, from] of a triangle, or of Keys' cubic with a = -0.5, as
/// wide as a new pixel is in old ones; those of one pixel add up to 1.
inline Tensor antialiased_along(const Tensor &x, const Resized &r, bool corners,
                                bool cubic) {
  double scale = scale_between(r, corners), wide = scale > 1 ? scale : 1,
         support = (cubic ? 2 : 1) * wide;
  DType dtype = x.dtype();
  Tensor centre =
      arange(0, r.to, 1, {.dtype = dtype}).add(0.5).mul(scale).unsqueeze(1);
  Tensor pixel = arange(r.from);
  Tensor first = (centre - support + 0.5).to(kInt64).clamp_min(0),
         end = (centre + support + 0.5).to(kInt64).clamp_max(r.from);
  Tensor d = ((pixel.to(dtype) - centre + 0.5) / wide).abs();
  Tensor weight = (1.0 - d).clamp_min(0.0);
  if (cubic) {
    constexpr double a = -0.5;
    Tensor near = ((a + 2) * d - (a + 3)) * d * d + 1.0,
           far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    weight = where(d.lt(1), near, where(d.lt(2), far, 0.0));
  }
  weight = where(pixel.ge(first).logical_and(pixel.lt(end)), weight, 0.0);
  weight = weight / weight.sum(1, true);
  return x.movedim(r.dim, -1).matmul(weight.t()).movedim(-1, r.dim);
}

inline Tensor adaptive_avg(const char *what, Tensor x, const Shape &sizes);
} // namespace detail

/// [N,C,...] with other sizes behind the channels.
inline Tensor interpolate(Tensor x, const InterpolateOptions &options) {
  detail::Called called("interpolate");
  Shape from = x.sizes();
  int dims = from.rank - 2, sizes = options.size.rank,
      scales = options.scale_factor.count;
  const char *linear = dims == 1   ? "linear"
                       : dims == 2 ? "bilinear"
                                   : "trilinear";
  bool exact = detail::equal(options.mode, "nearest-exact"),
       nearest = exact || detail::equal(options.mode, "nearest"),
       area = detail::equal(options.mode, "area"),
       cubic = dims == 2 && detail::equal(options.mode, "bicubic");
  if (dims < 1 || dims > 3)
    detail::fail("interpolate: the input is [batch,channels,...] with 1 to 3 "
                 "more dims, got {}",
                 from);
  if (!nearest && !area && !cubic && !detail::equal(options.mode, linear))
    detail::unsupported("interpolate: mode = \"{}\" for {}: not in this "
                        "version; \"nearest\", \"nearest-exact\", \"area\" "
                        "and \"{}\" are, and of images \"bicubic\"",
                        options.mode, from, linear);
  if ((sizes > 0) == (scales > 0))
    detail::fail("interpolate: either size or scale_factor is wanted");
  if ((nearest || area) && options.align_corners)
    detail::fail("interpolate: align_corners goes with mode \"{}\"", linear);
  if (options.antialias && (dims != 2 || nearest || area))
    detail::fail("interpolate: antialias goes with images, and mode "
                 "\"bilinear\" or \"bicubic\"");
  if (sizes > 1 ? sizes != dims : scales > 1 && scales != dims)
    detail::fail("interpolate: {} sizes for the {} dims behind the channels of "
                 "{}",
                 sizes + scales, dims, from);
  Shape whole; // of area
  x = detail::copied(x);
  // From the innermost dim on, as PyTorch weighs them.
  for (int i = dims; i-- > 0;) {
    double factor = options.scale_factor.values[scales > 1 ? i : 0];
    i64 size = from[2 + i],
        to = sizes ? options.size[sizes > 1 ? i : 0]
                   : static_cast<i64>(
                         __builtin_floor(static_cast<double>(size) * factor));
    if (to < 1)
      detail::fail("interpolate: nothing would be left of dim {} of {}", 2 + i,
                   from);
    whole.push_back(to);
    if (to == size || area)
      continue;
    detail::Resized part{2 + i, size, to,
                         sizes ? static_cast<double>(size) /
                                     static_cast<double>(to)
                               : 1 / factor};
    x = nearest ? detail::nearest(x, part, exact)
        : options.antialias
            ? detail::antialiased_along(x, part, options.align_corners, cubic)
        : cubic ? detail::cubic_along(x, part, options.align_corners)
                : detail::linear_along(x, part, options.align_corners);
  }
  if (!area)
    return detail::copied(x);
  Shape sizes_in_order;
  for (int i = dims; i-- > 0;)
    sizes_in_order.push_back(whole[i]);
  return detail::adaptive_avg("interpolate", x, sizes_in_order);
}

/// In PyTorch's positions.
inline Tensor interpolate(Tensor input, const Dims &size,
                          const Scales &scale_factor = {},
                          const char *mode = "nearest",
                          bool align_corners = false) {
  return interpolate(input, {.size = size,
                             .scale_factor = scale_factor,
                             .mode = mode,
                             .align_corners = align_corners});
}

} // namespace functional
} // namespace dl::nn
