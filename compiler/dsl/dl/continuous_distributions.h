#pragma once
// torch.distributions: of numbers, beside Normal; of counts; of several at
// once.
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
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const {
    return loc - scale * detail::drawn_inside(loc).log().neg().log();
  }
};

/// Gamma(concentration, rate). (Draws would have to be rejected and repeated.)
class Gamma {
public:
  Tensor concentration, rate;

  Gamma(const Operand &shape, const Operand &inverse) {
    dl::detail::Called called("Gamma");
    detail::broadcast(shape, inverse, concentration, rate);
  }
  Tensor mean() const { return concentration / rate; }
  Tensor variance() const { return concentration / rate.square(); }
  Tensor log_prob(Tensor value) const {
    return concentration.xlogy(rate) + (concentration - 1).xlogy(value) -
           rate * value - concentration.lgamma();
  }
  Tensor entropy() const {
    return concentration - rate.log() + concentration.lgamma() +
           (1.0 - concentration) * concentration.digamma();
  }
};

/// Dirichlet(concentration), of chances along the last dim.
class Dirichlet {
public:
  Tensor concentration;

  explicit Dirichlet(Tensor concentration) : concentration(concentration) {}
  Tensor mean() const { return concentration / concentration.sum(-1, true); }
  Tensor log_prob(Tensor value) const {
    return (concentration - 1).xlogy(value).sum(-1) - log_normalizer();
  }
  Tensor entropy() const {
    Tensor all = concentration.sum(-1);
    double count = static_cast<double>(concentration.size(-1));
    return log_normalizer() - (count - all) * all.digamma() -
           ((concentration - 1) * concentration.digamma()).sum(-1);
  }
  /// The logarithm of the beta function.
  Tensor log_normalizer() const {
    return concentration.lgamma().sum(-1) - concentration.sum(-1).lgamma();
  }
};

/// Beta(concentration1, concentration0), of a chance.
class Beta {
public:
  Tensor concentration1, concentration0;

  Beta(const Operand &one, const Operand &zero) {
    dl::detail::Called called("Beta");
    detail::broadcast(one, zero, concentration1, concentration0);
  }
  Tensor mean() const {
    return concentration1 / (concentration1 + concentration0);
  }
  Tensor variance() const {
    Tensor all = concentration1 + concentration0;
    return concentration1 * concentration0 / (all.square() * (all + 1));
  }
  Tensor log_prob(Tensor value) const {
    return of_both().log_prob(stack({value, 1.0 - value}, -1));
  }
  Tensor entropy() const { return of_both().entropy(); }
  Dirichlet of_both() const {
    return Dirichlet(stack({concentration1, concentration0}, -1));
  }
};

/// Poisson(rate), of counts.
class Poisson {
public:
  Tensor rate;

  explicit Poisson(Tensor rate) : rate(rate) {}
  Tensor mean() const { return rate; }
  Tensor variance() const { return rate; }
  Tensor log_prob(Tensor value) const {
    return value.xlogy(rate) - rate - (value + 1).lgamma();
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
inline Tensor kl_divergence(const Gamma &p, const Gamma &q) {
  return q.concentration * (p.rate / q.rate).log() + q.concentration.lgamma() -
         p.concentration.lgamma() +
         (p.concentration - q.concentration) * p.concentration.digamma() +
         (q.rate - p.rate) * (p.concentration / p.rate);
}
inline Tensor kl_divergence(const Dirichlet &p, const Dirichlet &q) {
  Tensor slopes =
      p.concentration.digamma() - p.concentration.sum(-1, true).digamma();
  return q.log_normalizer() - p.log_normalizer() +
         ((p.concentration - q.concentration) * slopes).sum(-1);
}
inline Tensor kl_divergence(const Beta &p, const Beta &q) {
  return kl_divergence(p.of_both(), q.of_both());
}
template <class Base>
Tensor kl_divergence(const Independent<Base> &p, const Independent<Base> &q) {
  return p.summed(kl_divergence(p.base_dist, q.base_dist));
}

} // namespace dl::distributions
