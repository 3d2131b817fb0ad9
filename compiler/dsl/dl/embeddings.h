#pragma once
// Rows of a table, one by one and in bags.
#include "order.h"

namespace dl::nn {

/// padding_idx: rows of this index get no gradient; negative ones count from
/// the end. None unless it is set.
struct EmbeddingOptions {
  static constexpr i64 kNone = -kEnd;
  i64 padding_idx = kNone;
};

/// mode: "mean", "sum" or "max". per_sample_weights multiply what is summed.
struct EmbeddingBagOptions {
  const char *mode = "mean";
  i64 padding_idx = EmbeddingOptions::kNone;
  Tensor per_sample_weights = {};
};

namespace functional {

/// Rows of `weight`, in the shape of the indices: [N,T] gives [N,T,D].
inline Tensor embedding(Tensor input, Tensor weight,
                        EmbeddingOptions options = {}) {
  detail::Called called("embedding");
  Tensor indices = detail::as_indices("embedding", input);
  if (weight.dim() != 2)
    detail::fail("embedding: the weight is [num_embeddings,embedding_dim], got "
                 "{}",
                 weight.sizes());
  i64 count = weight.size(0), padding = options.padding_idx;
  detail::check_indices("embedding", indices, count);
  Tensor chosen = detail::rows(weight, 0, indices);
  if (padding == EmbeddingOptions::kNone)
    return chosen;
  if (padding < -count || padding >= count)
    detail::fail("embedding: padding_idx = {} is no row of {}", padding,
                 weight.sizes());
  Tensor unused = indices.eq(padding < 0 ? padding + count : padding);
  return where(unused.unsqueeze(-1), chosen.detach(), chosen);
}

/// Rows of `weight` reduced over each bag of indices: [N,B] gives [N,D]. What
/// is padding does not count; a bag of nothing else gives zeros.
inline Tensor embedding_bag(Tensor input, Tensor weight,
                            const EmbeddingBagOptions &options = {}) {
  detail::Called called("embedding_bag");
  bool mean = detail::equal(options.mode, "mean"),
       most = detail::equal(options.mode, "max");
  if (!mean && !most && !detail::equal(options.mode, "sum"))
    detail::fail("embedding_bag: mode \"{}\" is unknown; \"sum\", \"mean\" and "
                 "\"max\" are",
                 options.mode);
  if (input.dim() != 2)
    detail::fail("embedding_bag: the indices are [items,indices of a bag], got "
                 "{}",
                 input.sizes());
  Tensor given = options.per_sample_weights;
  if (given.defined() && (mean || most))
    detail::fail("embedding_bag: per_sample_weights go with mode \"sum\" only");
  if (given.defined() && given.sizes() != input.sizes())
    detail::fail("embedding_bag: per_sample_weights are {}, the indices {}",
                 given.sizes(), input.sizes());
  i64 padding = options.padding_idx;
  Tensor rows = embedding(input, weight, {.padding_idx = padding});
  if (given.defined())
    rows = rows * given.unsqueeze(-1);
  if (padding == EmbeddingOptions::kNone)
    return most ? rows.amax(1) : mean ? rows.mean(1) : rows.sum(1);
  Tensor index = detail::as_indices("embedding_bag", input);
  Tensor unused =
      index.eq(padding < 0 ? padding + weight.size(0) : padding).unsqueeze(-1);
  Tensor used = unused.logical_not().to(kInt64).sum(1);
  if (most)
    return where(used.eq(0), 0, rows.masked_fill(unused, -inf).amax(1));
  Tensor sum = rows.masked_fill(unused, 0).sum(1);
  return mean ? sum / used.clamp_min(1) : sum;
}

} // namespace functional
} // namespace dl::nn
