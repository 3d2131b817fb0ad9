#pragma once
// torch.nn.utils.parametrizations: layers that make their weight of others.
#include "layers.h"

namespace dl::nn::utils::parametrizations {

namespace detail {
using namespace dl::nn::detail;

/// While it lives, what reads the parameter gets the value.
class Replaced {
  Parameter &parameter;
  int id;

public:
  Replaced(Parameter &parameter, const Tensor &value)
      : parameter(parameter), id(parameter.id) {
    parameter.id = value.id;
  }
  Replaced(const Replaced &) = delete;
  ~Replaced() { parameter.id = id; }
};

/// An RNN has several.
template <class Layer>
concept HasOneWeight = requires(Layer &layer) { layer.weight; };

template <class Layer> void visit_bias(Visitor &visitor, Layer &layer) {
  if constexpr (requires { layer.bias; })
    if (layer.bias.defined())
      visitor.parameter("bias", layer.bias);
}

/// The 2-norms of the slices along `dim`, which stays; of all, a scalar, for
/// -1, which is PyTorch's None.
inline Tensor norm_except(const Tensor &v, i64 dim) {
  if (dim == -1)
    return v.square().sum().sqrt();
  if (dim < 0 || dim >= v.dim())
    fail("WeightNorm: dim {} of a weight {}", dim, v.sizes());
  Shape others;
  for (i64 i = 0; i < v.dim(); ++i)
    if (i != dim)
      others.push_back(i);
  return others.rank ? v.square().sum(others, /*keepdim=*/true).sqrt()
                     : v.abs();
}

/// [size of dim, all others].
inline Tensor as_matrix(const Tensor &weight, i64 dim) {
  return weight.movedim(dim, 0).reshape({weight.size(dim), -1});
}
inline Tensor normalized(const Tensor &x, double eps) {
  return x / x.square().sum().sqrt().clamp_min(eps);
}
} // namespace detail

/// weight_norm (Salimans and Kingma 2016): the weight is g v / |v|, with a
/// length for each of dim's slices.
///
///   nn::WeightNorm<nn::Conv1d> conv{16, 32, 3, {.padding = 1}};
///   auto conv = weight_norm(nn::Conv1d(16, 32, 3, {.padding = 1}));
template <class Layer, i64 dim = 0> class WeightNorm : public Layer {
  static_assert(
      detail::HasOneWeight<Layer>,
      "dl: WeightNorm is of a layer with one weight, such as nn::Linear");

  /// v is the layer's own.
  Parameter g = this->weight.defined()
                    ? Parameter(detail::norm_except(this->weight, dim))
                    : Parameter();

public:
  using Layer::Layer;
  explicit WeightNorm(Layer &&layer) noexcept
      : Layer(static_cast<Layer &&>(layer)) {}

  template <class... A>
  auto forward(A &&...arguments)
    requires requires(Layer &layer) {
      layer.forward(static_cast<A &&>(arguments)...);
    }
  {
    Tensor v = this->weight, norm = detail::norm_except(v, dim);
    detail::Replaced made(this->weight, v * (g / norm));
    return Layer::forward(static_cast<A &&>(arguments)...);
  }
  void visit_members(nn::detail::Visitor &visitor) override {
    detail::visit_bias(visitor, static_cast<Layer &>(*this));
    visitor.parameter("parametrizations.weight.original0", g);
    visitor.parameter("parametrizations.weight.original1", this->weight);
  }
};

/// spectral_norm (Miyato et al. 2018): the weight is divided by its largest
/// singular value, as a matrix [size of dim, all others]: u and v come nearer
/// to the vectors of that value with each call of a training step.
///
///   nn::SpectralNorm<nn::Conv2d> conv{3, 64, 4, {.stride = 2}};
///   auto conv = spectral_norm(nn::Conv2d(3, 64, 4, {.stride = 2}));
template <class Layer, i64 dim = 0> class SpectralNorm : public Layer {
  static_assert(
      detail::HasOneWeight<Layer>,
      "dl: SpectralNorm is of a layer with one weight, such as nn::Linear");

  static constexpr double eps = 1e-12;
  static constexpr int before = 15; ///< iterations that are made beforehand
  Buffer u, v;

  void begin() {
    if (!this->weight.defined())
      return;
    Tensor matrix = detail::as_matrix(this->weight, dim);
    Tensor left = detail::normalized(randn({matrix.size(0)}), eps);
    Tensor right = detail::normalized(randn({matrix.size(1)}), eps);
    for (int i = 0; i < before; ++i)
      iterate(matrix, left, right);
    u = left, v = right;
  }
  static void iterate(const Tensor &matrix, Tensor &left, Tensor &right) {
    left = detail::normalized(matrix.mv(right), eps);
    right = detail::normalized(matrix.t().mv(left), eps);
  }
  int begun = (begin(), 0);

public:
  using Layer::Layer;
  explicit SpectralNorm(Layer &&layer) noexcept
      : Layer(static_cast<Layer &&>(layer)) {}

  template <class... A>
  auto forward(A &&...arguments)
    requires requires(Layer &layer) {
      layer.forward(static_cast<A &&>(arguments)...);
    }
  {
    Tensor weight = this->weight, matrix = detail::as_matrix(weight, dim);
    Tensor left = u, right = v;
    if (this->is_training()) {
      iterate(matrix.detach(), left, right);
      u = left, v = right;
    }
    Tensor sigma = left.dot(matrix.mv(right));
    detail::Replaced made(this->weight, weight / sigma);
    return Layer::forward(static_cast<A &&>(arguments)...);
  }
  void visit_members(nn::detail::Visitor &visitor) override {
    detail::visit_bias(visitor, static_cast<Layer &>(*this));
    visitor.parameter("parametrizations.weight.original", this->weight);
    visitor.buffer("parametrizations.weight.0._u", u);
    visitor.buffer("parametrizations.weight.0._v", v);
  }
};

namespace detail {
/// The others of PyTorch's positions.
inline void require_weight(const char *what, const char *name, i64 dim) {
  if (!dl::detail::equal(name, "weight"))
    dl::detail::unsupported("{}: name = \"{}\": not in this version; of layers "
                            "with one weight, \"weight\" is",
                            what, name);
  if (dim)
    dl::detail::fail("{}: dim = {} belongs to the type: {}<{}>(layer)", what,
                     dim, what, dim);
}
} // namespace detail
/// Of a layer that is made for it: its weight is v from then on.
template <i64 dim = 0, class Layer>
WeightNorm<__remove_reference_t(Layer), dim> weight_norm(Layer &&layer) {
  static_assert(
      !__is_reference(Layer),
      "dl: weight_norm takes the layer: it is made in the call, as in "
      "weight_norm(nn::Linear(20, 40)), or moved, std::move(layer)");
  return WeightNorm<__remove_reference_t(Layer), dim>(
      static_cast<__remove_reference_t(Layer) &&>(layer));
}
template <class Layer>
auto weight_norm(Layer &&layer, const char *name, i64 dim = 0) {
  detail::require_weight("weight_norm", name, dim);
  return weight_norm(static_cast<Layer &&>(layer));
}
template <i64 dim = 0, class Layer>
SpectralNorm<__remove_reference_t(Layer), dim> spectral_norm(Layer &&layer) {
  static_assert(
      !__is_reference(Layer),
      "dl: spectral_norm takes the layer: it is made in the call, as in "
      "spectral_norm(nn::Linear(20, 40)), or moved, std::move(layer)");
  return SpectralNorm<__remove_reference_t(Layer), dim>(
      static_cast<__remove_reference_t(Layer) &&>(layer));
}
template <class Layer> auto spectral_norm(Layer &&layer, const char *name) {
  detail::require_weight("spectral_norm", name, 0);
  return spectral_norm(static_cast<Layer &&>(layer));
}

} // namespace dl::nn::utils::parametrizations

namespace dl::nn {
using utils::parametrizations::SpectralNorm;
using utils::parametrizations::WeightNorm;
namespace utils {
using parametrizations::spectral_norm;
using parametrizations::weight_norm;
} // namespace utils
} // namespace dl::nn
