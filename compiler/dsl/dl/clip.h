#pragma once
// torch.nn.utils: between backward() and step().
#include "optimizer.h"

namespace dl::nn::utils {

/// Scales all gradients so that the norm of all of them together is at most
/// max_norm: by min(1, max_norm / (norm + 1e-6)). Returns the norm before, a
/// scalar. norm_type: 2, 1, another p, or infinity.
inline Tensor clip_grad_norm_(const optim::Parameters &parameters,
                              Scalar max_norm, double norm_type = 2) {
  detail::Called called("clip_grad_norm_");
  bool infinite = norm_type == __builtin_inf();
  if (!(norm_type > 0))
    detail::fail("clip_grad_norm_: norm_type = {}; a positive one is wanted",
                 norm_type);
  Tensor total;
  for (const Parameter &parameter : parameters) {
    if (!dl_has_grad(parameter.id))
      continue;
    Tensor gradient = parameter.grad();
    Tensor part = infinite         ? gradient.abs().max()
                  : norm_type == 2 ? gradient.square().sum()
                  : norm_type == 1 ? gradient.abs().sum()
                                   : gradient.abs().pow(norm_type).sum();
    total = !total.defined() ? part
            : infinite       ? total.maximum(part)
                             : total + part;
  }
  if (!total.defined())
    detail::fail("clip_grad_norm_: no parameter has a gradient; call it after "
                 "backward()");
  if (norm_type == 2)
    total = total.sqrt();
  else if (!infinite && norm_type != 1)
    total = total.pow(1 / norm_type);
  Tensor factor = dl::minimum(max_norm / (total + 1e-6), 1.0);
  for (const Parameter &parameter : parameters)
    if (dl_has_grad(parameter.id))
      dl_set_grad(parameter.id, (parameter.grad() * factor).id);
  return total;
}

struct ClipGradNormOptions {
  detail::ByName by_name = {};
  Scalar max_norm = -1; ///< must be given, here or by position
  double norm_type = 2;
};
inline Tensor clip_grad_norm_(const optim::Parameters &parameters,
                              const ClipGradNormOptions &o) {
  if (o.max_norm.is_known() && o.max_norm.known < 0)
    detail::fail("clip_grad_norm_: {.max_norm = 1.0} is wanted");
  return clip_grad_norm_(parameters, o.max_norm, o.norm_type);
}
inline Tensor clip_grad_norm_(const optim::Parameters &parameters,
                              Scalar max_norm, const ClipGradNormOptions &o) {
  return clip_grad_norm_(parameters, max_norm, o.norm_type);
}

/// Brings all elements of all gradients between -clip_value and clip_value.
inline void clip_grad_value_(const optim::Parameters &parameters,
                             Scalar clip_value) {
  detail::Called called("clip_grad_value_");
  for (const Parameter &parameter : parameters)
    if (dl_has_grad(parameter.id)) {
      Tensor clipped = parameter.grad().clamp(
          -clip_value, detail::OptionalOperand(clip_value));
      dl_set_grad(parameter.id, clipped.id);
    }
}

struct ClipGradValueOptions {
  detail::ByName by_name = {};
  Scalar clip_value = -1; ///< must be given
};
inline void clip_grad_value_(const optim::Parameters &parameters,
                             const ClipGradValueOptions &o) {
  if (o.clip_value.is_known() && o.clip_value.known < 0)
    detail::fail("clip_grad_value_: {.clip_value = 1.0} is wanted");
  clip_grad_value_(parameters, o.clip_value);
}

} // namespace dl::nn::utils
