#pragma once
// Losses of torch.nn.functional with margins, and those of distributions.
#include "losses.h"

namespace dl::nn {

struct MarginOptions {
  double margin = 0;
  const char *reduction = "mean";
};
struct HingeEmbeddingOptions {
  double margin = 1;
  const char *reduction = "mean";
};
struct TripletMarginOptions {
  double margin = 1, p = 2, eps = 1e-6;
  bool swap = false;
  const char *reduction = "mean";
};
/// weight: one for each class.
struct MultiMarginOptions {
  i64 p = 1;
  double margin = 1;
  Tensor weight = {};
  const char *reduction = "mean";
};
struct PoissonNLLOptions {
  bool log_input = true, full = false;
  double eps = 1e-8;
  const char *reduction = "mean";
};
struct GaussianNLLOptions {
  bool full = false;
  double eps = 1e-6;
  const char *reduction = "mean";
};

namespace functional {

/// target is 1 or -1. 1 - cos for 1, max(0, cos - margin) for -1.
inline Tensor cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target,
                                    const MarginOptions &options = {}) {
  detail::Called called("cosine_embedding_loss");
  auto square = [](const Tensor &x) { return x.square().sum(-1) + 1e-12; };
  Tensor cosine =
      (input1 * input2).sum(-1) / (square(input1) * square(input2)).sqrt();
  Tensor value =
      where(target.eq(1), 1.0 - cosine, 0.0) +
      where(target.eq(-1), (cosine - options.margin).clamp(0.0), 0.0);
  return detail::reduce("cosine_embedding_loss", value, options.reduction);
}
/// max(0, margin - target (input1 - input2)).
inline Tensor margin_ranking_loss(Tensor input1, Tensor input2, Tensor target,
                                  const MarginOptions &options = {}) {
  detail::Called called("margin_ranking_loss");
  Tensor value = options.margin - target * (input1 - input2);
  return detail::reduce("margin_ranking_loss", value.clamp(0.0),
                        options.reduction);
}
/// target is 1 or -1. x for 1, max(0, margin - x) for -1.
inline Tensor hinge_embedding_loss(Tensor input, Tensor target,
                                   const HingeEmbeddingOptions &options = {}) {
  detail::Called called("hinge_embedding_loss");
  Tensor value = where(target.eq(1), input, 0.0) +
                 where(target.eq(-1), (options.margin - input).clamp(0.0), 0.0);
  return detail::reduce("hinge_embedding_loss", value, options.reduction);
}
/// max(0, margin + |anchor - positive| - |anchor - negative|).
inline Tensor triplet_margin_loss(Tensor anchor, Tensor positive,
                                  Tensor negative,
                                  const TripletMarginOptions &o = {}) {
  detail::Called called("triplet_margin_loss");
  Tensor near = pairwise_distance(anchor, positive, o.p, o.eps),
         far = pairwise_distance(anchor, negative, o.p, o.eps);
  if (o.swap)
    far = far.minimum(pairwise_distance(positive, negative, o.p, o.eps));
  return detail::reduce("triplet_margin_loss",
                        (near - far + o.margin).clamp(0.0), o.reduction);
}
/// Of scores [N, C] and classes [N]: the mean over the other classes j of
/// max(0, margin - x_y + x_j)^p.
inline Tensor multi_margin_loss(Tensor input, Tensor target,
                                const MultiMarginOptions &options = {}) {
  detail::Called called("multi_margin_loss");
  if (input.dim() != 2 || target.dim() != 1)
    detail::fail("multi_margin_loss: scores [N, C] and classes [N] are wanted, "
                 "got {} and {}",
                 input.sizes(), target.sizes());
  if (options.p != 1 && options.p != 2)
    detail::fail("multi_margin_loss: p = {}; 1 or 2 is wanted", options.p);
  i64 classes = input.size(1);
  Tensor index = detail::class_indices("multi_margin_loss", target);
  detail::flag_classes("multi_margin_loss", index, classes, -1);
  Tensor own = index.unsqueeze(1).eq(arange(classes));
  Tensor score = where(own, input, 0.0).sum(1, true);
  Tensor value = (options.margin - score + input).clamp(0.0);
  value = options.p == 2 ? value.square() : value;
  if (options.weight.defined())
    value = value * where(own, options.weight, 0.0).sum(1, true);
  value = where(own, 0.0, value).sum(1) / static_cast<double>(classes);
  return detail::reduce("multi_margin_loss", value, options.reduction);
}
/// The mean over classes [N, C] of the cross entropies of single labels.
inline Tensor multilabel_soft_margin_loss(Tensor input, Tensor target,
                                          const BCEOptions &options = {}) {
  detail::Called called("multilabel_soft_margin_loss");
  Tensor value =
      target * logsigmoid(input) + (1.0 - target) * logsigmoid(-input);
  if (options.weight.defined())
    value = value * options.weight;
  return detail::reduce("multilabel_soft_margin_loss", -value.mean(-1),
                        options.reduction);
}
/// Of scores [N, C] (or [C]) and the classes of each item, in a row of the same
/// length that a -1 ends: the sum over its classes y and the others i of
/// max(0, 1 - x_y + x_i) / C.
inline Tensor multilabel_margin_loss(Tensor input, Tensor target,
                                     const ReductionOptions &options = {}) {
  detail::Called called("multilabel_margin_loss");
  detail::check_shapes("multilabel_margin_loss", input, target);
  if (input.dim() != 1 && input.dim() != 2)
    detail::fail("multilabel_margin_loss: scores [N, C] are wanted, got {}",
                 input.sizes());
  i64 classes = input.size(-1);
  Tensor index = detail::class_indices("multilabel_margin_loss", target);
  Tensor listed = index.lt(0).to(kInt64).cumsum(-1).eq(0);
  index = where(listed, index, 0);
  detail::flag_classes("multilabel_margin_loss", index, classes, -1);
  Tensor own = index.unsqueeze(-1).eq(arange(classes)); // [N, listed, class]
  own = own.logical_and(listed.unsqueeze(-1));
  Tensor other = own.any(-2).logical_not().unsqueeze(-2);
  Tensor score = input.gather(-1, index).unsqueeze(-1);
  Tensor value = (1.0 - score + input.unsqueeze(-2)).clamp(0.0);
  value = where(other.logical_and(listed.unsqueeze(-1)), value, 0.0);
  value = value.sum({-2, -1}) / static_cast<double>(classes);
  return detail::reduce("multilabel_margin_loss", value, options.reduction);
}
/// log(1 + exp(-target x)), target is 1 or -1.
inline Tensor soft_margin_loss(Tensor input, Tensor target,
                               const ReductionOptions &options = {}) {
  detail::Called called("soft_margin_loss");
  return detail::reduce("soft_margin_loss", -logsigmoid(target * input),
                        options.reduction);
}
/// full adds Stirling's approximation of log(target!).
inline Tensor poisson_nll_loss(Tensor input, Tensor target,
                               const PoissonNLLOptions &options = {}) {
  detail::Called called("poisson_nll_loss");
  Tensor value = options.log_input
                     ? input.exp() - target * input
                     : input - target * (input + options.eps).log();
  if (options.full) {
    Tensor many = target > 1, t = where(many, target, 1.0);
    Tensor stirling = t * t.log() - t + (t * 6.283185307179586).log() * 0.5;
    value = value + where(many, stirling, 0.0);
  }
  return detail::reduce("poisson_nll_loss", value, options.reduction);
}
/// (log var + (input - target)^2 / var) / 2; var is at least eps.
inline Tensor gaussian_nll_loss(Tensor input, Tensor target, Tensor var,
                                const GaussianNLLOptions &options = {}) {
  detail::Called called("gaussian_nll_loss");
  if (var.sizes() != input.sizes() && var.dim() == input.dim() - 1)
    var = var.unsqueeze(-1);
  // The bound passes the gradient on, as in PyTorch.
  Tensor v = var + (var.clamp(options.eps) - var).detach();
  Tensor value = (v.log() + (input - target).square() / v) * 0.5;
  if (options.full)
    value = value + 0.9189385332046727; // log(2 pi) / 2
  return detail::reduce("gaussian_nll_loss", value, options.reduction);
}

} // namespace functional
} // namespace dl::nn
