#pragma once
// torch.distributions: of numbers, with one or two long tails.
#include "gamma_distributions.h"

namespace dl::distributions {

/// Student's t, of df degrees of freedom.
class StudentT {
public:
  Tensor df, loc, scale;

  explicit StudentT(const Operand &degrees, const Operand &mean = 0.0,
                    const Operand &width = 1.0) {
    dl::detail::Called called("StudentT");
    Tensor place, both;
    detail::broadcast(mean, width, place, both);
    detail::broadcast(degrees, place, df, loc);
    scale = loc * 0 + both;
  }
  /// NaN where there is none.
  Tensor mean() const { return where(df.gt(1), loc, __builtin_nan("")); }
  Tensor variance() const {
    Tensor finite = df.gt(2);
    Tensor ratio = df / where(finite, df - 2, 1);
    return where(finite, scale.square() * ratio,
                 where(df.gt(1), __builtin_inf(), __builtin_nan("")));
  }
  Tensor log_prob(const Operand &value) const {
    Tensor y = (loc - value) / scale;
    return -0.5 * (df + 1) * (y.square() / df).log1p() - scale.log() -
           log_beta() - 0.5 * df.log();
  }
  Tensor entropy() const {
    Tensor half = 0.5 * (df + 1);
    return scale.log() + half * (half.digamma() - (0.5 * df).digamma()) +
           0.5 * df.log() + log_beta();
  }
  Tensor sample() const {
    Tensor chi2 = 2 * detail::standard_gamma(0.5 * df);
    return (loc + scale * randn_like(loc) * (chi2 / df).rsqrt()).detach();
  }

private:
  /// log B(df / 2, 1 / 2).
  Tensor log_beta() const {
    constexpr double kHalfLogPi = 0.57236494292470008707;
    return (0.5 * df).lgamma() + kHalfLogPi - (0.5 * (df + 1)).lgamma();
  }
};

/// Cauchy(loc, scale), which has neither mean nor variance.
class Cauchy {
public:
  Tensor loc, scale;

  Cauchy(const Operand &middle, const Operand &width) {
    dl::detail::Called called("Cauchy");
    detail::broadcast(middle, width, loc, scale);
  }
  Tensor mean() const { return full_like(loc, __builtin_nan("")); }
  Tensor variance() const { return full_like(loc, __builtin_inf()); }
  Tensor log_prob(const Operand &value) const {
    return -(dl::detail::kPi * scale).log() -
           ((loc - value) / scale).square().log1p();
  }
  Tensor entropy() const { return (4 * dl::detail::kPi * scale).log(); }
  Tensor cdf(const Operand &value) const {
    return ((value - loc) / scale).atan() / dl::detail::kPi + 0.5;
  }
  Tensor icdf(const Operand &value) const {
    Tensor middle = detail::as_tensor(value) - 0.5;
    return loc + scale * (middle * dl::detail::kPi).tan();
  }
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const {
    Tensor u = detail::drawn_inside(loc) - 0.5;
    return loc + scale * (u * dl::detail::kPi).tan();
  }
};

/// The size of a Normal(0, scale).
class HalfNormal {
public:
  Tensor scale;

  explicit HalfNormal(Tensor scale) : scale(scale) {}
  Tensor mean() const { return scale * __builtin_sqrt(2 / dl::detail::kPi); }
  Tensor variance() const { return scale.square() * (1 - 2 / dl::detail::kPi); }
  Tensor log_prob(Tensor value) const {
    Tensor twice = Normal(0.0, scale).log_prob(value) + kLog2;
    return where(value.ge(0), twice, -__builtin_inf());
  }
  Tensor entropy() const { return Normal(0.0, scale).entropy() - kLog2; }
  Tensor cdf(const Operand &value) const {
    return 2 * Normal(0.0, scale).cdf(value) - 1;
  }
  Tensor icdf(const Operand &value) const {
    return Normal(0.0, scale).icdf((detail::as_tensor(value) + 1) / 2);
  }
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const { return (scale * randn_like(scale)).abs(); }

private:
  static constexpr double kLog2 = 0.69314718055994530942;
};

/// Weibull(scale, concentration), of lifetimes.
class Weibull {
public:
  Tensor scale, concentration;

  Weibull(const Operand &width, const Operand &shape) {
    dl::detail::Called called("Weibull");
    detail::broadcast(width, shape, scale, concentration);
  }
  Tensor mean() const { return scale * moment(1); }
  Tensor variance() const {
    return scale.square() * (moment(2) - moment(1).square());
  }
  Tensor log_prob(Tensor value) const {
    Tensor part = value / scale;
    return (concentration / scale).log() + (concentration - 1) * part.log() -
           part.pow(concentration);
  }
  Tensor entropy() const {
    constexpr double kEuler = 0.57721566490153286061;
    return kEuler * (1 - concentration.reciprocal()) +
           (scale / concentration).log() + 1;
  }
  Tensor cdf(const Operand &value) const {
    return (value / scale).pow(concentration).neg().expm1().neg();
  }
  Tensor icdf(const Operand &value) const {
    Tensor e = detail::as_tensor(value).neg().log1p().neg();
    return scale * e.pow(concentration.reciprocal());
  }
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const {
    Tensor e = detail::drawn_inside(scale).log().neg();
    return scale * e.pow(concentration.reciprocal());
  }

private:
  Tensor moment(double k) const {
    return (k / concentration + 1).lgamma().exp();
  }
};

/// Pareto(scale, alpha), of what is at least `scale`.
class Pareto {
public:
  Tensor scale, alpha;

  Pareto(const Operand &least, const Operand &shape) {
    dl::detail::Called called("Pareto");
    detail::broadcast(least, shape, scale, alpha);
  }
  /// Infinite where there is none.
  Tensor mean() const {
    Tensor finite = alpha.gt(1);
    return where(finite, alpha * scale / where(finite, alpha - 1, 1),
                 __builtin_inf());
  }
  Tensor variance() const {
    Tensor finite = alpha.gt(2), a = where(finite, alpha, 3);
    return where(finite, scale.square() * a / ((a - 1).square() * (a - 2)),
                 __builtin_inf());
  }
  Tensor log_prob(Tensor value) const {
    return alpha.log() + alpha * scale.log() - (alpha + 1) * value.log();
  }
  Tensor entropy() const {
    return (scale / alpha).log() + 1 + alpha.reciprocal();
  }
  Tensor cdf(const Operand &value) const {
    return (alpha * (scale / value).log()).expm1().neg();
  }
  Tensor icdf(const Operand &value) const {
    Tensor e = detail::as_tensor(value).neg().log1p().neg();
    return scale * (e / alpha).exp();
  }
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const {
    Tensor e = detail::drawn_inside(scale).log().neg();
    return scale * (e / alpha).exp();
  }
};

} // namespace dl::distributions
