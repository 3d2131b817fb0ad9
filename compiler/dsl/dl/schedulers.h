#pragma once
// torch.optim.lr_scheduler: what an optimizer's lr is in each step, computed in
// f64 from how often scheduler.step() was called, in p.train() or
// p.each_epoch(). The formulas are PyTorch's closed forms. lr is logged with
// the metrics.
//
//   dl::optim::lr_scheduler::CosineAnnealingLR scheduler(optimizer, 100);
//   p.each_epoch([&] { scheduler.step(); });
#include "optimizer.h"

namespace dl::optim {

namespace lr_scheduler {
namespace detail {
using namespace optim::detail;
}

/// What all schedulers are. It goes with its optimizer: keep it as long.
class [[nodiscard]] LRScheduler {
  OptimizerBase &optimizer;
  int counter;

public:
  const char *name;

  LRScheduler(const char *name, OptimizerBase &optimizer)
      : optimizer(optimizer), counter(dl_counter(optimizer.id)), name(name) {
    if (optimizer.scheduler_count == OptimizerBase::kMostSchedulers)
      detail::fail("{}: the optimizer has {} schedulers already", name,
                   optimizer.scheduler_count);
    optimizer.schedulers[optimizer.scheduler_count++] = this;
  }
  LRScheduler(const LRScheduler &) =
      delete ("dl: a scheduler is not copied; pass it by reference");
  LRScheduler &operator=(const LRScheduler &) =
      delete ("dl: a scheduler is not copied; pass it by reference");
  virtual ~LRScheduler() { leave(); }

  /// After optimizer.step(), or in p.each_epoch().
  void step() { dl_count(counter); }
  /// In a step: the learning rate that the next update uses.
  Scalar get_last_lr(int group = 0) const {
    return optimizer.current_rate(group);
  }

  /// In a step: the rate of a group that schedulers begin with, a setting.
  virtual void see(const Scalar & /*lr*/) const {}
  /// What comes of the rate `base` after t calls of step().
  virtual Scalar rate(Scalar base, Scalar t) const = 0;
  /// The same of the momentum, or of Adam's first beta.
  virtual Scalar momentum(Scalar base, Scalar) const { return base; }
  /// Is it base times something? Then it goes together with others.
  virtual bool multiplies() const { return true; }

