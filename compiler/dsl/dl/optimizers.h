#pragma once
// The optimizers of torch.optim that are formulas in ops, in the order of
// PyTorch's operations, with the names of its state: Adagrad, Adadelta,
// RMSprop.
#include "optimizer.h"

namespace dl::optim {

namespace detail {
/// The gradient with L2 decay.
inline Tensor decayed(const Updated &p, const Scalar &weight_decay) {
  return weight_decay.is_none() ? p.gradient
                                : p.gradient + p.parameter * weight_decay;
}
/// kept * a + (1 - kept) * b.
inline Tensor average(const Tensor &a, const Scalar &kept, const Tensor &b) {
  return a * kept + b * (1 - kept);
}
/// The running average that a slot keeps, with a new value in it.
inline Tensor averaged(const Updated &p, const char *slot, const Scalar &kept,
                       const Tensor &value) {
  return p.keep(slot, average(p.slot(slot), kept, value));
}
} // namespace detail

struct AdagradOptions {
  Scalar lr = 1e-2, lr_decay = 0, weight_decay = 0;
  double initial_accumulator_value = 0;
  Scalar eps = 1e-10;
  bool maximize = false;

  template <class F> void numbers(F f) {
    f("lr", lr), f("lr_decay", lr_decay), f("weight_decay", weight_decay);
    f("eps", eps);
  }
  void check() const {
    detail::require_numbers("Adagrad", *this);
    detail::require_not_negative("Adagrad", "initial_accumulator_value",
                                 initial_accumulator_value);
  }
};
struct AdagradGroup {
  Parameters params;
  detail::Given<Scalar> lr{}, lr_decay{}, weight_decay{};
  detail::Given<double> initial_accumulator_value{};
  detail::Given<Scalar> eps{};
  detail::Given<bool> maximize{};

  AdagradOptions over(const AdagradOptions &standard) const {
    return {
        lr.otherwise(standard.lr),
        lr_decay.otherwise(standard.lr_decay),
        weight_decay.otherwise(standard.weight_decay),
        initial_accumulator_value.otherwise(standard.initial_accumulator_value),
        eps.otherwise(standard.eps),
        maximize.otherwise(standard.maximize)};
  }
};
class Adagrad : public Optimizer<AdagradOptions, AdagradGroup> {
public:
  using Optimizer::Optimizer;

  void step() override {
    step_parameters([](const AdagradOptions &o, const detail::Updated &p) {
      Tensor g = detail::decayed(p, o.weight_decay);
      Scalar rate = o.lr_decay.is_none()
                        ? o.lr
                        : o.lr / (1 + (p.count() - 1) * o.lr_decay);
      Tensor sum = p.keep("sum", p.slot("sum", o.initial_accumulator_value) +
                                     g.square());
      p.become(p.parameter - g / (sum.sqrt() + o.eps) * rate);
    });
  }
};

struct AdadeltaOptions {
  Scalar lr = 1.0, rho = 0.9, eps = 1e-6, weight_decay = 0;
  bool maximize = false;

  template <class F> void numbers(F f) {
    f("lr", lr), f("rho", rho), f("eps", eps), f("weight_decay", weight_decay);
  }
  void check() const { detail::require_numbers("Adadelta", *this); }
};
struct AdadeltaGroup {
  Parameters params;
  detail::Given<Scalar> lr{}, rho{}, eps{}, weight_decay{};
  detail::Given<bool> maximize{};

  AdadeltaOptions over(const AdadeltaOptions &standard) const {
    return {lr.otherwise(standard.lr), rho.otherwise(standard.rho),
            eps.otherwise(standard.eps),
            weight_decay.otherwise(standard.weight_decay),
            maximize.otherwise(standard.maximize)};
  }
};
class Adadelta : public Optimizer<AdadeltaOptions, AdadeltaGroup> {
public:
  using Optimizer::Optimizer;

  void step() override {
    step_parameters([](const AdadeltaOptions &o, const detail::Updated &p) {
      Tensor g = detail::decayed(p, o.weight_decay);
      Tensor before = p.slot("acc_delta");
      Tensor square = detail::averaged(p, "square_avg", o.rho, g.square());
      Tensor delta = (before + o.eps).sqrt() / (square + o.eps).sqrt() * g;
      p.keep("acc_delta", detail::average(before, o.rho, delta.square()));
      p.become(p.parameter - delta * o.lr);
    });
  }
};

struct RMSpropOptions {
  Scalar lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
  bool centered = false, maximize = false;

  template <class F> void numbers(F f) {
    f("lr", lr), f("alpha", alpha), f("eps", eps);
    f("weight_decay", weight_decay), f("momentum", momentum);
  }
  void check() const { detail::require_numbers("RMSprop", *this); }
};
struct RMSpropGroup {
  Parameters params;
  detail::Given<Scalar> lr{}, alpha{}, eps{}, weight_decay{}, momentum{};
  detail::Given<bool> centered{}, maximize{};

  RMSpropOptions over(const RMSpropOptions &standard) const {
    return {lr.otherwise(standard.lr),
            alpha.otherwise(standard.alpha),
            eps.otherwise(standard.eps),
            weight_decay.otherwise(standard.weight_decay),
            momentum.otherwise(standard.momentum),
            centered.otherwise(standard.centered),
            maximize.otherwise(standard.maximize)};
  }
};
/// eps is outside of the root.
class RMSprop : public Optimizer<RMSpropOptions, RMSpropGroup> {
public:
  using Optimizer::Optimizer;

  void step() override {
    step_parameters([](const RMSpropOptions &o, const detail::Updated &p) {
      Tensor g = detail::decayed(p, o.weight_decay);
      Tensor square = detail::averaged(p, "square_avg", o.alpha, g.square());
      if (o.centered)
        square = square - detail::averaged(p, "grad_avg", o.alpha, g).square();
      Tensor change = g / (square.sqrt() + o.eps);
      if (!o.momentum.is_none())
        change = p.keep("momentum_buffer",
                        p.slot("momentum_buffer") * o.momentum + change);
      p.become(p.parameter - change * o.lr);
    });
  }
};

} // namespace dl::optim
