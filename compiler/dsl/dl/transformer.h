#pragma once
// Layers of transformers that attend to themselves, as torch.nn has them.
#include "multihead_attention.h"

namespace dl::nn {

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
/// mask: the encoder's name for what its layers call src_mask.
struct EncodeOptions {
  Tensor src_mask = {}, src_key_padding_mask = {};
  bool is_causal = false;
  Tensor mask = {};
};

/// Attention to itself and two linear layers, each beside a path that goes
/// round it, and normalised before (norm_first) or after.
class TransformerEncoderLayer : public Module {
  Tensor attend(Tensor x, const EncodeOptions &o) {
    AttendOptions how{.key_padding_mask = o.src_key_padding_mask,
                      .need_weights = false,
                      .attn_mask = o.src_mask.defined() ? o.src_mask : o.mask,
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
  /// PyTorch's leading arguments by position.
  TransformerEncoderLayer(i64 d_model, i64 nhead, i64 dim_feedforward,
                          TransformerEncoderLayerOptions o)
      : TransformerEncoderLayer(d_model, nhead,
                                (o.dim_feedforward = dim_feedforward, o)) {}
  TransformerEncoderLayer(i64 d_model, i64 nhead, i64 dim_feedforward,
                          double dropout, TransformerEncoderLayerOptions o)
      : TransformerEncoderLayer(d_model, nhead, dim_feedforward,
                                (o.dropout = dropout, o)) {}
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
    return (*this)(src, {.src_mask = src_mask,
                         .src_key_padding_mask = src_key_padding_mask});
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
  Tensor operator()(Tensor src, Tensor mask, Tensor src_key_padding_mask = {}) {
    return (*this)(
        src, {.mask = mask, .src_key_padding_mask = src_key_padding_mask});
  }
  Tensor forward(Tensor src, const EncodeOptions &o = {}) {
    for (AnyModule &layer : layers)
      src = (*as<TransformerEncoderLayer>(layer))(src, o);
    return normalises ? norm(src) : src;
  }
};

} // namespace dl::nn
