#pragma once
// The losses of torch.nn as modules.
#include "norm_layers.h"

namespace dl::nn {

/// Of an input and a target.
#define DL_LOSS(Layer, function, Options)                                      \
  class Layer : public Module {                                                \
  public:                                                                      \
    Options options;                                                           \
    explicit Layer(const Options &options = {}) : options(options) {}          \
    Tensor forward(Tensor input, Tensor target) {                              \
      return functional::function(input, target, options);                     \
    }                                                                          \
  };
DL_LOSS(NLLLoss, nll_loss, LossOptions)
DL_LOSS(CrossEntropyLoss, cross_entropy, LossOptions)
DL_LOSS(MSELoss, mse_loss, LossOptions)
DL_LOSS(L1Loss, l1_loss, ReductionOptions)
DL_LOSS(SmoothL1Loss, smooth_l1_loss, SmoothL1Options)
DL_LOSS(HuberLoss, huber_loss, HuberOptions)
DL_LOSS(BCELoss, binary_cross_entropy, BCEOptions)
DL_LOSS(BCEWithLogitsLoss, binary_cross_entropy_with_logits,
        BCEWithLogitsOptions)
DL_LOSS(KLDivLoss, kl_div, KLDivOptions)
DL_LOSS(HingeEmbeddingLoss, hinge_embedding_loss, HingeEmbeddingOptions)
DL_LOSS(MultiMarginLoss, multi_margin_loss, MultiMarginOptions)
DL_LOSS(MultiLabelMarginLoss, multilabel_margin_loss, ReductionOptions)
DL_LOSS(MultiLabelSoftMarginLoss, multilabel_soft_margin_loss, BCEOptions)
DL_LOSS(SoftMarginLoss, soft_margin_loss, ReductionOptions)
DL_LOSS(PoissonNLLLoss, poisson_nll_loss, PoissonNLLOptions)
#undef DL_LOSS

/// Of three tensors.
#define DL_LOSS(Layer, function, Options, a, b, c)                             \
  class Layer : public Module {                                                \
  public:                                                                      \
    Options options;                                                           \
    explicit Layer(const Options &options = {}) : options(options) {}          \
    Tensor forward(Tensor a, Tensor b, Tensor c) {                             \
      return functional::function(a, b, c, options);                           \
    }                                                                          \
  };
DL_LOSS(CosineEmbeddingLoss, cosine_embedding_loss, MarginOptions, input1,
        input2, target)
DL_LOSS(MarginRankingLoss, margin_ranking_loss, MarginOptions, input1, input2,
        target)
DL_LOSS(TripletMarginLoss, triplet_margin_loss, TripletMarginOptions, anchor,
        positive, negative)
DL_LOSS(GaussianNLLLoss, gaussian_nll_loss, GaussianNLLOptions, input, target,
        var)
#undef DL_LOSS

class CTCLoss : public Module {
public:
  CTCOptions options;
  explicit CTCLoss(const CTCOptions &options = {}) : options(options) {}
  Tensor forward(Tensor log_probs, Tensor targets, Tensor input_lengths,
                 Tensor target_lengths) {
    return functional::ctc_loss(log_probs, targets, input_lengths,
                                target_lengths, options);
  }
};

} // namespace dl::nn
