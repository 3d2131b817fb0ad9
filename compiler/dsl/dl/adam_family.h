#pragma once
// Relatives of Adam that are formulas in ops, in the order of PyTorch's
// operations, with the names of its state; and Lion.
#include "optimizers.h"

namespace dl::optim {

namespace detail {
/// Weight decay on the parameter itself (Loshchilov and Hutter, "Decoupled
/// Weight Decay Regularization", 2019), or as a part of the gradient.
struct Decayed {
  Tensor parameter, gradient;
};
template <class Options>
Decayed decayed_either_way(const Options &o, const Updated &p) {
  if (o.decoupled_weight_decay)
    return {p.parameter * (1 - o.lr * o.weight_decay), p.gradient};
  return {p.parameter, decayed(p, o.weight_decay)};
}
} // namespace detail

struct AdamaxOptions {
  Scalar lr = 2e-3;
  detail::ByName by_name = {};
  Betas betas{};
  Scalar eps = 1e-8, weight_decay = 0;
  bool maximize = false;

  template <class F> void numbers(F f) {
    f("lr", lr), f("beta1", betas.first), f("beta2", betas.second);
    f("eps", eps), f("weight_decay", weight_decay);
  }
  void check() const {
    detail::require_numbers("Adamax", *this);
    detail::require_betas("Adamax", betas);
  }
};
struct AdamaxGroup {
  Parameters params;
  detail::Given<Scalar> lr{};
  detail::Given<Betas> betas{};
  detail::Given<Scalar> eps{}, weight_decay{};
  detail::Given<bool> maximize{};

  AdamaxOptions over(const AdamaxOptions &standard) const {
    return {lr.otherwise(standard.lr),
            {},
            betas.otherwise(standard.betas),
            eps.otherwise(standard.eps),
            weight_decay.otherwise(standard.weight_decay),
            maximize.otherwise(standard.maximize)};
  }
};
class Adamax : public Optimizer<AdamaxOptions, AdamaxGroup> {
public:
  using Optimizer::Optimizer;

  void step() override {
    step_parameters([](const AdamaxOptions &o, const detail::Updated &p) {
      Tensor g = detail::decayed(p, o.weight_decay);
      Tensor mean = detail::averaged(p, "exp_avg", o.betas.first, g);
      Tensor largest =
          p.keep("exp_inf",
                 (p.slot("exp_inf") * o.betas.second).maximum(g.abs() + o.eps));
      Scalar rate = o.lr / (1 - pow(o.betas.first, p.count()));
      p.become(p.parameter - mean / largest * rate);
    });
  }
};

struct NAdamOptions {
  Scalar lr = 2e-3;
  detail::ByName by_name = {};
  Betas betas{};
  Scalar eps = 1e-8, weight_decay = 0, momentum_decay = 4e-3;
  bool decoupled_weight_decay = false, maximize = false;

  template <class F> void numbers(F f) {
    f("lr", lr), f("beta1", betas.first), f("beta2", betas.second);
    f("eps", eps), f("weight_decay", weight_decay);
    f("momentum_decay", momentum_decay);
  }
  void check() const {
    detail::require_numbers("NAdam", *this);
    detail::require_betas("NAdam", betas);
  }
};
struct NAdamGroup {
  Parameters params;
  detail::Given<Scalar> lr{};
  detail::Given<Betas> betas{};
  detail::Given<Scalar> eps{}, weight_decay{}, momentum_decay{};
  detail::Given<bool> decoupled_weight_decay{}, maximize{};

  NAdamOptions over(const NAdamOptions &standard) const {
    return {lr.otherwise(standard.lr),
            {},
            betas.otherwise(standard.betas),
            eps.otherwise(standard.eps),
            weight_decay.otherwise(standard.weight_decay),
            momentum_decay.otherwise(standard.momentum_decay),
            decoupled_weight_decay.otherwise(standard.decoupled_weight_decay),
            maximize.otherwise(standard.maximize)};
  }
};
class NAdam : public Optimizer<NAdamOptions, NAdamGroup> {
public:
  using Optimizer::Optimizer;

