#pragma once
// torch.distributions: of numbers, beside Normal; of several at once.
#include "distributions.h"
#include "special.h"

namespace dl::distributions {

namespace detail {
/// Of [0, 1), and of (0, 1).
inline Tensor drawn(const Tensor &like) { return rand_like(like); }
inline Tensor drawn_inside(const Tensor &like) {
  double tiny = dl_float_is_double() ? 0x1p-1022 : 0x1p-126;
  double eps = dl_float_is_double() ? 0x1p-53 : 0x1p-24;
  return rand_like(like).clamp(tiny, 1 - eps);
}
} // namespace detail

/// Uniform(low, high), of [low, high).
class Uniform {
public:
  Tensor low, high;

  Uniform(const Operand &from, const Operand &to) {
    dl::detail::Called called("Uniform");
    detail::broadcast(from, to, low, high);
  }
  Tensor mean() const { return (low + high) / 2; }
  Tensor variance() const { return (high - low).square() / 12; }
  Tensor log_prob(const Operand &value) const {
    Tensor inside = low.le(value).logical_and(high.gt(value));
    return inside.to(low.dtype()).log() - (high - low).log();
  }
  Tensor entropy() const { return (high - low).log(); }
  Tensor cdf(const Operand &value) const {
    return ((value - low) / (high - low)).clamp(0, 1);
  }
  Tensor icdf(const Operand &value) const { return low + value * (high - low); }
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const { return low + detail::drawn(low) * (high - low); }
};

/// Laplace(loc, scale).
class Laplace {
public:
  Tensor loc, scale;

  Laplace(const Operand &mean, const Operand &width) {
    dl::detail::Called called("Laplace");
    detail::broadcast(mean, width, loc, scale);
  }
  Tensor mean() const { return loc; }
  Tensor variance() const { return 2 * scale.square(); }
  Tensor log_prob(const Operand &value) const {
    return (2 * scale).log().neg() - (loc - value).abs() / scale;
  }
  Tensor entropy() const { return 1 + (2 * scale).log(); }
  Tensor cdf(const Operand &value) const {
    Tensor apart = value - loc;
    return 0.5 - 0.5 * apart.sign() * (apart.abs() / scale).neg().expm1();
  }
  Tensor icdf(const Operand &value) const {
    Tensor middle = detail::as_tensor(value) - 0.5;
    return loc - scale * middle.sign() * (middle.abs() * -2).log1p();
  }
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const {
    Tensor u = detail::drawn_inside(loc) * 2 - 1;
    double eps = dl_float_is_double() ? 0x1p-52 : 0x1p-23;
    Tensor size = u.abs().clamp_max(1 - eps);
    return loc - scale * u.sign() * size.neg().log1p();
  }
};

/// exp of a Normal(loc, scale).
class LogNormal {
public:
  Normal base;

  LogNormal(const Operand &loc, const Operand &scale) : base(loc, scale) {}
  Tensor mean() const { return (base.loc + base.scale.square() / 2).exp(); }
  Tensor variance() const {
    Tensor square = base.scale.square();
    return square.expm1() * (2 * base.loc + square).exp();
  }
  Tensor log_prob(Tensor value) const {
    Tensor logarithm = value.log();
    return base.log_prob(logarithm) - logarithm;
  }
  Tensor entropy() const { return base.entropy() + base.loc; }
  Tensor cdf(Tensor value) const { return base.cdf(value.log()); }
  Tensor icdf(const Operand &value) const { return base.icdf(value).exp(); }
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const { return base.rsample().exp(); }
};

/// Exponential(rate).
class Exponential {
public:
  Tensor rate;

  explicit Exponential(Tensor rate) : rate(rate) {}
  Tensor mean() const { return 1.0 / rate; }
  Tensor variance() const { return 1.0 / rate.square(); }
  Tensor log_prob(const Operand &value) const {
    return rate.log() - rate * value;
  }
  Tensor entropy() const { return 1.0 - rate.log(); }
  Tensor cdf(const Operand &value) const {
    return (rate * value).neg().expm1().neg();
  }
  Tensor icdf(const Operand &value) const {
    return detail::as_tensor(value).neg().log1p().neg() / rate;
  }
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const {
    return detail::drawn(rate).neg().log1p().neg() / rate;
  }
};

/// Gumbel(loc, scale), of maxima.
class Gumbel {
  static constexpr double kEuler = 0.57721566490153286061;

public:
  Tensor loc, scale;

  Gumbel(const Operand &place, const Operand &width) {
    dl::detail::Called called("Gumbel");
    detail::broadcast(place, width, loc, scale);
  }
  Tensor mean() const { return loc + scale * kEuler; }
  Tensor variance() const {
    return scale.square() * (dl::detail::kPi * dl::detail::kPi / 6);
  }
  Tensor log_prob(const Operand &value) const {
    Tensor y = (loc - value) / scale;
    return y - y.exp() - scale.log();
  }
  Tensor entropy() const { return scale.log() + (1 + kEuler); }
  Tensor cdf(const Operand &value) const {
    return ((loc - value) / scale).exp().neg().exp();
  }
  Tensor icdf(const Operand &value) const {
    return loc - scale * detail::as_tensor(value).log().neg().log();
  }
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const {
    return loc - scale * detail::drawn_inside(loc).log().neg().log();
  }
};

/// The last `dims` dims of what it is made of are one event:
/// Independent(Normal(mu, sigma), 1).
template <class Base> class Independent {
  int dims;

public:
  Base base_dist;

  Independent(Base base, int reinterpreted_batch_ndims)
      : dims(reinterpreted_batch_ndims), base_dist(base) {}
  int event_dim() const { return dims; }
  Tensor mean() const { return base_dist.mean(); }
  Tensor variance() const { return base_dist.variance(); }
  Tensor log_prob(Tensor value) const {
    return summed(base_dist.log_prob(value));
  }
  Tensor entropy() const { return summed(base_dist.entropy()); }
  Tensor sample() const { return base_dist.sample(); }
  Tensor rsample() const { return base_dist.rsample(); }
  /// One number for each event.
  Tensor summed(Tensor each) const {
    if (each.dim() < dims)
      dl::detail::fail("Independent: {} dims of {}", dims, each.sizes());
    for (int i = 0; i < dims; ++i)
      each = each.sum(-1);
    return each;
  }
};

inline Tensor kl_divergence(const Bernoulli &p, const Bernoulli &q) {
  auto softplus = [](const Tensor &x) { return nn::functional::softplus(x); };
  return p.probs * (softplus(q.logits.neg()) - softplus(p.logits.neg())) +
         (1.0 - p.probs) * (softplus(q.logits) - softplus(p.logits));
}
inline Tensor kl_divergence(const Laplace &p, const Laplace &q) {
  Tensor ratio = p.scale / q.scale, apart = (p.loc - q.loc).abs();
  return apart / q.scale - ratio.log() + ratio * (apart / p.scale).neg().exp() -
         1;
}
inline Tensor kl_divergence(const Exponential &p, const Exponential &q) {
  Tensor ratio = q.rate / p.rate;
  return ratio - ratio.log() - 1;
}
template <class Base>
Tensor kl_divergence(const Independent<Base> &p, const Independent<Base> &q) {
  return p.summed(kl_divergence(p.base_dist, q.base_dist));
}

} // namespace dl::distributions
