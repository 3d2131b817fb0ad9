#pragma once
// torch.distributions: of counts.
#include "continuous_distributions.h"

namespace dl::distributions {

/// Poisson(rate).
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

/// How often something with probability probs does not happen before it does:
/// Geometric(probs), or {.logits = logits}.
class Geometric {
public:
  Tensor probs, logits;

  explicit Geometric(Tensor probs) : Geometric({.probs = probs}) {}
  explicit Geometric(const LogitsOptions &given) {
    dl::detail::Called called("Geometric");
    detail::require_one("Geometric", given);
    Bernoulli once(given);
    probs = once.probs;
    logits = once.logits;
  }
  Tensor mean() const { return probs.reciprocal() - 1; }
  Tensor variance() const { return (probs.reciprocal() - 1) / probs; }
  Tensor log_prob(Tensor value) const {
    return value * (-probs).log1p() + probs.log();
  }
  Tensor entropy() const {
    return Bernoulli({.logits = logits}).entropy() / probs;
  }
  Tensor sample() const {
    Tensor u = detail::drawn_inside(probs);
    return (u.log() / (-probs).log1p()).floor().detach();
  }
};

/// Of total_count trials those that succeed: Binomial(10, {.probs = p}).
class Binomial {
public:
  i64 total_count;
  Tensor probs, logits;

  Binomial(i64 total_count, const LogitsOptions &given)
      : total_count(total_count) {
    dl::detail::Called called("Binomial");
    detail::require_one("Binomial", given);
    if (total_count < 0)
      dl::detail::fail("Binomial: total_count = {}; at least 0 is wanted",
                       total_count);
    Bernoulli once(given);
    probs = once.probs;
    logits = once.logits;
  }
  Binomial(i64 total_count, Tensor probs)
      : Binomial(total_count, {.probs = probs}) {}
  Tensor mean() const { return probs * count(); }
  Tensor variance() const { return probs * (1 - probs) * count(); }
  Tensor log_prob(Tensor value) const {
    Tensor norm = logits.clamp_min(0) + (-logits.abs()).exp().log1p();
    return value * logits - (value + 1).lgamma() -
           (count() - value + 1).lgamma() - count() * norm +
           __builtin_lgamma(count() + 1);
  }
  Tensor sample() const {
    Shape each = probs.sizes(), all{total_count};
    for (int i = 0; i < each.rank; ++i)
      all.push_back(each[i]);
    return rand(all).lt(probs).to(probs.dtype()).sum(0).detach();
  }

private:
  double count() const { return static_cast<double>(total_count); }
};

/// How many successes there are before total_count failures:
/// NegativeBinomial(total_count, {.probs = p}), or {.logits = logits}.
class NegativeBinomial {
public:
  Tensor total_count, probs, logits;

  NegativeBinomial(const Operand &failures, const LogitsOptions &given) {
    dl::detail::Called called("NegativeBinomial");
    detail::require_one("NegativeBinomial", given);
    Bernoulli once(given);
    detail::broadcast(failures, once.logits, total_count, logits);
    probs = logits * 0 + once.probs;
  }
  NegativeBinomial(const Operand &total_count, Tensor probs)
      : NegativeBinomial(total_count, {.probs = probs}) {}
  Tensor mean() const { return total_count * logits.exp(); }
  Tensor variance() const { return mean() / (-logits).sigmoid(); }
  Tensor log_prob(Tensor value) const {
    return nn::functional::logsigmoid(-logits) * total_count +
           nn::functional::logsigmoid(logits) * value +
           (total_count + value).lgamma() - (value + 1).lgamma() -
           total_count.lgamma();
  }
};

} // namespace dl::distributions
