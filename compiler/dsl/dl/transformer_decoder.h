#pragma once
// Layers of transformers that attend to what an encoder gives, and the two
// together.
#include "transformer.h"

namespace dl::nn {

/// PyTorch has the same options for both kinds of layers.
using TransformerDecoderLayerOptions = TransformerEncoderLayerOptions;
/// decoder(x, memory, {.tgt_is_causal = true}).
struct DecodeOptions {
  Tensor tgt_mask = {}, memory_mask = {}, tgt_key_padding_mask = {},
         memory_key_padding_mask = {};
  bool tgt_is_causal = false, memory_is_causal = false;
};

/// Attention to itself, attention to the memory and two linear layers.
class TransformerDecoderLayer : public Module {
  Tensor attend_itself(Tensor x, const DecodeOptions &o) {
    AttendOptions how{.key_padding_mask = o.tgt_key_padding_mask,
                      .need_weights = false,
                      .attn_mask = o.tgt_mask,
                      .is_causal = o.tgt_is_causal};
    return dropout1(self_attn(x, x, x, how).output);
  }
  Tensor attend_memory(Tensor x, Tensor memory, const DecodeOptions &o) {
    AttendOptions how{.key_padding_mask = o.memory_key_padding_mask,
                      .need_weights = false,
                      .attn_mask = o.memory_mask,
                      .is_causal = o.memory_is_causal};
    return dropout2(multihead_attn(x, memory, memory, how).output);
  }
  Tensor feed_forward(Tensor x) {
    x = detail::activate(options.activation, linear1(x));
    return dropout3(linear2(dropout(x)));
  }

public:
  TransformerDecoderLayerOptions options;
  MultiheadAttention self_attn, multihead_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout1, dropout2, dropout3;

  TransformerDecoderLayer(i64 d_model, i64 nhead,
                          const TransformerDecoderLayerOptions &o = {})
      : options(o), self_attn(d_model, nhead,
                              {.dropout = o.dropout,
                               .bias = o.bias,
                               .batch_first = o.batch_first}),
        multihead_attn(d_model, nhead,
                       {.dropout = o.dropout,
                        .bias = o.bias,
                        .batch_first = o.batch_first}),
        linear1(d_model, o.dim_feedforward, {.bias = o.bias}),
        dropout(o.dropout),
        linear2(o.dim_feedforward, d_model, {.bias = o.bias}),
        norm1(d_model, {.eps = o.layer_norm_eps, .bias = o.bias}),
        norm2(d_model, {.eps = o.layer_norm_eps, .bias = o.bias}),
        norm3(d_model, {.eps = o.layer_norm_eps, .bias = o.bias}),
        dropout1(o.dropout), dropout2(o.dropout), dropout3(o.dropout) {
    detail::require_activation("TransformerDecoderLayer", o.activation);
  }
  /// PyTorch's leading arguments by position.
  TransformerDecoderLayer(i64 d_model, i64 nhead, i64 dim_feedforward,
                          TransformerDecoderLayerOptions o)
      : TransformerDecoderLayer(d_model, nhead,
                                (o.dim_feedforward = dim_feedforward, o)) {}
  TransformerDecoderLayer(i64 d_model, i64 nhead, i64 dim_feedforward,
                          double dropout, TransformerDecoderLayerOptions o)
      : TransformerDecoderLayer(d_model, nhead, dim_feedforward,
                                (o.dropout = dropout, o)) {}
  TransformerDecoderLayer(i64 d_model, i64 nhead, i64 dim_feedforward,
                          double dropout = 0.1, const char *activation = "relu")
      : TransformerDecoderLayer(d_model, nhead,
                                {.dim_feedforward = dim_feedforward,
                                 .dropout = dropout,
                                 .activation = activation}) {}
  Tensor operator()(Tensor tgt, Tensor memory, const DecodeOptions &o = {}) {
    detail::Scope scope(*this);
    return forward(tgt, memory, o);
  }
  Tensor operator()(Tensor tgt, Tensor memory, Tensor tgt_mask,
                    Tensor memory_mask = {}) {
    return (*this)(tgt, memory, DecodeOptions{tgt_mask, memory_mask});
  }
  Tensor forward(Tensor tgt, Tensor memory, const DecodeOptions &o = {}) {
    if (options.norm_first) {
      tgt = tgt + attend_itself(norm1(tgt), o);
      tgt = tgt + attend_memory(norm2(tgt), memory, o);
      return tgt + feed_forward(norm3(tgt));
    }
    tgt = norm1(tgt + attend_itself(tgt, o));
    tgt = norm2(tgt + attend_memory(tgt, memory, o));
    return norm3(tgt + feed_forward(tgt));
  }
};

/// So many layers like the first one, as TransformerEncoder has them.
class TransformerDecoder : public Module {
  bool normalises = false;

public:
  ModuleList layers;
  LayerNorm norm;

  TransformerDecoder(TransformerDecoderLayer &&layer, i64 num_layers)
      : norm(layer.self_attn.embed_dim, {.elementwise_affine = false}) {
    detail::at_least_one("TransformerDecoder", "num_layers", num_layers);
    i64 size = layer.self_attn.embed_dim, heads = layer.self_attn.num_heads;
    TransformerDecoderLayerOptions options = layer.options;
    layers.append(static_cast<TransformerDecoderLayer &&>(layer));
    for (i64 i = 1; i < num_layers; ++i)
      layers.append(TransformerDecoderLayer(size, heads, options));
  }
  /// `norm` comes after the last layer.
  TransformerDecoder(TransformerDecoderLayer &&layer, i64 num_layers,
                     LayerNorm &&norm)
      : TransformerDecoder(static_cast<TransformerDecoderLayer &&>(layer),
                           num_layers) {
    normalises = true;
    this->norm = static_cast<LayerNorm &&>(norm);
  }
  TransformerDecoder(const TransformerDecoderLayer &, i64) = delete (
      "dl: the layer is made in the call: nn::TransformerDecoder "
      "decoder{nn::TransformerDecoderLayer{64, 4}, 6}");