  void step() override {
    step_parameters([](const NAdamOptions &o, const detail::Updated &p) {
      auto [parameter, g] = detail::decayed_either_way(o, p);
      auto [beta1, beta2] = o.betas;
      Scalar count = p.count();
      auto momentum = [&](Scalar at) {
        return beta1 * (1 - 0.5 * pow(0.96, at * o.momentum_decay));
      };
      Scalar now = momentum(count), next = momentum(count + 1);
      Scalar product = p.keep("mu_product", p.number("mu_product", 1) * now);
      Tensor mean = detail::averaged(p, "exp_avg", beta1, g);
      Tensor square = detail::averaged(p, "exp_avg_sq", beta2, g.square());
      Tensor root = (square / (1 - pow(beta2, count))).sqrt() + o.eps;
      parameter = parameter - g / root * (o.lr * (1 - now) / (1 - product));
      p.become(parameter - mean / root * (o.lr * next / (1 - product * next)));
    });
  }
};

struct RAdamOptions {
  Scalar lr = 1e-3;
  detail::ByName by_name = {};
  Betas betas{};
  Scalar eps = 1e-8, weight_decay = 0;
  bool decoupled_weight_decay = false, maximize = false;

  template <class F> void numbers(F f) {
    f("lr", lr), f("beta1", betas.first), f("beta2", betas.second);
    f("eps", eps), f("weight_decay", weight_decay);
  }
  void check() const {
    detail::require_numbers("RAdam", *this);
    detail::require_betas("RAdam", betas);
  }
};
struct RAdamGroup {
  Parameters params;
  detail::Given<Scalar> lr{};
  detail::Given<Betas> betas{};
  detail::Given<Scalar> eps{}, weight_decay{};
  detail::Given<bool> decoupled_weight_decay{}, maximize{};

  RAdamOptions over(const RAdamOptions &standard) const {
    return {lr.otherwise(standard.lr),
            {},
            betas.otherwise(standard.betas),
            eps.otherwise(standard.eps),
            weight_decay.otherwise(standard.weight_decay),
            decoupled_weight_decay.otherwise(standard.decoupled_weight_decay),
            maximize.otherwise(standard.maximize)};
  }
};
class RAdam : public Optimizer<RAdamOptions, RAdamGroup> {
public:
  using Optimizer::Optimizer;

  void step() override {
    step_parameters([](const RAdamOptions &o, const detail::Updated &p) {
      auto [parameter, g] = detail::decayed_either_way(o, p);
      auto [beta1, beta2] = o.betas;
      Tensor mean = detail::averaged(p, "exp_avg", beta1, g);
      Tensor square = detail::averaged(p, "exp_avg_sq", beta2, g.square());
      Scalar count = p.count(), power = pow(beta2, count), rest = 1 - power;
      Scalar limit = 2 / (1 - beta2) - 1;
      Scalar length = limit - 2 * count * power / rest;
      Condition adapts = length > 5.0;
      Scalar held = maximum(length, 5.0); // no root of a negative number
      Scalar rectified = sqrt((held - 4) * (held - 2) * limit /
                              ((limit - 4) * (limit - 2) * held) * rest);
      Tensor factor = where(adapts, rectified, 0.0) / (square.sqrt() + o.eps) +
                      where(adapts, 0.0, 1.0);
      Scalar rate = o.lr / (1 - pow(beta1, count));
      p.become(parameter - mean * factor * rate);
    });
  }
};

struct LionOptions {
  Scalar lr = 1e-4;
  detail::ByName by_name = {};
  Betas betas{0.9, 0.99};
  Scalar weight_decay = 0;
  bool maximize = false;

  template <class F> void numbers(F f) {
    f("lr", lr), f("beta1", betas.first), f("beta2", betas.second);
    f("weight_decay", weight_decay);
  }
  void check() const {
    detail::require_numbers("Lion", *this);
    detail::require_betas("Lion", betas);
  }
};
struct LionGroup {
  Parameters params;
  detail::Given<Scalar> lr{};
  detail::Given<Betas> betas{};
  detail::Given<Scalar> weight_decay{};
  detail::Given<bool> maximize{};

  LionOptions over(const LionOptions &standard) const {
    return {lr.otherwise(standard.lr),
            {},
            betas.otherwise(standard.betas),
            weight_decay.otherwise(standard.weight_decay),
            maximize.otherwise(standard.maximize)};
  }
};
/// As lucidrains/lion-pytorch: decay, then the sign, then the average.
class Lion : public Optimizer<LionOptions, LionGroup> {
public:
  using Optimizer::Optimizer;

  void step() override {
    step_parameters([](const LionOptions &o, const detail::Updated &p) {
      Tensor parameter = p.parameter, mean = p.slot("exp_avg"), g = p.gradient;
      if (!o.weight_decay.is_none())
        parameter = parameter * (1 - o.lr * o.weight_decay);
      Tensor change = detail::average(mean, o.betas.first, g).sign();
      detail::averaged(p, "exp_avg", o.betas.second, g);
      p.become(parameter - change * o.lr);
    });
  }
};

} // namespace dl::optim
