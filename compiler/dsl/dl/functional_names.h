#pragma once
// Functions of torch.nn.functional that are in torch:: as well: dl::conv2d.
#include "activations.h"
#include "adaptive_pools.h"
#include "attention.h"
#include "convolutions.h"
#include "embeddings.h"
#include "keywords.h"
#include "losses.h"
#include "margin_losses.h"
#include "normalization.h"
#include "pools.h"
#include "sequence_losses.h"

namespace dl {

/// A namespace of their own, which dl:: sees and the arguments of a call do not
/// lead to: a model may have a gelu(dl::Tensor) of its own.
namespace of_functional {
#define DL_ALSO(name) using nn::functional::name;
DL_ALSO(adaptive_avg_pool1d)
DL_ALSO(adaptive_avg_pool2d)
DL_ALSO(adaptive_avg_pool3d)
DL_ALSO(adaptive_max_pool1d)
DL_ALSO(adaptive_max_pool2d)
DL_ALSO(adaptive_max_pool3d)
DL_ALSO(alpha_dropout)
DL_ALSO(avg_pool1d)
DL_ALSO(avg_pool2d)
DL_ALSO(avg_pool3d)
DL_ALSO(batch_norm)
DL_ALSO(bilinear)
DL_ALSO(binary_cross_entropy)
DL_ALSO(binary_cross_entropy_with_logits)
DL_ALSO(celu)
DL_ALSO(channel_shuffle)
DL_ALSO(conv1d)
DL_ALSO(conv2d)
DL_ALSO(conv3d)
DL_ALSO(conv_transpose1d)
DL_ALSO(conv_transpose2d)
DL_ALSO(conv_transpose3d)
DL_ALSO(cosine_embedding_loss)
DL_ALSO(cosine_similarity)
DL_ALSO(ctc_loss)
DL_ALSO(dropout)
DL_ALSO(elu)
DL_ALSO(embedding)
DL_ALSO(gelu)
DL_ALSO(glu)
DL_ALSO(group_norm)
DL_ALSO(hardshrink)
DL_ALSO(hardsigmoid)
DL_ALSO(hardswish)
DL_ALSO(hardtanh)
DL_ALSO(hinge_embedding_loss)
DL_ALSO(huber_loss)
DL_ALSO(instance_norm)
DL_ALSO(kl_div)
DL_ALSO(l1_loss)
DL_ALSO(layer_norm)
DL_ALSO(leaky_relu)
DL_ALSO(linear)
DL_ALSO(margin_ranking_loss)
DL_ALSO(max_pool1d)
DL_ALSO(max_pool2d)
DL_ALSO(max_pool3d)
DL_ALSO(mish)
DL_ALSO(mse_loss)
DL_ALSO(multi_margin_loss)
DL_ALSO(nll_loss)
DL_ALSO(one_hot)
DL_ALSO(pad)
DL_ALSO(pairwise_distance)
DL_ALSO(pixel_shuffle)
DL_ALSO(pixel_unshuffle)
DL_ALSO(poisson_nll_loss)
DL_ALSO(prelu)
DL_ALSO(relu6)
DL_ALSO(rms_norm)
DL_ALSO(scaled_dot_product_attention)
DL_ALSO(selu)
DL_ALSO(silu)
DL_ALSO(smooth_l1_loss)
DL_ALSO(soft_margin_loss)
DL_ALSO(softplus)
DL_ALSO(softshrink)
DL_ALSO(threshold)
DL_ALSO(triplet_margin_loss)
#undef DL_ALSO
} // namespace of_functional
using namespace of_functional;

} // namespace dl