  Tensor operator()(Tensor tgt, Tensor memory, const DecodeOptions &o = {}) {
    detail::Scope scope(*this);
    return forward(tgt, memory, o);
  }
  Tensor operator()(Tensor tgt, Tensor memory, Tensor tgt_mask,
                    Tensor memory_mask = {}) {
    return (*this)(tgt, memory, DecodeOptions{tgt_mask, memory_mask});
  }
  Tensor forward(Tensor tgt, Tensor memory, const DecodeOptions &o = {}) {
    for (AnyModule &layer : layers)
      tgt = (*as<TransformerDecoderLayer>(layer))(tgt, memory, o);
    return normalises ? norm(tgt) : tgt;
  }
};

struct TransformerOptions {
  i64 num_encoder_layers = 6, num_decoder_layers = 6, dim_feedforward = 2048;
  double dropout = 0.1;
  const char *activation = "relu";
  double layer_norm_eps = 1e-5;
  bool batch_first = false, norm_first = false, bias = true;

  TransformerEncoderLayerOptions layer() const {
    return {.dim_feedforward = dim_feedforward,
            .dropout = dropout,
            .activation = activation,
            .layer_norm_eps = layer_norm_eps,
            .batch_first = batch_first,
            .norm_first = norm_first,
            .bias = bias};
  }
};
/// transformer(src, tgt, {.tgt_mask = mask}).
struct TransformOptions {
  Tensor src_mask = {}, tgt_mask = {}, memory_mask = {},
         src_key_padding_mask = {}, tgt_key_padding_mask = {},
         memory_key_padding_mask = {};
  bool src_is_causal = false, tgt_is_causal = false, memory_is_causal = false;
};

/// An encoder and a decoder, each with a norm behind its last layer (Vaswani et
/// al. 2017, "Attention Is All You Need"). Matrices begin as
/// xavier_uniform_ has them.
class Transformer : public Module {
  template <class Layer> static void begin(Layer &layer) {
    init::xavier_uniform_(layer.self_attn.out_proj.weight);
    init::xavier_uniform_(layer.linear1.weight);
    init::xavier_uniform_(layer.linear2.weight);
  }

public:
  TransformerEncoder encoder;
  TransformerDecoder decoder;

  explicit Transformer(i64 d_model = 512, i64 nhead = 8,
                       const TransformerOptions &o = {})
      : encoder(TransformerEncoderLayer(d_model, nhead, o.layer()),
                o.num_encoder_layers,
                LayerNorm(d_model, {.eps = o.layer_norm_eps, .bias = o.bias})),
        decoder(TransformerDecoderLayer(d_model, nhead, o.layer()),
                o.num_decoder_layers,
                LayerNorm(d_model, {.eps = o.layer_norm_eps, .bias = o.bias})) {
    for (AnyModule &layer : encoder.layers)
      begin(*as<TransformerEncoderLayer>(layer));
    for (AnyModule &layer : decoder.layers) {
      begin(*as<TransformerDecoderLayer>(layer));
      init::xavier_uniform_(
          as<TransformerDecoderLayer>(layer)->multihead_attn.out_proj.weight);
    }
  }
  Transformer(i64 d_model, i64 nhead, i64 num_encoder_layers,
              i64 num_decoder_layers, i64 dim_feedforward = 2048,
              double dropout = 0.1)
      : Transformer(d_model, nhead,
                    {.num_encoder_layers = num_encoder_layers,
                     .num_decoder_layers = num_decoder_layers,
                     .dim_feedforward = dim_feedforward,
                     .dropout = dropout}) {}
  Transformer(i64 d_model, i64 nhead, i64 num_encoder_layers,
              i64 num_decoder_layers, TransformerOptions o)
      : Transformer(d_model, nhead,
                    (o.num_encoder_layers = num_encoder_layers,
                     o.num_decoder_layers = num_decoder_layers, o)) {}
  Tensor operator()(Tensor src, Tensor tgt, const TransformOptions &o = {}) {
    detail::Scope scope(*this);
    return forward(src, tgt, o);
  }
  Tensor forward(Tensor src, Tensor tgt, const TransformOptions &o = {}) {
    Tensor memory =
        encoder(src, {.src_mask = o.src_mask,
                      .src_key_padding_mask = o.src_key_padding_mask,
                      .is_causal = o.src_is_causal});
    return decoder(tgt, memory,
                   {.tgt_mask = o.tgt_mask,
                    .memory_mask = o.memory_mask,
                    .tgt_key_padding_mask = o.tgt_key_padding_mask,
                    .memory_key_padding_mask = o.memory_key_padding_mask,
                    .tgt_is_causal = o.tgt_is_causal,
                    .memory_is_causal = o.memory_is_causal});
  }
  /// [size, size]: 0 where a place may attend, -inf where a later one stands.
  static Tensor generate_square_subsequent_mask(i64 size) {
    Tensor place = arange(size);
    return where(place.unsqueeze(1).lt(place), -__builtin_inf(), 0.0);
  }
};

} // namespace dl::nn
