#pragma once
// Attention and layers of transformers, as torch.nn has them.
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
/// key_padding_mask is [N, S], attn_mask [L, S] or [N * heads, L, S].
struct AttendOptions {
  Tensor key_padding_mask = {};
  bool need_weights = true;
  Tensor attn_mask = {};
  bool average_attn_weights = true, is_causal = false;
};
/// auto [output, weights] = attention(query, key, value);
struct Attended {
  Tensor output, weights;
};

class MultiheadAttention : public Module {
  Tensor masked(Tensor scores, Tensor mask) const {
    return mask.dtype() == kBool ? scores.masked_fill(mask, -__builtin_inf())
                                 : scores + mask;
  }
  /// [L, N, E] to [N, heads, L, E / heads].
  Tensor heads(Tensor x) const {
    return x.reshape({x.size(0), x.size(1), num_heads, head_dim})
        .permute({1, 2, 0, 3});
  }

public:
  i64 embed_dim = 0, num_heads = 0, head_dim = 0;
  MultiheadAttentionOptions options;
  Parameter in_proj_weight, in_proj_bias;
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
    if ((options.kdim && options.kdim != embed_dim) ||
        (options.vdim && options.vdim != embed_dim))
      detail::unsupported("MultiheadAttention: kdim and vdim other than "
                          "embed_dim: not in this version");
    if (options.add_bias_kv || options.add_zero_attn)
      detail::unsupported("MultiheadAttention: add_bias_kv and add_zero_attn: "
                          "not in this version");
    in_proj_weight = zeros({3 * embed_dim, embed_dim});
    init::xavier_uniform_(in_proj_weight);
    if (options.bias) {
      in_proj_bias = zeros({3 * embed_dim});
      init::zeros_(out_proj.bias);
    }
  }

  MultiheadAttention(i64 embed_dim, i64 num_heads, double dropout,
                     bool bias = true)
      : MultiheadAttention(embed_dim, num_heads,
                           {.dropout = dropout, .bias = bias}) {}

  Attended operator()(Tensor query, Tensor key, Tensor value,
                      const AttendOptions &o = {}) {
    detail::Scope scope(*this);
    return forward(query, key, value, o);
  }
  /// query [L, N, E], key and value [S, N, E], with batch_first [N, L, E]; the
  /// output is like the query, the weights [N, L, S], or [N, heads, L, S].
  Attended forward(Tensor query, Tensor key, Tensor value,
                   const AttendOptions &o = {}) {
    detail::Called called("MultiheadAttention");
    if (query.dim() != 3 || key.dim() != 3 || value.dim() != 3)
      detail::fail("MultiheadAttention: tensors of 3 dims are wanted, got {}, "
                   "{} and {}",
                   query.sizes(), key.sizes(), value.sizes());
    Tensor parts[] = {query, key, value};
    for (int i = 0; i < 3; ++i) {
      Tensor x = options.batch_first ? parts[i].transpose(0, 1) : parts[i];
      Tensor weight = in_proj_weight.narrow(0, i * embed_dim, embed_dim);
      Tensor bias;
      if (in_proj_bias.defined())
        bias = in_proj_bias.narrow(0, i * embed_dim, embed_dim);
      parts[i] = heads(functional::linear(x, weight, bias));
    }
    i64 N = parts[0].size(0), L = parts[0].size(2), S = parts[1].size(2);
    double scale = 1 / __builtin_sqrt(static_cast<double>(head_dim));
    Tensor queries = parts[0] * scale, weights, y; // y: [N, heads, L, head_dim]
    if (o.is_causal && !o.attn_mask.defined() &&
        !o.key_padding_mask.defined() && !o.need_weights) {
      y = functional::scaled_dot_product_attention(
          queries, parts[1], parts[2],
          {.dropout_p = options.dropout, .is_causal = true, .scale = 1});
    } else {
      Tensor scores = queries.matmul(parts[1].transpose(-2, -1));
      if (o.is_causal && !o.attn_mask.defined())
        scores = masked(scores, arange(L).unsqueeze(1).lt(arange(S)));
      if (o.attn_mask.defined())
        scores = masked(scores, o.attn_mask.dim() == 3
                                    ? o.attn_mask.reshape({N, num_heads, L, S})
                                    : o.attn_mask);
      if (o.key_padding_mask.defined())
        scores = masked(scores, o.key_padding_mask.reshape({N, 1, 1, S}));
      weights = functional::dropout(scores.softmax(-1), options.dropout);
      y = weights.matmul(parts[2]);
    }
    y = y.permute({2, 0, 1, 3}).reshape({L, N, embed_dim});
    y = out_proj(y);
    Attended result;
    result.output = options.batch_first ? y.transpose(0, 1) : y;
    if (o.need_weights)
      result.weights = o.average_attn_weights ? weights.mean(1) : weights;
    return result;
  }
};

namespace detail {
inline void require_activation(const char *layer, const char *activation) {
  if (!equal(activation, "relu") && !equal(activation, "gelu"))
    fail("{}: activation \"{}\" is unknown; \"relu\" and \"gelu\" are", layer,
         activation);
}
inline Tensor activate(const char *activation, Tensor x) {
  return equal(activation, "gelu") ? functional::gelu(x) : x.relu();
}
} // namespace detail

