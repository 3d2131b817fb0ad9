#pragma once
// Distributions of functions of random numbers: a policy of actions between -1
// and 1, densities of flows.
//
//   D::Normal normal(mean, std);
//   D::TransformedDistribution policy(normal, D::TanhTransform());
//   auto action = policy.rsample();
//   auto log = policy.log_prob(action).sum(-1);
#include "continuous_distributions.h"

namespace dl::distributions {

// y = f(x), x = f^-1(y), and log |dy / dx|. What has no sign() is growing.

struct ExpTransform {
  i64 cache_size = 0; // nothing is kept
  Tensor forward(const Tensor &x) const { return x.exp(); }
  Tensor inverse(const Tensor &y) const { return y.log(); }
  Tensor log_abs_det_jacobian(const Tensor &x, const Tensor &) const {
    return x;
  }
};
struct SigmoidTransform {
  i64 cache_size = 0; // nothing is kept
  Tensor forward(const Tensor &x) const {
    return detail::clamp_probs(x.sigmoid());
  }
  Tensor inverse(const Tensor &y) const {
    Tensor inside = detail::clamp_probs(y);
    return inside.log() - inside.neg().log1p();
  }
  Tensor log_abs_det_jacobian(const Tensor &x, const Tensor &) const {
    return -nn::functional::softplus(-x) - nn::functional::softplus(x);
  }
};
struct TanhTransform {
  i64 cache_size = 0; // nothing is kept
  Tensor forward(const Tensor &x) const { return x.tanh(); }
  Tensor inverse(const Tensor &y) const { return y.atanh(); }
  Tensor log_abs_det_jacobian(const Tensor &x, const Tensor &) const {
    return (0.69314718055994530942 - x - nn::functional::softplus(x * -2.0)) *
           2.0;
  }
};
struct SoftplusTransform {
  i64 cache_size = 0; // nothing is kept
  Tensor forward(const Tensor &x) const { return nn::functional::softplus(x); }
  Tensor inverse(const Tensor &y) const {
    return y.neg().expm1().neg().log() + y;
  }
  Tensor log_abs_det_jacobian(const Tensor &x, const Tensor &) const {
    return -nn::functional::softplus(-x);
  }
};
/// loc + scale x.
struct AffineTransform {
  Operand loc, scale;
  AffineTransform(const Operand &loc, const Operand &scale)
      : loc(loc), scale(scale) {}
  Tensor forward(const Tensor &x) const { return loc + scale * x; }
  Tensor inverse(const Tensor &y) const { return (y - loc) / scale; }
  Tensor log_abs_det_jacobian(const Tensor &x, const Tensor &) const {
    return (x * 0.0 + scale).abs().log();
  }
  Tensor sign() const { return detail::as_tensor(scale).sign(); }
};

namespace detail {
template <class... T> struct Transforms {
  Tensor forward(const Tensor &x) const { return x; }
  /// Adds log |dy / dx| to the sum.
  Tensor inverse(const Tensor &y, Tensor &) const { return y; }
  Tensor inverse(const Tensor &y) const { return y; }
  Tensor sign() const { return {}; }
};
template <class First, class... Rest> struct Transforms<First, Rest...> {
  First first;
  Transforms<Rest...> rest;
  Tensor forward(const Tensor &x) const {
    return rest.forward(first.forward(x));
  }
  Tensor inverse(const Tensor &y, Tensor &sum) const {
    Tensor between = rest.inverse(y, sum), x = first.inverse(between);
    Tensor each = first.log_abs_det_jacobian(x, between);
    sum = sum.defined() ? sum + each : each;
    return x;
  }
  Tensor inverse(const Tensor &y) const {
    return first.inverse(rest.inverse(y));
  }
  /// -1 where y falls as x grows; undefined where all of them grow.
  Tensor sign() const {
    Tensor others = rest.sign();
    if constexpr (requires { first.sign(); })
      return others.defined() ? others * first.sign() : first.sign();
    return others;
  }
};
template <class... T> Transforms<T...> transforms_of(const T &...each) {
  if constexpr (sizeof...(T) == 0)
    return {};
  else
    return [](const auto &first, const auto &...rest) -> Transforms<T...> {
      return {first, transforms_of(rest...)};
    }(each...);
}
} // namespace detail

/// The transforms one after the other. Where the base's last dim is one event
/// (Independent, MultivariateNormal), it is here, too.
template <class Base, class... T> class TransformedDistribution {
public:
  Base base_dist;
  detail::Transforms<T...> transforms;

  explicit TransformedDistribution(const Base &base, const T &...transforms)
      : base_dist(base), transforms(detail::transforms_of(transforms...)) {}
  int event_dim() const {
    if constexpr (requires { base_dist.event_dim(); })
      return base_dist.event_dim();
    return 0;
  }
  Tensor log_prob(const Tensor &value) const {
    Tensor change, x = transforms.inverse(value, change);
    Tensor log = base_dist.log_prob(x);
    if (!change.defined())
      return log;
    for (int i = 0; i < event_dim(); ++i)
      change = change.sum(-1);
    return log - change;
  }
  /// Of events of one number.
  Tensor cdf(const Tensor &value) const {
    return rising(base_dist.cdf(transforms.inverse(value)));
  }
  Tensor icdf(const Tensor &value) const {
    return transforms.forward(base_dist.icdf(rising(value)));
  }
  Tensor sample() const {
    return transforms.forward(base_dist.sample()).detach();
  }
  Tensor rsample() const { return transforms.forward(base_dist.rsample()); }

private:
  /// A part from the other end where the transforms turn the order around.
  Tensor rising(const Tensor &part) const {
    Tensor sign = transforms.sign();
    return sign.defined() ? sign * (part - 0.5) + 0.5 : part;
  }
};

} // namespace dl::distributions