  Scalar calls() const { return Scalar::from(dl_counted(counter)); }
  /// Another scheduler speaks for this one.
  void leave() {
    int kept = 0;
    for (int i = 0; i < optimizer.scheduler_count; ++i)
      if (optimizer.schedulers[i] != this)
        optimizer.schedulers[kept++] = optimizer.schedulers[i];
    optimizer.scheduler_count = kept;
  }
};

struct StepLROptions {
  Scalar gamma = 0.1;
};
/// lr times gamma every step_size steps.
class StepLR : public LRScheduler {
  double step_size;
  Scalar gamma;

public:
  StepLR(OptimizerBase &optimizer, i64 step_size, StepLROptions options = {})
      : LRScheduler("StepLR", optimizer),
        step_size(static_cast<double>(step_size)), gamma(options.gamma) {
    if (step_size < 1)
      detail::fail("StepLR: step_size = {}; at least 1 is wanted", step_size);
  }
  Scalar rate(Scalar base, Scalar t) const override {
    return base * pow(gamma, floor(t / step_size));
  }
};

struct MultiStepLROptions {
  Scalar gamma = 0.1;
};
/// lr times gamma at each milestone.
class MultiStepLR : public LRScheduler {
  Shape milestones;
  Scalar gamma;

public:
  MultiStepLR(OptimizerBase &optimizer, const Shape &milestones,
              MultiStepLROptions options = {})
      : LRScheduler("MultiStepLR", optimizer), milestones(milestones),
        gamma(options.gamma) {}
  Scalar rate(Scalar base, Scalar t) const override {
    Scalar passed = 0;
    for (i64 milestone : milestones)
      passed += where(t >= milestone, 1.0, 0.0);
    return base * pow(gamma, passed);
  }
};

struct ConstantLROptions {
  Scalar factor = 1.0 / 3;
  i64 total_iters = 5;
};
/// lr times factor, until total_iters.
class ConstantLR : public LRScheduler {
  ConstantLROptions options;

public:
  explicit ConstantLR(OptimizerBase &optimizer, ConstantLROptions options = {})
      : LRScheduler("ConstantLR", optimizer), options(options) {}
  Scalar rate(Scalar base, Scalar t) const override {
    return base * where(t < options.total_iters, options.factor, 1.0);
  }
};

struct LinearLROptions {
  Scalar start_factor = 1.0 / 3, end_factor = 1;
  i64 total_iters = 5;
};
/// A factor on a line from start to end, which it keeps.
class LinearLR : public LRScheduler {
  LinearLROptions options;

public:
  explicit LinearLR(OptimizerBase &optimizer, LinearLROptions options = {})
      : LRScheduler("LinearLR", optimizer), options(options) {
    if (options.total_iters < 1)
      detail::fail("LinearLR: total_iters = {}; at least 1 is wanted",
                   options.total_iters);
  }
  Scalar rate(Scalar base, Scalar t) const override {
    Scalar part = minimum(t, options.total_iters) /
                  static_cast<double>(options.total_iters);
    return base * (options.start_factor +
                   (options.end_factor - options.start_factor) * part);
  }
};

class ExponentialLR : public LRScheduler {
  Scalar gamma;

public:
  ExponentialLR(OptimizerBase &optimizer, Scalar gamma)
      : LRScheduler("ExponentialLR", optimizer), gamma(gamma) {}
  Scalar rate(Scalar base, Scalar t) const override {
    return base * pow(gamma, t);
  }
};

struct PolynomialLROptions {
  i64 total_iters = 5;
  Scalar power = 1;
};
/// Down to zero at total_iters.
class PolynomialLR : public LRScheduler {
  PolynomialLROptions options;

public:
  explicit PolynomialLR(OptimizerBase &optimizer,
                        PolynomialLROptions options = {})
      : LRScheduler("PolynomialLR", optimizer), options(options) {
    if (options.total_iters < 1)
      detail::fail("PolynomialLR: total_iters = {}; at least 1 is wanted",
                   options.total_iters);
  }
  Scalar rate(Scalar base, Scalar t) const override {
    Scalar part = minimum(t, options.total_iters) /
                  static_cast<double>(options.total_iters);
    return base * pow(1 - part, options.power);
  }
};

namespace detail {
inline constexpr double kPi = 3.14159265358979323846;
/// From a at part 0 to b at part 1, along half a cosine.
inline Scalar cosine(Scalar a, Scalar b, Scalar part) {
  return b + (a - b) * 0.5 * (1 + cos(part * kPi));
}
} // namespace detail

struct CosineAnnealingOptions {
  Scalar eta_min = 0;
};
/// Down to eta_min at T_max, and up again.
class CosineAnnealingLR : public LRScheduler {
  double T_max;
  Scalar eta_min;

public:
  CosineAnnealingLR(OptimizerBase &optimizer, i64 T_max,
                    CosineAnnealingOptions options = {})
      : LRScheduler("CosineAnnealingLR", optimizer),
        T_max(static_cast<double>(T_max)), eta_min(options.eta_min) {
    if (T_max < 1)
      detail::fail("CosineAnnealingLR: T_max = {}; at least 1 is wanted",
                   T_max);
  }
  Scalar rate(Scalar base, Scalar t) const override {
    return detail::cosine(base, eta_min, t / T_max);
  }
  bool multiplies() const override { return eta_min.is_none(); }
};

struct WarmRestartsOptions {
  i64 T_mult = 1;
  Scalar eta_min = 0;
};
/// Down to eta_min in T_0 steps, then from the start in T_mult times as many.
class CosineAnnealingWarmRestarts : public LRScheduler {
  i64 T_0;
  WarmRestartsOptions options;

public:
  CosineAnnealingWarmRestarts(OptimizerBase &optimizer, i64 T_0,
                              WarmRestartsOptions options = {})
      : LRScheduler("CosineAnnealingWarmRestarts", optimizer), T_0(T_0),
        options(options) {
    if (T_0 < 1 || options.T_mult < 1)
      detail::fail("CosineAnnealingWarmRestarts: T_0 = {} and T_mult = {}; at "
                   "least 1 is wanted",
                   T_0, options.T_mult);
  }
  Scalar rate(Scalar base, Scalar t) const override {
    double length = static_cast<double>(T_0);
    if (options.T_mult == 1)
      return detail::cosine(base, options.eta_min,
                            t / length - floor(t / length));
    // The part of the cycle that t lies in, of all that begin before 2^40.
    Scalar part = t / length;
    for (double start = length; start < 0x1p40; start += length) {
      length *= static_cast<double>(options.T_mult);
      part = where(t >= start, (t - start) / length, part);
    }
    return detail::cosine(base, options.eta_min, part);
  }
  bool multiplies() const override { return false; }
};

/// base times f(t), where f computes with a dl::Scalar:
///   LambdaLR scheduler(optimizer, [](dl::Scalar t) { return 1 / (1 + t); });
template <class Function> class LambdaLR : public LRScheduler {
  Function function;

public:
  LambdaLR(OptimizerBase &optimizer, Function lr_lambda)
      : LRScheduler("LambdaLR", optimizer), function(lr_lambda) {}
  Scalar rate(Scalar base, Scalar t) const override {
    return base * static_cast<Scalar>(function(t));
  }
  bool multiplies() const override { return false; }
};

} // namespace lr_scheduler

inline Scalar OptimizerBase::rate(int group, Scalar lr) const {
  if (scheduler_count == 0 && lr.is_known())
    return lr;
  if (scheduler_count && lr.is_known() && !lr.is_none())
    lr =
        Scalar::from(dl_optimizer_setting(id, group, "lr", lr.known), lr.known);
  for (int i = 0; i < scheduler_count && !lr.is_none(); ++i)
    schedulers[i]->see(lr);
  for (int i = 0; i < scheduler_count; ++i) {
    const lr_scheduler::LRScheduler &one = *schedulers[i];
    if (scheduler_count > 1 && !one.multiplies())
      detail::fail("{}: an optimizer with several schedulers multiplies what "
                   "they give, and this one gives no factor; put them into one "
                   "SequentialLR",
                   one.name);
    lr = one.rate(lr, one.calls());
  }
  if (!lr.is_known())
    dl_optimizer_rate(id, group, lr.id);
  return lr;
}
inline void OptimizerBase::schedule_momentum(Scalar *momentum) const {
  for (int i = 0; i < scheduler_count; ++i)
    *momentum = schedulers[i]->momentum(*momentum, schedulers[i]->calls());
}

} // namespace dl::optim
