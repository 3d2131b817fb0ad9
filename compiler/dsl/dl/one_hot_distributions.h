#pragma once
// Choices as vectors, and their relaxations: Maddison et al., "The Concrete
// Distribution", 2017; Jang et al., "Categorical Reparameterization with
// Gumbel-Softmax", 2017.
#include "continuous_distributions.h"
#include "special.h"

namespace dl::distributions {

/// One of several as 0, ..., 1, ..., 0: OneHotCategorical(probs), or
/// {.logits = logits}.
class OneHotCategorical {
public:
  Categorical categorical;
  Tensor probs, logits;

  explicit OneHotCategorical(Tensor probs)
      : OneHotCategorical(LogitsOptions{.probs = probs}) {}
  explicit OneHotCategorical(const LogitsOptions &given)
      : categorical(given), probs(categorical.probs),
        logits(categorical.logits) {}
  static constexpr int event_dim() { return 1; }
  Tensor mean() const { return probs; }
  Tensor variance() const { return probs * (1.0 - probs); }
  Tensor log_prob(Tensor value) const {
    return categorical.log_prob(value.argmax(-1));
  }
  Tensor entropy() const { return categorical.entropy(); }
  Tensor sample() const {
    return nn::functional::one_hot(categorical.sample(), probs.size(-1))
        .to(probs.dtype());
  }
};

/// The same, with the gradient of the chances.
class OneHotCategoricalStraightThrough : public OneHotCategorical {
public:
  using OneHotCategorical::OneHotCategorical;
  Tensor rsample() const { return sample() + (probs - probs.detach()); }
};

/// Between one choice, at temperature 0, and all of them.
class RelaxedOneHotCategorical {
public:
  Tensor temperature, probs, logits;

  RelaxedOneHotCategorical(const Operand &temperature, Tensor probs)
      : RelaxedOneHotCategorical(temperature, LogitsOptions{.probs = probs}) {}
  RelaxedOneHotCategorical(const Operand &temperature,
                           const LogitsOptions &given) {
    Categorical categorical(given);
    probs = categorical.probs, logits = categorical.logits;
    this->temperature = logits.select(-1, 0) * 0.0 + temperature;
  }
  static constexpr int event_dim() { return 1; }
  Tensor log_prob(Tensor value) const {
    double count = static_cast<double>(logits.size(-1));
    Tensor log = value.log();
    Tensor score = logits - log * temperature.unsqueeze(-1);
    score = (score - score.logsumexp(-1, true)).sum(-1);
    return score + lgamma(full_like(temperature, count)) +
           temperature.log() * (count - 1) - log.sum(-1);
  }
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const {
    Tensor noise = rand_like(logits).log().neg().log();
    return ((logits - noise) / temperature.unsqueeze(-1)).softmax(-1);
  }
};

/// Between 0 and 1.
class RelaxedBernoulli {
public:
  Tensor temperature, probs, logits;

  RelaxedBernoulli(const Operand &temperature, Tensor probs)
      : RelaxedBernoulli(temperature, LogitsOptions{.probs = probs}) {}
  RelaxedBernoulli(const Operand &temperature, const LogitsOptions &given) {
    Bernoulli bernoulli(given);
    probs = bernoulli.probs, logits = bernoulli.logits;
    this->temperature = logits * 0.0 + temperature;
  }
  Tensor log_prob(Tensor value) const {
    Tensor place = value.log() - value.neg().log1p();
    Tensor apart = logits - place * temperature;
    Tensor density =
        temperature.log() + apart - nn::functional::softplus(apart) * 2.0;
    return density + nn::functional::softplus(place) +
           nn::functional::softplus(-place);
  }
  Tensor sample() const { return rsample().detach(); }
  Tensor rsample() const {
    Tensor u = detail::clamp_probs(rand_like(logits));
    return ((u.log() - u.neg().log1p() + logits) / temperature).sigmoid();
  }
};

inline Tensor kl_divergence(const OneHotCategorical &p,
                            const OneHotCategorical &q) {
  return kl_divergence(p.categorical, q.categorical);
}

} // namespace dl::distributions
