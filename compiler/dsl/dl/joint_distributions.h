#pragma once
// Distributions of vectors, and mixtures: MultivariateNormal,
// MixtureSameFamily.
#include "continuous_distributions.h"
#include "linalg.h"

namespace dl::distributions {

struct MultivariateNormalOptions {
  Tensor covariance_matrix, precision_matrix, scale_tril;
};

/// MultivariateNormal(mean, covariance), or {.scale_tril = L} behind the mean,
/// which takes no factorization.
class MultivariateNormal {
public:
  Tensor loc, scale_tril;

  MultivariateNormal(Tensor loc, Tensor covariance_matrix)
      : MultivariateNormal(loc, {.covariance_matrix = covariance_matrix}) {}
  MultivariateNormal(Tensor mean, const MultivariateNormalOptions &given)
      : loc(mean) {
    dl::detail::Called called("MultivariateNormal");
    int count = given.covariance_matrix.defined() +
                given.precision_matrix.defined() + given.scale_tril.defined();
    if (count != 1)
      dl::detail::fail("MultivariateNormal: one of covariance_matrix, "
                       "precision_matrix and scale_tril is wanted, got {}",
                       count);
    if (given.scale_tril.defined())
      scale_tril = given.scale_tril;
    else
      scale_tril = linalg::cholesky(given.covariance_matrix.defined()
                                        ? given.covariance_matrix
                                        : linalg::inv(given.precision_matrix));
    if (loc.dim() == 0 || loc.size(-1) != scale_tril.size(-1))
      dl::detail::fail("MultivariateNormal: the mean is {}, a matrix {}",
                       loc.sizes(), scale_tril.sizes());
  }
  static constexpr int event_dim() { return 1; }
  Tensor mean() const { return loc; }
  Tensor covariance_matrix() const {
    return scale_tril.matmul(scale_tril.mT());
  }
  Tensor variance() const { return scale_tril.square().sum(-1); }
  Tensor log_prob(Tensor value) const {
    double constant = static_cast<double>(loc.size(-1)) * detail::kLogRoot2Pi;
    return (far_away(value - loc) * 0.5 + log_size() + constant).neg();
  }
  Tensor entropy() const {
    double constant =
        static_cast<double>(loc.size(-1)) * (0.5 + detail::kLogRoot2Pi);
    return log_size() + constant;
  }
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const {
    Tensor drawn = randn_like(loc + scale_tril.select(-1, 0));
    return loc + scale_tril.matmul(drawn.unsqueeze(-1)).squeeze(-1);
  }

  /// Half the logarithm of the covariance's determinant.
  Tensor log_size() const {
    return diagonal(scale_tril, 0, -2, -1).log().sum(-1);
  }
  /// Mahalanobis' distance, squared.
  Tensor far_away(Tensor apart) const {
    if (scale_tril.dim() > 2)
      return linalg::solve_triangular(scale_tril, apart.unsqueeze(-1), {})
          .squeeze(-1)
          .square()
          .sum(-1);
    i64 size = loc.size(-1); // one matrix, for all at once
    return linalg::solve_triangular(scale_tril, apart.reshape({-1, size}).t(),
                                    {})
        .square()
        .sum(0)
        .reshape(apart.select(-1, 0).sizes());
  }
};

inline Tensor kl_divergence(const MultivariateNormal &p,
                            const MultivariateNormal &q) {
  Tensor ratio = linalg::solve_triangular(q.scale_tril, p.scale_tril, {});
  Tensor apart = ratio.square().sum({-2, -1}) + q.far_away(q.loc - p.loc);
  return q.log_size() - p.log_size() +
         (apart - static_cast<double>(p.loc.size(-1))) * 0.5;
}

/// Several of one kind, the last dim of their batch, of which one is drawn:
/// MixtureSameFamily(Categorical({.logits = pi}), Independent(Normal(mu,
/// sigma), 1)).
template <class Component> class MixtureSameFamily {
public:
  Categorical mixture_distribution;
  Component component_distribution;

  MixtureSameFamily(Categorical mixture, Component component)
      : mixture_distribution(mixture), component_distribution(component) {}
  Tensor mean() const {
    return (weights() * component_distribution.mean()).sum(place());
  }
  Tensor variance() const {
    Tensor inside =
        (weights() * component_distribution.variance()).sum(place());
    Tensor apart = component_distribution.mean() - mean().unsqueeze(place());
    return inside + (weights() * apart.square()).sum(place());
  }
  Tensor log_prob(Tensor value) const {
    dl::detail::Called called("MixtureSameFamily.log_prob");
    Tensor each = component_distribution.log_prob(value.unsqueeze(place()));
    return (each + mixture_distribution.logits.log_softmax(-1)).logsumexp(-1);
  }
  Tensor cdf(Tensor value) const {
    Tensor each = component_distribution.cdf(value.unsqueeze(place()));
    return (weights() * each).sum(place());
  }
  Tensor sample() const {
    Tensor drawn = mixture_distribution.sample().unsqueeze(-1);
    Tensor is_drawn = arange(mixture_distribution.logits.size(-1)).eq(drawn);
    return where(for_events(is_drawn), component_distribution.sample(), 0.0)
        .sum(place());
  }

private:
  static int event_dim_of(const Component &component) {
    if constexpr (requires { component.event_dim(); })
      return component.event_dim();
    else
      return 0;
  }
  int events() const { return event_dim_of(component_distribution); }
  /// Where the components lie.
  i64 place() const { return -1 - events(); }
  Tensor for_events(Tensor x) const {
    for (int i = 0; i < events(); ++i)
      x = x.unsqueeze(-1);
    return x;
  }
  Tensor weights() const { return for_events(mixture_distribution.probs); }
};

} // namespace dl::distributions
