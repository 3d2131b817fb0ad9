#pragma once
// nn.MultiheadAttention, as PyTorch has it.
#include "attention.h"
#include "loss_layers.h"

namespace dl::nn {

/// kdim and vdim 0 stand for PyTorch's None: embed_dim.
struct MultiheadAttentionOptions {
  double dropout = 0;
  bool bias = true, add_bias_kv = false, add_zero_attn = false;
  i64 kdim = 0, vdim = 0;
  bool batch_first = false;
};
/// Masks of booleans are true where nobody may attend, those of floats are
/// added: attention(q, k, v, {.attn_mask = mask}).
/// key_padding_mask is [N, S], attn_mask [L, S] or [N * heads, L, S]; it counts
/// instead of is_causal.
struct AttendOptions {
  Tensor key_padding_mask = {};
  bool need_weights = true;
  Tensor attn_mask = {};
  bool average_attn_weights = true, is_causal = false;
};
/// auto [output, weights] = attention(query, key, value);
struct Attended {
  Tensor output, weights;
  Tensor operator[](int i) const { return i ? weights : output; }
  DL_TIED((output, weights), Tensor &, Tensor &)
};

class MultiheadAttention : public Module {
  /// Query 0, key 1, value 2: [L, N, E] to [N, heads, L, E / heads].
  Tensor project(int part, Tensor x) const {
    const Parameter *apart[] = {&q_proj_weight, &k_proj_weight, &v_proj_weight};
    Tensor weight = *apart[part], bias;
    if (in_proj_weight.defined())
      weight = in_proj_weight.narrow(0, part * embed_dim, embed_dim);
    if (in_proj_bias.defined())
      bias = in_proj_bias.narrow(0, part * embed_dim, embed_dim);
    i64 N = x.size(1);
    x = functional::linear(x, weight, bias);
    if (part && bias_k.defined())
      x = cat({x, (part == 1 ? bias_k : bias_v).expand({1, N, embed_dim})});
    if (part && options.add_zero_attn)
      x = cat({x, zeros({1, N, embed_dim}, x.dtype())});
    return x.unflatten(2, {num_heads, head_dim}).permute({1, 2, 0, 3});
  }
  /// A mask that was given, as [N or 1, heads or 1, L or 1, S].
  static Tensor fitted(const char *name, Tensor mask, const Shape &wanted,
                       const Shape &other, const Shape &size) {
    if (mask.dtype() != kBool && !mask.is_floating_point())
      dl::detail::fail("MultiheadAttention: {} holds integers; booleans, true "
                       "where nobody may attend, or floats are wanted",
                       name);
    if (mask.sizes() != wanted && mask.sizes() != other)
      dl::detail::fail(wanted != other
                           ? "MultiheadAttention: {} is {}; {} is wanted, or {}"
                           : "MultiheadAttention: {} is {}; {} is wanted",
                       name, mask.sizes(), wanted, other);
    return mask.reshape(size);
  }
  /// A mask [..., S]; keys that the layer has added are seen.
  Tensor hide(Tensor scores, Tensor mask) const {
    i64 added = options.add_bias_kv + options.add_zero_attn;
    if (added)
      mask = functional::pad(mask, {0, added});
    return mask.dtype() == kBool ? functional::detail::hidden(scores, mask)
                                 : scores + mask;
  }

public:
  i64 embed_dim = 0, num_heads = 0, head_dim = 0;
  MultiheadAttentionOptions options;
  /// One for all three, or, with kdim or vdim, each its own.
  Parameter in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight;
  Parameter in_proj_bias, bias_k, bias_v;
  Linear out_proj;

  MultiheadAttention() = default;
  MultiheadAttention(i64 embed_dim, i64 num_heads,
                     const MultiheadAttentionOptions &options = {})
      : embed_dim(embed_dim), num_heads(num_heads),
        head_dim(embed_dim / (num_heads < 1 ? 1 : num_heads)), options(options),
        out_proj(embed_dim, embed_dim, {.bias = options.bias}) {
    if (num_heads < 1 || embed_dim % num_heads)
      detail::fail("MultiheadAttention: embed_dim = {} must be divisible by "
                   "num_heads = {}",
                   embed_dim, num_heads);
    i64 kdim = options.kdim ? options.kdim : embed_dim;
    i64 vdim = options.vdim ? options.vdim : embed_dim;
    auto begun = [](Parameter &parameter, const Shape &size) {
      parameter = zeros(size);
      return parameter;
    };
    if (kdim == embed_dim && vdim == embed_dim) {
      init::xavier_uniform_(begun(in_proj_weight, {3 * embed_dim, embed_dim}));
    } else {
      init::xavier_uniform_(begun(q_proj_weight, {embed_dim, embed_dim}));
      init::xavier_uniform_(begun(k_proj_weight, {embed_dim, kdim}));
      init::xavier_uniform_(begun(v_proj_weight, {embed_dim, vdim}));
    }
    if (options.bias) {
      in_proj_bias = zeros({3 * embed_dim});
      init::zeros_(out_proj.bias);
    }
    if (options.add_bias_kv) {
      init::xavier_normal_(begun(bias_k, {1, 1, embed_dim}));
      init::xavier_normal_(begun(bias_v, {1, 1, embed_dim}));
    }
  }

