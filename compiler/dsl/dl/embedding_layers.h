#pragma once
// Layers of tables whose rows are chosen by indices.
#include "layers.h"

namespace dl::nn {

namespace detail {
/// Normal, but for the row that is padding, which is 0.
inline Parameter table(const char *layer, i64 rows, i64 columns, i64 padding) {
  Parameter weight = zeros({rows, columns});
  if (padding == EmbeddingOptions::kNone)
    return init::normal_(weight);
  if (padding < -rows || padding >= rows)
    fail("{}: padding_idx = {} is no row of {}", layer, padding, rows);
  padding += padding < 0 ? rows : 0;
  init::detail::begin_as(weight, DL_PADDED, 0, 1, static_cast<double>(padding));
  return weight;
}
} // namespace detail

class Embedding : public Module {
public:
  i64 num_embeddings = 0, embedding_dim = 0;
  EmbeddingOptions options;
  Parameter weight;

  Embedding() = default;
  Embedding(i64 num_embeddings, i64 embedding_dim,
            EmbeddingOptions options = {})
      : num_embeddings(num_embeddings), embedding_dim(embedding_dim),
        options(options) {
    detail::at_least_one("Embedding", "num_embeddings", num_embeddings);
    detail::at_least_one("Embedding", "embedding_dim", embedding_dim);
    weight = detail::table("Embedding", num_embeddings, embedding_dim,
                           options.padding_idx);
  }
  Embedding(i64 num_embeddings, i64 embedding_dim, i64 padding_idx,
            double max_norm = inf, double norm_type = 2)
      : Embedding(num_embeddings, embedding_dim,
                  EmbeddingOptions{.padding_idx = padding_idx,
                                   .max_norm = max_norm,
                                   .norm_type = norm_type}) {}
  Tensor forward(Tensor input) {
    return functional::embedding(input, weight, options);
  }
};

/// Of a call of EmbeddingBag.
struct BagOptions {
  Tensor offsets = {}, per_sample_weights = {};
};
/// Bags of as many indices each, [N,B], or a list of indices and the offsets at
/// which bags begin: gives [N,embedding_dim].
class EmbeddingBag : public Module {
public:
  i64 num_embeddings = 0, embedding_dim = 0;
  EmbeddingBagOptions options;
  Parameter weight;

  EmbeddingBag(i64 num_embeddings, i64 embedding_dim,
               const EmbeddingBagOptions &options = {})
      : num_embeddings(num_embeddings), embedding_dim(embedding_dim),
        options(options) {
    detail::at_least_one("EmbeddingBag", "num_embeddings", num_embeddings);
    detail::at_least_one("EmbeddingBag", "embedding_dim", embedding_dim);
    weight = detail::table("EmbeddingBag", num_embeddings, embedding_dim,
                           options.padding_idx);
  }
  Tensor operator()(const Tensor &input, const BagOptions &given = {}) {
    detail::Scope scope(*this);
    return forward(input, given);
  }
  /// Behind a list its offsets, behind [N,B] the weights of what is summed.
  Tensor operator()(const Tensor &input, const Tensor &second,
                    const Tensor &per_sample_weights = {}) {
    detail::Scope scope(*this);
    return forward(input, second, per_sample_weights);
  }
  Tensor forward(const Tensor &input, const BagOptions &given = {}) {
    EmbeddingBagOptions all = options;
    all.offsets = given.offsets;
    all.per_sample_weights = given.per_sample_weights;
    return functional::embedding_bag(input, weight, all);
  }
  Tensor forward(const Tensor &input, const Tensor &second,
                 const Tensor &per_sample_weights = {}) {
    if (input.dim() == 1)
      return forward(
          input, {.offsets = second, .per_sample_weights = per_sample_weights});
    return forward(input, {.per_sample_weights =
                               second.defined() ? second : per_sample_weights});
  }
};

} // namespace dl::nn
