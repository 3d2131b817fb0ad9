#pragma once
// torch.distributions: what policies and densities are made of.
#include "sampling.h"

namespace dl::distributions {

/// Either chances or what their logarithms are but for a number.
struct LogitsOptions {
  Tensor probs, logits;
};

namespace detail {
using namespace dl::detail;
/// As far from 0 and 1 as one can tell.
inline Tensor clamp_probs(Tensor probs) {
  double eps = dl_float_is_double() ? 0x1p-52 : 0x1p-23;
  return probs.clamp(eps, 1 - eps);
}
inline void require_one(const char *what, const LogitsOptions &o) {
  if (o.probs.defined() == o.logits.defined())
    fail("{}: either probs or logits are given", what);
}
/// Both in the shape of both.
inline void broadcast(const Operand &a, const Operand &b, Tensor &x,
                      Tensor &y) {
  Tensor both = dl::mul(a, 0) + dl::mul(b, 0);
  x = both + a, y = both + b;
}
inline constexpr double kLogRoot2Pi = 0.91893853320467274178;
inline constexpr double kRootHalf = 0.70710678118654752440;
} // namespace detail

/// One of several, the last dim: Categorical(probs), or {.logits = logits}.
class Categorical {
public:
  Tensor probs, logits;

  explicit Categorical(Tensor probs) : Categorical({.probs = probs}) {}
  explicit Categorical(const LogitsOptions &given) {
    dl::detail::Called called("Categorical");
    detail::require_one("Categorical", given);
    if (given.logits.defined()) {
      logits = given.logits - given.logits.logsumexp(-1, true);
      probs = logits.softmax(-1);
    } else {
      probs = given.probs / given.probs.sum(-1, true);
      logits = detail::clamp_probs(probs).log();
    }
  }
  Tensor log_prob(Tensor value) const {
    return logits.gather(-1, value.to(kInt64).unsqueeze(-1)).squeeze(-1);
  }
  /// Of what cannot happen, with a logit of -inf, nothing: as in PyTorch.
  Tensor entropy() const {
    return (clamp_min(logits, -3.4028234663852886e38) * probs).sum(-1).neg();
  }
  Tensor sample() const {
    return (logits - rand_like(logits).log().neg().log()).argmax(-1).detach();
  }
};

/// Of 0 and 1: Bernoulli(probs), or {.logits = logits}.
class Bernoulli {
public:
  Tensor probs, logits;

  explicit Bernoulli(Tensor probs) : Bernoulli({.probs = probs}) {}
  explicit Bernoulli(const LogitsOptions &given) {
    dl::detail::Called called("Bernoulli");
    detail::require_one("Bernoulli", given);
    if (given.logits.defined()) {
      logits = given.logits;
      probs = logits.sigmoid();
    } else {
      probs = given.probs;
      Tensor inside = detail::clamp_probs(probs);
      logits = inside.log() - inside.neg().log1p();
    }
  }
  Tensor log_prob(Tensor value) const {
    return nn::functional::binary_cross_entropy_with_logits(
               logits, value, {.reduction = "none"})
        .neg();
  }
  Tensor entropy() const {
    return nn::functional::binary_cross_entropy_with_logits(
        logits, probs, {.reduction = "none"});
  }
  Tensor sample() const {
    return rand_like(probs).lt(probs).to(kFloat).detach();
  }
};

/// Normal(mu, sigma); either may be a number.
class Normal {
public:
  Tensor loc, scale;

  Normal(const Operand &mean, const Operand &deviation) {
    dl::detail::Called called("Normal");
    detail::broadcast(mean, deviation, loc, scale);
  }
  Tensor mean() const { return loc; }
  Tensor stddev() const { return scale; }
  Tensor variance() const { return scale.square(); }
  Tensor log_prob(const Operand &value) const {
    return (value - loc).square().neg() / (2 * scale.square()) - scale.log() -
           detail::kLogRoot2Pi;
  }
  Tensor entropy() const { return scale.log() + (0.5 + detail::kLogRoot2Pi); }
  Tensor cdf(const Operand &value) const {
    return 0.5 * (1 + ((value - loc) / scale * detail::kRootHalf).erf());
  }
  Tensor icdf(const Operand &value) const {
    Tensor both = detail::as_tensor(value) * 2 - 1;
    return loc + scale * both.erfinv() * (2 * detail::kRootHalf);
  }
  Tensor sample() const { return rsample().detach(); }
  /// With a gradient to both numbers.
  Tensor rsample() const { return loc + scale * randn_like(loc); }
};

inline Tensor kl_divergence(const Normal &p, const Normal &q) {
  Tensor ratio = (p.scale / q.scale).square();
  return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).square() - 1 - ratio.log());
}
inline Tensor kl_divergence(const Categorical &p, const Categorical &q) {
  return (p.probs * where(p.probs == 0, 0.0, p.logits - q.logits)).sum(-1);
}

} // namespace dl::distributions
