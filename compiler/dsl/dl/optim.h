#pragma once
// torch.optim: SGD, Adam and AdamW, each an op. The others are in optimizers.h.
#include "optimizer.h"

namespace dl::optim {

struct SGDOptions {
  Scalar lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
  bool foreach = false,
       fused = false; ///< accepted: updates are one kernel anyway

  void check() const {
    detail::require_not_negative("SGD", "lr", lr);
    detail::require_not_negative("SGD", "momentum", momentum);
    detail::require_not_negative("SGD", "weight_decay", weight_decay);
    if (nesterov && (momentum.is_none() || !dampening.is_none()))
      detail::fail("SGD: nesterov needs a momentum and zero dampening");
  }
};

struct SGDGroup {
  Parameters params;
  detail::Given<Scalar> lr{}, momentum{}, dampening{}, weight_decay{};
  detail::Given<bool> nesterov{}, maximize{};

  SGDOptions over(const SGDOptions &standard) const {
    return {lr.otherwise(standard.lr),
            momentum.otherwise(standard.momentum),
            dampening.otherwise(standard.dampening),
            weight_decay.otherwise(standard.weight_decay),
            nesterov.otherwise(standard.nesterov),
            maximize.otherwise(standard.maximize)};
  }
};

class SGD : public Optimizer<SGDOptions, SGDGroup> {
public:
  using Optimizer::Optimizer;

  void step() override {
    step_groups([](const SGDOptions &o, auto update) {
      list<const char *> none, buffer = {"momentum_buffer"};
      update("sgd", o.momentum.is_none() ? none : buffer,
             {{"lr", o.lr},
              {"momentum", o.momentum},
              {"dampening", o.dampening},
              {"weight_decay", o.weight_decay},
              {"nesterov", o.nesterov},
              {"maximize", o.maximize},
              // The first buffer is the gradient itself.
              detail::Attr::count(!o.dampening.is_none())});
    });
  }
};

namespace detail {

/// Adam and AdamW: the latter's weight decay is apart from the gradient.
template <bool Decoupled> struct AdamOptions {
  Scalar lr = 1e-3;
  ByName by_name = {};
  Betas betas{};
  Scalar eps = 1e-8, weight_decay = Decoupled ? 1e-2 : 0;
  bool amsgrad = false, maximize = false;
  bool foreach = false,
       fused = false; ///< accepted: updates are one kernel anyway

  void check() const {
    const char *name = Decoupled ? "AdamW" : "Adam";
    require_not_negative(name, "lr", lr);
    require_not_negative(name, "eps", eps);
    require_not_negative(name, "weight_decay", weight_decay);
    require_betas(name, betas);
  }
};

template <bool Decoupled> struct AdamGroup {
  Parameters params;
  Given<Scalar> lr{};
  Given<Betas> betas{};
  Given<Scalar> eps{}, weight_decay{};
  Given<bool> amsgrad{}, maximize{};

  AdamOptions<Decoupled> over(const AdamOptions<Decoupled> &standard) const {
    return {lr.otherwise(standard.lr),
            {},
            betas.otherwise(standard.betas),
            eps.otherwise(standard.eps),
            weight_decay.otherwise(standard.weight_decay),
            amsgrad.otherwise(standard.amsgrad),
            maximize.otherwise(standard.maximize)};
  }
};

template <bool Decoupled>
class Adam : public Optimizer<AdamOptions<Decoupled>, AdamGroup<Decoupled>> {
public:
  using Optimizer<AdamOptions<Decoupled>, AdamGroup<Decoupled>>::Optimizer;

  void step() override {
    this->step_groups([](const AdamOptions<Decoupled> &o, auto update) {
      list<const char *> averages = {"exp_avg", "exp_avg_sq"},
                         largest = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
      update("adam", o.amsgrad ? largest : averages,
             {{"lr", o.lr},
              {"beta1", o.betas.first},
              {"beta2", o.betas.second},
              {"eps", o.eps},
              {"weight_decay", o.weight_decay},
              {"decoupled", Decoupled},
              {"maximize", o.maximize},
              Attr::count()});
    });
  }
};

} // namespace detail

using AdamOptions = detail::AdamOptions<false>;
using AdamWOptions = detail::AdamOptions<true>;

class Adam : public detail::Adam<false> {
public:
  using detail::Adam<false>::Adam;
};
class AdamW : public detail::Adam<true> {
public:
  using detail::Adam<true>::Adam;
};

} // namespace dl::optim