/// activation: "relu" or "gelu".
struct TransformerEncoderLayerOptions {
  i64 dim_feedforward = 2048;
  double dropout = 0.1;
  const char *activation = "relu";
  double layer_norm_eps = 1e-5;
  bool batch_first = false, norm_first = false, bias = true;
};
/// encoder(x, {.is_causal = true}).
struct EncodeOptions {
  Tensor src_mask = {}, src_key_padding_mask = {};
  bool is_causal = false;
};

/// Attention to itself and two linear layers, each beside a path that goes
/// round it, and normalised before (norm_first) or after.
class TransformerEncoderLayer : public Module {
  Tensor attend(Tensor x, const EncodeOptions &o) {
    AttendOptions how{.key_padding_mask = o.src_key_padding_mask,
                      .need_weights = false,
                      .attn_mask = o.src_mask,
                      .is_causal = o.is_causal};
    return dropout1(self_attn(x, x, x, how).output);
  }
  Tensor feed_forward(Tensor x) {
    x = detail::activate(options.activation, linear1(x));
    return dropout2(linear2(dropout(x)));
  }

public:
  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2;
  Dropout dropout1, dropout2;

  TransformerEncoderLayer(i64 d_model, i64 nhead,
                          const TransformerEncoderLayerOptions &o = {})
      : options(o), self_attn(d_model, nhead,
                              {.dropout = o.dropout,
                               .bias = o.bias,
                               .batch_first = o.batch_first}),
        linear1(d_model, o.dim_feedforward, {.bias = o.bias}),
        dropout(o.dropout),
        linear2(o.dim_feedforward, d_model, {.bias = o.bias}),
        norm1(d_model, {.eps = o.layer_norm_eps, .bias = o.bias}),
        norm2(d_model, {.eps = o.layer_norm_eps, .bias = o.bias}),
        dropout1(o.dropout), dropout2(o.dropout) {
    detail::require_activation("TransformerEncoderLayer", o.activation);
  }
  TransformerEncoderLayer(i64 d_model, i64 nhead, i64 dim_feedforward,
                          double dropout = 0.1, const char *activation = "relu")
      : TransformerEncoderLayer(d_model, nhead,
                                {.dim_feedforward = dim_feedforward,
                                 .dropout = dropout,
                                 .activation = activation}) {}
  Tensor operator()(Tensor src, const EncodeOptions &o = {}) {
    detail::Scope scope(*this);
    return forward(src, o);
  }
  Tensor operator()(Tensor src, Tensor src_mask,
                    Tensor src_key_padding_mask = {}) {
    return (*this)(src, EncodeOptions{src_mask, src_key_padding_mask});
  }
  Tensor forward(Tensor src, const EncodeOptions &o = {}) {
    if (options.norm_first) {
      src = src + attend(norm1(src), o);
      return src + feed_forward(norm2(src));
    }
    src = norm1(src + attend(src, o));
    return norm2(src + feed_forward(src));
  }
};

/// So many layers like the first one, which comes from the call: `encoder{
/// nn::TransformerEncoderLayer{64, 4}, 6}`. PyTorch copies its weights, too;
/// here each layer draws its own.
class TransformerEncoder : public Module {
  bool normalises = false;

public:
  ModuleList layers;
  LayerNorm norm;

  TransformerEncoder(TransformerEncoderLayer &&layer, i64 num_layers)
      : norm(layer.self_attn.embed_dim, {.elementwise_affine = false}) {
    detail::at_least_one("TransformerEncoder", "num_layers", num_layers);
    i64 size = layer.self_attn.embed_dim, heads = layer.self_attn.num_heads;
    TransformerEncoderLayerOptions options = layer.options;
    layers.append(static_cast<TransformerEncoderLayer &&>(layer));
    for (i64 i = 1; i < num_layers; ++i)
      layers.append(TransformerEncoderLayer(size, heads, options));
  }
  /// `norm` comes after the last layer.
  TransformerEncoder(TransformerEncoderLayer &&layer, i64 num_layers,
                     LayerNorm &&norm)
      : TransformerEncoder(static_cast<TransformerEncoderLayer &&>(layer),
                           num_layers) {
    normalises = true;
    this->norm = static_cast<LayerNorm &&>(norm);
  }
  TransformerEncoder(const TransformerEncoderLayer &, i64) = delete (
      "dl: the layer is made in the call: nn::TransformerEncoder "
      "encoder{nn::TransformerEncoderLayer{64, 4}, 6}");

  Tensor operator()(Tensor src, const EncodeOptions &o = {}) {
    detail::Scope scope(*this);
    return forward(src, o);
  }
  Tensor forward(Tensor src, const EncodeOptions &o = {}) {
    for (AnyModule &layer : layers)
      src = (*as<TransformerEncoderLayer>(layer))(src, o);
    return normalises ? norm(src) : src;
  }
};

} // namespace dl::nn
