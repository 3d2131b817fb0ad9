#pragma once
// The losses of torch.nn.functional. reduction: "mean", "sum" or "none".
#include "normalization.h"

namespace dl::nn {

/// weight: one for each class. ignore_index: a target that does not count.
struct LossOptions {
  Tensor weight = {};
  i64 ignore_index = -100;
  const char *reduction = "mean";
  double label_smoothing = 0;
};
struct ReductionOptions {
  const char *reduction = "mean";
};
struct SmoothL1Options {
  const char *reduction = "mean";
  double beta = 1;
};
struct HuberOptions {
  const char *reduction = "mean";
  double delta = 1;
};
/// weight broadcasts to the input.
struct BCEOptions {
  Tensor weight = {};
  const char *reduction = "mean";
};
struct BCEWithLogitsOptions {
  Tensor weight = {};
  const char *reduction = "mean";
  Tensor pos_weight = {};
};
/// reduction may be "batchmean" too, which divides by the first dim.
struct KLDivOptions {
  const char *reduction = "mean";
  bool log_target = false;
};

namespace functional {
namespace detail {
inline void check_reduction(const char *loss, const char *reduction) {
  if (!equal(reduction, "mean") && !equal(reduction, "sum") &&
      !equal(reduction, "none"))
    fail("{}: reduction \"{}\" is unknown; \"mean\", \"sum\" and \"none\" are",
         loss, reduction);
}
inline void check_shapes(const char *loss, const Tensor &input,
                         const Tensor &target) {
  if (input.sizes() != target.sizes())
    fail("{}: input {} and target {} have different shapes", loss,
         input.sizes(), target.sizes());
}
inline Tensor reduce(const char *loss, const Tensor &x, const char *reduction) {
  check_reduction(loss, reduction);
  return equal(reduction, "mean")  ? x.mean()
         : equal(reduction, "sum") ? x.sum()
                                   : x;
}

/// Whole numbers.
inline Tensor class_indices(const char *loss, const Tensor &target) {
  if (target.is_floating_point() || target.dtype() == kBool)
    fail("{}: the target holds {}; class indices (integers) are wanted", loss,
         target.dtype() == kBool ? "booleans" : "floats");
  return target.to(kInt64);
}
/// An index that is no class fails the step.
inline void flag_classes(const char *loss, const Tensor &target, i64 bound,
                         i64 ignore_index) {
  if (dl_indices_fit(target.id, bound))
    return;
  Tensor wrong = emit(
      "index_check", target,
      {{"bound", bound}, {"ignore_index", ignore_index}, {"start", Shape{0}}});
  const dl_text texts[] = {Text(loss), Text(bound)};
  dl_error_flag(wrong.id, "{}: target out of range [0, {})", texts, 2);
}
/// One value for each class, along dim 1 of x.
inline Tensor class_weights(const char *loss, const Tensor &x,
                            const Tensor &weight) {
  if (weight.dim() != 1 || weight.size(0) != x.size(1))
    fail("{}: weight is {}, {} classes are wanted", loss, weight.sizes(),
         x.size(1));
  return along_channels(weight, x);
}

inline Tensor nll_loss(const char *loss, Tensor log_probabilities,
                       Tensor target, const LossOptions &options) {
  Called called(loss);
  check_reduction(loss, options.reduction);
  Tensor x = log_probabilities;
  Tensor classes = class_indices(loss, target);
  bool plain = !options.weight.defined() && options.label_smoothing == 0;
  Tensor value = emit("nll_loss", x, classes,
                      {{"ignore_index", options.ignore_index},
                       {"reduction", plain ? options.reduction : "none"}});
  flag_classes(loss, classes, x.size(1), options.ignore_index);
  if (plain)
    return value;
  // Each item counts as much as its class, those ignored not at all.
  Tensor kept = classes.ne(options.ignore_index), counts = kept.to(kFloat);
  Tensor spread = x.neg();
  if (options.weight.defined()) {
    Tensor weights = class_weights(loss, x, options.weight);
    Shape ids{-1};
    for (int i = 2; i < x.dim(); ++i)
      ids.push_back(1);
    Tensor chosen = classes.unsqueeze(1).eq(arange(x.size(1)).reshape(ids));
    counts = dl::where(chosen, weights, 0.0).sum(1) * counts;
    value = value * counts;
    spread = spread * weights;
  }
  if (options.label_smoothing != 0) {
    double share = options.label_smoothing / static_cast<double>(x.size(1));
    value = value * (1 - options.label_smoothing) +
            dl::where(kept, spread.sum(1), 0.0) * share;
  }
  return equal(options.reduction, "mean")
             ? value.sum() / counts.sum()
             : reduce(loss, value, options.reduction);
}
} // namespace detail

/// Of log-probabilities [N, C, ...] and class indices [N, ...].
inline Tensor nll_loss(Tensor input, Tensor target,
                       const LossOptions &options = {}) {
  if (options.label_smoothing != 0)
    detail::fail("nll_loss: label_smoothing belongs to cross_entropy");
  return detail::nll_loss("nll_loss", input, target, options);
}

/// Of logits [N, C, ...] and class indices [N, ...], or probabilities of the
/// classes in the shape of the logits.
inline Tensor cross_entropy(Tensor input, Tensor target,
                            const LossOptions &options = {}) {
  detail::Called called("cross_entropy");
  double smoothing = options.label_smoothing;
  if (!(smoothing >= 0 && smoothing <= 1))
    detail::fail("cross_entropy: label_smoothing = {} is not between 0 and 1",
                 smoothing);
  if (input.dim() < 2)
    detail::fail(
        "cross_entropy: input {} has no dim of classes; [N, C] is wanted",
        input.sizes());
  Tensor x = input.log_softmax(1);
  if (!target.is_floating_point() || target.dim() != input.dim())
    return detail::nll_loss("cross_entropy", x, target, options);
  detail::check_shapes("cross_entropy", input, target);
  double classes = static_cast<double>(input.size(1));
  if (smoothing != 0)
    target = target * (1 - smoothing) + smoothing / classes;
  if (options.weight.defined())
    target = target * detail::class_weights("cross_entropy", x, options.weight);
  return detail::reduce("cross_entropy", (x * target).sum(1).neg(),
                        options.reduction);
}

inline Tensor mse_loss(Tensor input, Tensor target,
                       const LossOptions &options = {}) {
  detail::Called called("mse_loss");
  detail::check_reduction("mse_loss", options.reduction);
  detail::check_shapes("mse_loss", input, target);
  Tensor difference = input - target;
  return detail::reduce("mse_loss", difference.square(), options.reduction);
}
inline Tensor l1_loss(Tensor input, Tensor target,
                      const ReductionOptions &options = {}) {
  detail::Called called("l1_loss");
  detail::check_shapes("l1_loss", input, target);
  return detail::reduce("l1_loss", (input - target).abs(), options.reduction);
}
/// d^2 / (2 beta) where |d| < beta, |d| - beta / 2 elsewhere.
inline Tensor smooth_l1_loss(Tensor input, Tensor target,
                             const SmoothL1Options &options = {}) {
  detail::Called called("smooth_l1_loss");
  detail::check_shapes("smooth_l1_loss", input, target);
  Tensor error = input - target, d = error.abs();
  if (options.beta != 0)
    d = where(d < options.beta, error.square() * (0.5 / options.beta),
              d - 0.5 * options.beta);
  return detail::reduce("smooth_l1_loss", d, options.reduction);
}
/// d^2 / 2 where |d| <= delta, delta (|d| - delta / 2) elsewhere.
inline Tensor huber_loss(Tensor input, Tensor target,
                         const HuberOptions &options = {}) {
  detail::Called called("huber_loss");
  detail::check_shapes("huber_loss", input, target);
  Tensor error = input - target, d = error.abs();
  d = where(d <= options.delta, error.square() * 0.5,
            (d - 0.5 * options.delta) * options.delta);
  return detail::reduce("huber_loss", d, options.reduction);
}

/// Of probabilities. Logarithms are at least -100, and the gradient is
/// PyTorch's: (x - y) / max((1 - x) x, 1e-12).
inline Tensor binary_cross_entropy(Tensor input, Tensor target,
                                   const BCEOptions &options = {}) {
  detail::Called called("binary_cross_entropy");
  detail::check_shapes("binary_cross_entropy", input, target);
  // The gradient is the slope alone; that of the slope goes through x.
  Tensor x = detail::stationary(input);
  Tensor zero = x.eq(0.0), one = x.eq(1.0); // no 0 times infinity there
  Tensor rest = where(one, -100.0, where(one, 0.0, x).neg().log1p());
  Tensor log = where(zero, -100.0, where(zero, 1.0, x).log());
  Tensor value =
      (target - 1.0) * rest.clamp(-100.0) - target * log.clamp(-100.0);
  Tensor slope =
      (x - detail::stationary(target)) / ((1.0 - x) * x).clamp(1e-12);
  value = value + (input - x) * slope;
  if (options.weight.defined())
    value = value * options.weight;
  return detail::reduce("binary_cross_entropy", value, options.reduction);
}
/// Of logits; pos_weight multiplies the positive targets, one for each class.
inline Tensor
binary_cross_entropy_with_logits(Tensor input, Tensor target,
                                 const BCEWithLogitsOptions &options = {}) {
  detail::Called called("binary_cross_entropy_with_logits");
  detail::check_shapes("binary_cross_entropy_with_logits", input, target);
  Tensor rest = logsigmoid(input).neg();
  if (options.pos_weight.defined())
    rest = rest * ((options.pos_weight - 1.0) * target + 1.0);
  Tensor value = (1.0 - target) * input + rest;
  if (options.weight.defined())
    value = value * options.weight;
  return detail::reduce("binary_cross_entropy_with_logits", value,
                        options.reduction);
}
/// Of log-probabilities: target (log target - input), 0 where target is 0.
inline Tensor kl_div(Tensor input, Tensor target,
                     const KLDivOptions &options = {}) {
  detail::Called called("kl_div");
  Tensor value;
  if (options.log_target) {
    value = target.exp() * (target - input);
  } else {
    Tensor some = target > 0;
    Tensor logarithm = where(some, target, 1.0).log();
    value = where(some, target * logarithm, 0.0) - target * input;
  }
  if (detail::equal(options.reduction, "batchmean"))
    return value.sum() / static_cast<double>(input.size(0));
  return detail::reduce("kl_div", value, options.reduction);
}

} // namespace functional
} // namespace dl::nn
