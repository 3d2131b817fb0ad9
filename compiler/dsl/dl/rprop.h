#pragma once
// torch.optim.Rprop and ASGD, in the order of PyTorch's operations, with the
// names of its state.
#include "optimizers.h"

namespace dl::optim {

/// What a step's size is multiplied by: where the gradient changes its sign,
/// and where it keeps it.
struct Etas {
  Scalar minus = 0.5, plus = 1.2;
};
struct StepSizes {
  Scalar least = 1e-6, most = 50;
};

struct RpropOptions {
  Scalar lr = 1e-2; ///< the size of the first step
  Etas etas{};
  StepSizes step_sizes{};
  bool maximize = false;

  template <class F> void numbers(F f) {
    f("lr", lr), f("etaminus", etas.minus), f("etaplus", etas.plus);
    f("step_size_min", step_sizes.least), f("step_size_max", step_sizes.most);
  }
  void check() const {
    detail::require_numbers("Rprop", *this);
    if (!(etas.minus.known > 0 && etas.minus.known < 1 && etas.plus.known > 1))
      detail::fail("Rprop: etas = ({}, {}): one between 0 and 1 and one above "
                   "1 are wanted",
                   etas.minus.known, etas.plus.known);
    if (step_sizes.least.known > step_sizes.most.known)
      detail::fail("Rprop: step_sizes = ({}, {}): the least is above the most",
                   step_sizes.least.known, step_sizes.most.known);
  }
};
struct RpropGroup {
  Parameters params;
  detail::Given<Scalar> lr{};
  detail::Given<Etas> etas{};
  detail::Given<StepSizes> step_sizes{};
  detail::Given<bool> maximize{};

  RpropOptions over(const RpropOptions &standard) const {
    return {lr.otherwise(standard.lr), etas.otherwise(standard.etas),
            step_sizes.otherwise(standard.step_sizes),
            maximize.otherwise(standard.maximize)};
  }
};
/// Each element has a step size of its own, and of the gradient only the sign
/// counts: for whole batches. (Riedmiller and Braun, "A Direct Adaptive Method
/// for Faster Backpropagation Learning", 1993)
class Rprop : public Optimizer<RpropOptions, RpropGroup> {
public:
  using Optimizer::Optimizer;

  void step() override {
    step_parameters([](const RpropOptions &o, const detail::Updated &p) {
      Tensor agreement = p.gradient * p.slot("prev");
      Tensor turned = agreement.lt(0), kept = agreement.gt(0);
      Tensor before =
          p.slot("step_size") + where(p.count() == 1, o.lr, Scalar(0));
      Tensor size = where(kept, before * o.etas.plus,
                          where(turned, before * o.etas.minus, before));
      size =
          p.keep("step_size",
                 size.maximum(o.step_sizes.least).minimum(o.step_sizes.most));
      Tensor g = p.keep("prev", where(turned, 0.0, p.gradient));
      p.become(p.parameter - g.sign() * size);
    });
  }
};

struct ASGDOptions {
  Scalar lr = 1e-2, lambd = 1e-4, alpha = 0.75, t0 = 1e6, weight_decay = 0;
  bool maximize = false;

  template <class F> void numbers(F f) {
    f("lr", lr), f("lambd", lambd), f("alpha", alpha), f("t0", t0);
    f("weight_decay", weight_decay);
  }
  void check() const { detail::require_numbers("ASGD", *this); }
};
struct ASGDGroup {
  Parameters params;
  detail::Given<Scalar> lr{}, lambd{}, alpha{}, t0{}, weight_decay{};
  detail::Given<bool> maximize{};

  ASGDOptions over(const ASGDOptions &standard) const {
    return {lr.otherwise(standard.lr),
            lambd.otherwise(standard.lambd),
            alpha.otherwise(standard.alpha),
            t0.otherwise(standard.t0),
            weight_decay.otherwise(standard.weight_decay),
            maximize.otherwise(standard.maximize)};
  }
};
/// The state ax is the average of the parameter from step t0 on. (Polyak and
/// Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992)
class ASGD : public Optimizer<ASGDOptions, ASGDGroup> {
public:
  using Optimizer::Optimizer;

  void step() override {
    step_parameters([](const ASGDOptions &o, const detail::Updated &p) {
      Scalar count = p.count();
      Tensor g = detail::decayed(p, o.weight_decay);
      Scalar eta = where(count == 1, o.lr, p.number("eta", 0));
      Scalar mu = 1 / maximum(1, count - 1 - o.t0);
      Tensor value = p.parameter * (1 - o.lambd * eta) - g * eta;
      Tensor average = p.slot("ax"), weight = zeros({}) + mu;
      p.keep("ax",
             where(weight.eq(1), value, average + (value - average) * mu));
      p.keep("eta", o.lr / pow(1 + o.lambd * o.lr * count, o.alpha));
      p.become(value);
    });
  }
};

} // namespace dl::optim
