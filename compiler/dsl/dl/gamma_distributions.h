#pragma once
// torch.distributions: Gamma, and what is made of its draws. (Draws have no
// gradient; PyTorch's rsample() has one.)
#include "bitwise.h"
#include "continuous_distributions.h"

namespace dl::distributions {

namespace detail {
/// Of rate 1, by G. Marsaglia and W. Tsang, "A Simple Method for Generating
/// Gamma Variables", 2000: a number is drawn until one is accepted, which
/// happens to 95 of 100 at least. A step has no such loop: it draws 12, of
/// which the last one that is accepted counts; none of them is once in 10^15
/// times. Below 1, of which the method knows nothing, it draws of concentration
/// + 1 and multiplies by what is left of it (the same paper, section 6).
inline Tensor standard_gamma(const Tensor &concentration) {
  constexpr int kDraws = 12;
  Tensor isSmall = concentration < 1.0;
  Tensor d = where(isSmall, concentration + 1, concentration) - 1.0 / 3;
  Tensor c = (d * 9).rsqrt(), found = ones_like(d);
  for (int i = 0; i < kDraws; ++i) {
    Tensor x = randn_like(d), v = (c * x + 1).pow(3);
    Tensor bound = x.square() * 0.5 + d - d * v + d * v.clamp_min(1e-30).log();
    found = where((v > 0.0) & (drawn_inside(d).log() < bound), v, found);
  }
  Tensor part = drawn_inside(d).pow(concentration.reciprocal());
  double tiny = dl_float_is_double() ? 0x1p-1022 : 0x1p-126;
  return (d * found * where(isSmall, part, 1.0)).clamp_min(tiny).detach();
}
} // namespace detail

/// Gamma(concentration, rate).
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
  Tensor sample() const { return detail::standard_gamma(concentration) / rate; }
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
  Tensor sample() const {
    Tensor each = detail::standard_gamma(concentration);
    return each / each.sum(-1, true);
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
  Tensor sample() const {
    Tensor one = detail::standard_gamma(concentration1);
    return one / (one + detail::standard_gamma(concentration0));
  }
  Dirichlet of_both() const {
    return Dirichlet(stack({concentration1, concentration0}, -1));
  }
};

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

} // namespace dl::distributions