  MultiheadAttention(i64 embed_dim, i64 num_heads, double dropout,
                     bool bias = true)
      : MultiheadAttention(embed_dim, num_heads,
                           {.dropout = dropout, .bias = bias}) {}
  MultiheadAttention(i64 embed_dim, i64 num_heads, double dropout,
                     MultiheadAttentionOptions o)
      : MultiheadAttention(embed_dim, num_heads, (o.dropout = dropout, o)) {}

  Attended operator()(Tensor query, Tensor key, Tensor value,
                      const AttendOptions &o = {}) {
    detail::Scope scope(*this);
    return forward(query, key, value, o);
  }
  /// query [L, N, E], key and value [S, N, kdim] and [S, N, vdim], with
  /// batch_first [N, L, E]; the output is like the query, the weights [N, L,
  /// S], or [N, heads, L, S]. Without a batch: [L, E], [S, kdim], [S, vdim].
  Attended forward(Tensor query, Tensor key, Tensor value,
                   const AttendOptions &o = {}) {
    detail::Called called("MultiheadAttention");
    int rank = query.dim();
    if ((rank != 2 && rank != 3) || key.dim() != rank || value.dim() != rank)
      detail::fail("MultiheadAttention: tensors of 3 dims are wanted, or of 2 "
                   "without a batch, got {}, {} and {}",
                   query.sizes(), key.sizes(), value.sizes());
    auto projected = [&](int part, const Tensor &x) {
      return project(part, rank == 2             ? x.unsqueeze(1)
                           : options.batch_first ? x.transpose(0, 1)
                                                 : x);
    };
    Tensor q = projected(0, query), k = projected(1, key),
           v = projected(2, value), weights, y; // y: [N, heads, L, head_dim]
    i64 N = q.size(0), L = q.size(2),
        S = key.size(rank == 2 ? 0 : options.batch_first);
    double scale = 1 / __builtin_sqrt(static_cast<double>(head_dim));
    Tensor mask = o.attn_mask, padding = o.key_padding_mask;
    if (mask.defined())
      mask = mask.dim() == 2 ? fitted("attn_mask", mask, {L, S}, {L, S}, {L, S})
                             : fitted("attn_mask", mask, {N * num_heads, L, S},
                                      {L, S}, {N, num_heads, L, S});
    if (padding.defined() && rank == 2)
      padding = fitted("key_padding_mask", padding, {S}, {S}, {1, 1, 1, S});
    else if (padding.defined())
      padding =
          fitted("key_padding_mask", padding, {N, S}, {N, S}, {N, 1, 1, S});
    bool causal = o.is_causal && !mask.defined();
    auto hidden = [&](Tensor scores) {
      if (causal)
        scores = hide(scores, arange(L).unsqueeze(1).lt(arange(S)));
      if (mask.defined())
        scores = hide(scores, mask);
      if (padding.defined())
        scores = hide(scores, padding);
      return scores;
    };
    double dropout = is_training() ? options.dropout : 0;
    if (o.need_weights) {
      weights = hidden(q.matmul(k.transpose(-2, -1)) * scale).softmax(-1);
      weights = functional::dropout(weights, dropout);
      y = weights.matmul(v);
    } else if (causal && !padding.defined() && k.size(2) == S) {
      y = functional::scaled_dot_product_attention(
          q, k, v, {.dropout_p = dropout, .is_causal = true});
    } else {
      y = functional::detail::attend(q, k, v, scale, dropout, hidden,
                                     mask.defined() || padding.defined());
    }
    y = out_proj(y.permute({2, 0, 1, 3}).flatten(2));
    Attended result;
    result.output = rank == 2             ? y.squeeze(1)
                    : options.batch_first ? y.transpose(0, 1)
                                          : y;
    if (o.need_weights)
      result.weights = o.average_attn_weights ? weights.mean(1) : weights;
    if (o.need_weights && rank == 2)
      result.weights = result.weights.squeeze(0);
    return result;
  }
};

} // namespace dl::nn
