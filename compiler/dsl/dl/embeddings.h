#pragma once
// Rows of a table, one by one and in bags.
#include "function.h"
#include "order.h"
#include "scans.h"
#include "scatter_reduce.h"

namespace dl::nn {

/// padding_idx: rows of this index get no gradient; negative ones count from
/// the end. None unless it is set. max_norm: rows that are chosen and longer,
/// in the norm_type-norm, become as long as that.
struct EmbeddingOptions {
  static constexpr i64 kNone = -kEnd;
  i64 padding_idx = kNone;
  double max_norm = inf, norm_type = 2;
  bool scale_grad_by_freq = false; // not in this version
  bool sparse = false;             // not used: gradients are whole
};

/// mode: "mean", "sum" or "max". per_sample_weights multiply what is summed.
/// offsets: where each bag begins in a list of indices; with
/// include_last_offset the last one is how many indices there are.
struct EmbeddingBagOptions {
  const char *mode = "mean";
  i64 padding_idx = EmbeddingOptions::kNone;
  Tensor per_sample_weights = {}, offsets = {};
  bool include_last_offset = false;
  double max_norm = inf, norm_type = 2;
};

namespace functional {

namespace detail {
using namespace nn::detail;
/// Shortened rows, to the gradient the rows themselves.
struct Shortened : autograd::Function<Shortened> {
  static Tensor forward(autograd::AutogradContext *, Tensor rows,
                        double norm_type, double max_norm) {
    return rows.reshape({-1, rows.size(-1)})
        .renorm(norm_type, 0, max_norm)
        .reshape(rows.sizes());
  }
  static TensorList backward(autograd::AutogradContext *, TensorList grads) {
    return {grads[0], {}, {}};
  }
};
/// The rows that are chosen are shortened in the table itself, as PyTorch does
/// it: in training steps, where it is a parameter.
inline void shorten_rows(const Tensor &weight, const Tensor &indices,
                         const EmbeddingOptions &o) {
  Tensor places = indices.reshape(-1);
  Tensor named =
      scattered(full(places.sizes(), 1, kInt64), 0, places, weight.size(0))
          .gt(0)
          .unsqueeze(1);
  NoGradGuard no_grad;
  Tensor table = weight.data();
  table.copy_(where(named, table.renorm(o.norm_type, 0, o.max_norm), table));
}
} // namespace detail

/// Rows of `weight`, in the shape of the indices: [N,T] gives [N,T,D].
inline Tensor embedding(Tensor input, Tensor weight,
                        EmbeddingOptions options = {}) {
  detail::Called called("embedding");
  Tensor indices = detail::as_indices("embedding", input);
  if (weight.dim() != 2)
    detail::fail("embedding: the weight is [num_embeddings,embedding_dim], got "
                 "{}",
                 weight.sizes());
  if (options.scale_grad_by_freq)
    detail::unsupported("embedding: scale_grad_by_freq = true: not in this "
                        "version");
  i64 count = weight.size(0), padding = options.padding_idx;
  detail::check_indices("embedding", indices, count);
  bool isBounded = options.max_norm < inf,
       inTable = isBounded && dl_is_training() && dl_is_state(weight.id);
  if (inTable)
    detail::shorten_rows(weight, indices, options);
  Tensor chosen = detail::rows(weight, 0, indices);
  if (isBounded && !inTable)
    chosen =
        detail::Shortened::apply(chosen, options.norm_type, options.max_norm);
  if (padding == EmbeddingOptions::kNone)
    return chosen;
  if (padding < -count || padding >= count)
    detail::fail("embedding: padding_idx = {} is no row of {}", padding,
                 weight.sizes());
  Tensor unused = indices.eq(padding < 0 ? padding + count : padding);
  return where(unused.unsqueeze(-1), chosen.detach(), chosen);
}

namespace detail {
/// Rows [N,D] of a list of indices, reduced over the bags that begin at these
/// offsets; `used` [N] says which count.
inline Tensor rows_of_bags(const Tensor &rows, const Tensor &used,
                           const EmbeddingBagOptions &options) {
  const char *what = "embedding_bag";
  i64 count = rows.size(0),
      bags = options.offsets.numel() - options.include_last_offset;
  if (options.offsets.dim() != 1 || bags < 1)
    fail("{}: the offsets are a list, got {}", what, options.offsets.sizes());
  Tensor begins = as_indices(what, options.offsets.narrow(0, 0, bags));
  check_indices(what, begins, count + 1);
  flag_indices(
      begins.narrow(0, 0, 1), 1,
      "embedding_bag: the first offset is 0, where the first bag begins",
      nullptr, 0);
  Tensor bag = scattered(full({bags}, 1, kInt64), 0, begins, count + 1)
                   .narrow(0, 0, count)
                   .cumsum(0) -
               1;
  Tensor to = zeros({bags, rows.size(1)});
  if (equal(options.mode, "max")) {
    Tensor most = to.index_reduce(0, bag, where(used.unsqueeze(-1), rows, -inf),
                                  "amax", {.include_self = false});
    return where(most.eq(-inf), 0, most);
  }
  Tensor sum = to.index_add(0, bag, where(used.unsqueeze(-1), rows, 0));
  if (equal(options.mode, "sum"))
    return sum;
  Tensor each = scattered(used.to(kInt64), 0, bag, bags);
  return sum / each.clamp_min(1).unsqueeze(-1);
}
} // namespace detail

/// Rows of `weight` reduced over each bag of indices: [N,B] gives [N,D], or a
/// list of them with offsets. What is padding does not count; a bag of nothing
/// else gives zeros.
inline Tensor embedding_bag(Tensor input, Tensor weight,
                            const EmbeddingBagOptions &options = {}) {
  detail::Called called("embedding_bag");
  bool mean = detail::equal(options.mode, "mean"),
       most = detail::equal(options.mode, "max");
  if (!mean && !most && !detail::equal(options.mode, "sum"))
    detail::fail("embedding_bag: mode \"{}\" is unknown; \"sum\", \"mean\" and "
                 "\"max\" are",
                 options.mode);
  bool listed = options.offsets.defined();
  if (input.dim() != (listed ? 1 : 2))
    detail::fail("embedding_bag: the indices are [items,indices of a bag], or "
                 "a list with offsets, got {}",
                 input.sizes());
  Tensor given = options.per_sample_weights;
  if (given.defined() && (mean || most))
    detail::fail("embedding_bag: per_sample_weights go with mode \"sum\" only");
  if (given.defined() && given.sizes() != input.sizes())
    detail::fail("embedding_bag: per_sample_weights are {}, the indices {}",
                 given.sizes(), input.sizes());
  i64 padding = options.padding_idx;
  Tensor rows = embedding(input, weight,
                          {.padding_idx = padding,
                           .max_norm = options.max_norm,
                           .norm_type = options.norm_type});
  if (given.defined())
    rows = rows * given.unsqueeze(-1);
  bool all = padding == EmbeddingOptions::kNone;
  if (all && !listed)
    return most ? rows.amax(1) : mean ? rows.mean(1) : rows.sum(1);
  Tensor index = detail::as_indices("embedding_bag", input), unused;
  if (!all)
    unused = index.eq(padding < 0 ? padding + weight.size(0) : padding);
  if (listed)
    return detail::rows_of_bags(
        rows, all ? full(input.sizes(), 1, kBool) : unused.logical_not(),
        options);
  unused = unused.unsqueeze(-1);
  Tensor used = unused.logical_not().to(kInt64).sum(1);
  if (most)
    return where(used.eq(0), 0, rows.masked_fill(unused, -inf).amax(1));
  Tensor sum = rows.masked_fill(unused, 0).sum(1);
  return mean ? sum / used.clamp_min(1) : sum;
}

} // namespace functional
} // namespace dl::nn
