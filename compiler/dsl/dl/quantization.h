#pragma once
// Values rounded to those of few bits, for training that knows of it (Jacob et
// al., "Quantization and Training of Neural Networks for Efficient
// Integer-Arithmetic-Only Inference", 2018).
#include "function.h"

namespace dl {

namespace detail {
/// The gradient goes through where the value is not cut off.
struct FakeQuantize : autograd::Function<FakeQuantize> {
  static Tensor forward(autograd::AutogradContext *ctx, Tensor x, Tensor scale,
                        Tensor zero_point, double least, double most) {
    Tensor place = (x * (1.0 / scale)).round() + zero_point;
    ctx->save_for_backward({place.ge(least).logical_and(place.le(most))});
    return (place.clamp(least, most) - zero_point) * scale;
  }
  static TensorList backward(autograd::AutogradContext *ctx, TensorList grads) {
    return {
        where(ctx->get_saved_variables()[0], grads[0], 0.0), {}, {}, {}, {}};
  }
};
inline Tensor fake_quantize(const char *what, const Tensor &x,
                            const Tensor &scale, const Tensor &zero_point,
                            i64 quant_min, i64 quant_max) {
  Called called(what);
  if (quant_min > quant_max)
    fail("{}: from {} to {} there is no whole number", what, quant_min,
         quant_max);
  return FakeQuantize::apply(x, scale, zero_point.to(kFloat),
                             static_cast<double>(quant_min),
                             static_cast<double>(quant_max));
}
} // namespace detail

inline Tensor fake_quantize_per_tensor_affine(const Tensor &x, double scale,
                                              i64 zero_point, i64 quant_min,
                                              i64 quant_max) {
  return detail::fake_quantize("fake_quantize_per_tensor_affine", x,
                               full({}, scale), full({}, zero_point), quant_min,
                               quant_max);
}
/// Scales that are data, of the largest value for example.
inline Tensor fake_quantize_per_tensor_affine(const Tensor &x,
                                              const Tensor &scale,
                                              const Tensor &zero_point,
                                              i64 quant_min, i64 quant_max) {
  return detail::fake_quantize("fake_quantize_per_tensor_affine", x,
                               scale.detach(), zero_point, quant_min,
                               quant_max);
}
/// One scale and one zero point for each place along the axis.
inline Tensor fake_quantize_per_channel_affine(const Tensor &x,
                                               const Tensor &scale,
                                               const Tensor &zero_point,
                                               i64 axis, i64 quant_min,
                                               i64 quant_max) {
  const char *what = "fake_quantize_per_channel_affine";
  Shape from = x.sizes(), flat;
  int at = static_cast<int>(detail::wrap(what, axis, from.rank, from));
  for (int i = 0; i < from.rank; ++i)
    flat.push_back(i == at ? from[i] : 1);
  if (from.rank == 0 || scale.sizes() != Shape{from[at]} ||
      zero_point.sizes() != scale.sizes())
    detail::fail("{}: scales {} and zero points {} along dim {} of {}", what,
                 scale.sizes(), zero_point.sizes(), axis, from);
  return detail::fake_quantize(what, x, scale.detach().view(flat),
                               zero_point.view(flat), quant_min, quant_max);
}

} // namespace dl
