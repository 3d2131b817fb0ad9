#pragma once
// Attention of torch.nn.functional.
#include "activations.h"
#include "bins.h"
#include "checkpoint.h"
#include "lists.h"

namespace dl::nn {
namespace functional {

struct AttentionOptions {
  Tensor attn_mask = {};
  double dropout_p = 0;
  bool is_causal = false;
  double scale = 0;
  bool enable_gqa = false;
};

namespace detail {
/// Scores of one head, of so many elements, stay in a cache with what is made
/// of them.
inline constexpr i64 kScoresTogether = 1 << 18;
/// Scores of all heads, so many or more, are computed again in the backward: to
/// write and read them takes about as long, and most of a step's memory.
inline constexpr i64 kScoresKept = 1 << 20;

/// Rows of queries that are causally attended together, each block with the
/// keys it sees alone: eight do 9/16 of the work of one; more would save
/// little. More than 32 would take long to compile.
inline i64 rows_together(i64 rows, i64 keys) {
  i64 blocks = (rows * keys + kScoresTogether - 1) / kScoresTogether;
  i64 triangles = rows < 512 ? 1 : rows < 1024 ? rows / 128 : 8;
  blocks = blocks < triangles ? triangles : blocks > 32 ? 32 : blocks;
  i64 each = (rows + blocks - 1) / blocks;
  return blocks == 1 ? rows : (each + 15) / 16 * 16;
}

inline Tensor rows(const Tensor &x, i64 first, i64 count) {
  return count == x.size(-2) ? x : x.narrow(-2, first, count);
}

/// softmax(hide(scores)) value. Many scores are made again in the backward.
/// With `mayHideAll` a row that may attend to nothing gives zeros, as PyTorch's
/// does since 2.5, and not 0 / 0.
///
/// A row is divided by the sum of its exponentials behind the product, where it
/// has fewer numbers: the backward needs no sum over the row then, but one of
/// what the product made of it (Dao et al., "FlashAttention", 2022).
template <class Hide>
inline Tensor attend(const Tensor &query, const Tensor &key,
                     const Tensor &value, double scale, double dropout_p,
                     const Hide &hide, bool mayHideAll) {
  auto hidden = [&] {
    return hide(query.matmul(key.transpose(-2, -1)) * scale);
  };
  auto dropped = [&](const Tensor &x) {
    return functional::dropout(x, dropout_p, true).matmul(value);
  };
  // Scores of -inf alone are taken a number from: their exponentials are 0.
  auto largest = [&](const Tensor &scores) {
    Tensor most = scores.amax(-1, true).detach();
    return mayHideAll ? most.maximum(dl::finfo().min) : most;
  };
  auto weighted = [&] {
    Tensor scores = hidden();
    Tensor weights = (scores - largest(scores)).exp();
    return Tensors<2>{dropped(weights), weights.sum(-1, true)};
  };
  if (dl_is_generating() && !mayHideAll)
    return dropped(hidden().softmax(-1));
  i64 scores = query.numel() / query.size(-1) * key.size(-2);
  auto [sums, total] = scores < kScoresKept || dl_is_generating()
                           ? weighted()
                           : checkpoint(weighted);
  if (mayHideAll)
    total = dl::where(total == 0, 1, total);
  return sums * (1 / total);
}

/// What may not attend has a score of -inf.
inline Tensor hidden(const Tensor &scores, const Tensor &unseen) {
  return scores.masked_fill(unseen, -__builtin_inf());
}
} // namespace detail

inline Tensor scaled_dot_product_attention(Tensor query, Tensor key,
                                           Tensor value,
                                           const AttentionOptions &o = {});

namespace detail {
/// Neighbouring heads of queries share a head of keys and values: [..., H, G,
/// L, E] beside [..., H, 1, S, E]. (Ainslie et al., "GQA", 2023)
inline Tensor attend_in_groups(const Tensor &query, const Tensor &key,
                               const Tensor &value, AttentionOptions o) {
  if (query.dim() < 3 || key.dim() < 3 || value.dim() < 3)
    detail::fail("scaled_dot_product_attention: enable_gqa: [..., heads, L, E] "
                 "is wanted, got {}, {} and {}",
                 query.sizes(), key.sizes(), value.sizes());
  i64 all = query.size(-3), heads = key.size(-3);
  if (value.size(-3) != heads || all % heads != 0)
    detail::fail("scaled_dot_product_attention: enable_gqa: {} heads of "
                 "queries for {} of keys and {} of values; a multiple of as "
                 "many of both is wanted",
                 all, heads, value.size(-3));
  auto grouped = [&](const Tensor &x) {
    return x.size(-3) == all ? x.unflatten(-3, {heads, all / heads})
                             : x.unsqueeze(-3);
  };
  o.enable_gqa = false;
  if (o.attn_mask.defined() && o.attn_mask.dim() > 2) {
    if (o.attn_mask.size(-3) != all && o.attn_mask.size(-3) != 1)
      detail::fail("scaled_dot_product_attention: enable_gqa: a mask {} for {} "
                   "heads of queries; one for all or one for each is wanted",
                   o.attn_mask.sizes(), all);
    o.attn_mask = grouped(o.attn_mask);
  }
  return functional::scaled_dot_product_attention(
             grouped(query), key.unsqueeze(-3), value.unsqueeze(-3), o)
      .flatten(-4, -3);
}
} // namespace detail

/// softmax(query key^T scale) value, of [..., L, E], [..., S, E], [..., S, Ev].
/// A mask of booleans is true where it may attend, one of floats is added;
/// is_causal lets row i see the first i + 1. scale 0 stands for 1/sqrt(E). With
/// enable_gqa there are a multiple of the heads of keys and values, [..., Hq,
/// L, E] and [..., H, S, E].
inline Tensor scaled_dot_product_attention(Tensor query, Tensor key,
                                           Tensor value,
                                           const AttentionOptions &o) {
  detail::Called called("scaled_dot_product_attention");
  if (query.dim() < 2 || key.dim() < 2 || value.dim() < 2)
    detail::fail("scaled_dot_product_attention: [..., L, E] is wanted, got {}, "
                 "{} and {}",
                 query.sizes(), key.sizes(), value.sizes());
  if (o.is_causal && o.attn_mask.defined())
    detail::fail("scaled_dot_product_attention: a mask and is_causal do not go "
                 "together");
  if (o.enable_gqa)
    return detail::attend_in_groups(query, key, value, o);
  double scale = o.scale != 0
                     ? o.scale
                     : 1 / __builtin_sqrt(static_cast<double>(query.size(-1)));
  i64 rows = query.size(-2), keys = key.size(-2);
  if (!o.is_causal)
    return detail::attend(
        query, key, value, scale, o.dropout_p,
        [&](const Tensor &scores) {
          if (!o.attn_mask.defined())
            return scores;
          return o.attn_mask.dtype() == kBool
                     ? detail::hidden(scores, o.attn_mask.logical_not())
                     : scores + o.attn_mask;
        },
        o.attn_mask.defined());
  // (What does not fit is left to the product, which says so.)
  bool fits = value.size(-2) == keys && key.size(-1) == query.size(-1);
  // (Where a row comes at a time there are no blocks of them, and where scores
  // stream, what is not seen is left out of one block. What dropout draws is
  // the same on all targets.)
  bool streams = o.dropout_p == 0 && query.size(-1) <= dl_streamed_width();
  i64 together = fits && !dl_is_generating() && !streams
                     ? detail::rows_together(rows, keys)
                     : rows;
  auto block = [&](i64 first, i64 count) {
    i64 sees = fits && first + count < keys ? first + count : keys;
    auto unseen = arange(first, first + count).unsqueeze(1).lt(arange(sees));
    auto part = [&](const Tensor &x) {
      return fits ? detail::rows(x, 0, sees) : x;
    };
    return detail::attend(
        detail::rows(query, first, count), part(key), part(value), scale,
        o.dropout_p,
        [&](const Tensor &scores) { return detail::hidden(scores, unseen); },
        /*mayHideAll=*/false);
  };
  TensorList parts;
  for (i64 first = 0; first < rows; first += together)
    parts.push_back(
        block(first, rows - first < together ? rows - first : together));
  return parts.size() == 1 ? parts[0] : cat(parts, -2);
}
inline Tensor
scaled_dot_product_attention(Tensor query, Tensor key, Tensor value,
                             const dl::detail::Given auto &attn_mask,
                             double dropout_p = 0, bool is_causal = false) {
  return scaled_dot_product_attention(
      query, key, value,
      {.attn_mask = attn_mask, .dropout_p = dropout_p, .is_causal = is_causal});
}

} // namespace functional
} // namespace dl::nn
