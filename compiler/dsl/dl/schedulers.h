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
  virtual void see(int /*group*/, const Scalar & /*lr*/) const {}
  /// What comes of a group's rate `base` after t calls of step().
  virtual Scalar rate(int group, Scalar base, Scalar t) const = 0;
  /// The same of the momentum, or of Adam's first beta.
  virtual Scalar momentum(Scalar base, Scalar) const { return base; }
  /// Is it base times something? Then it goes together with others.
  virtual bool multiplies() const { return true; }

  /// Another scheduler, of the same optimizer, speaks for this one.
  void leave_to(const char *who, const OptimizerBase &its) {
    if (&its != &optimizer)
      detail::fail("{}: the {} is of another optimizer", who, name);
    leave();
  }
  OptimizerBase &scheduled() const { return optimizer; }

  Scalar calls() const { return Scalar::from(dl_counted(counter)); }
  void leave() {
    int kept = 0;
    for (int i = 0; i < optimizer.scheduler_count; ++i)
      if (optimizer.schedulers[i] != this)
        optimizer.schedulers[kept++] = optimizer.schedulers[i];
    optimizer.scheduler_count = kept;
  }
};

struct StepLROptions {
  i64 step_size = 0;
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
  template <detail::Rate Gamma>
  StepLR(OptimizerBase &optimizer, i64 step_size, const Gamma &gamma)
      : StepLR(optimizer, step_size, StepLROptions{step_size, gamma}) {}
  StepLR(OptimizerBase &optimizer, StepLROptions options)
      : StepLR(optimizer, options.step_size, options) {}
  Scalar rate(int, Scalar base, Scalar t) const override {
    return base * pow(gamma, floor(t / step_size));
  }
};

/// A list of steps in braces, or a std::vector.
class Milestones {
  static constexpr int kMost = 64;
  i64 steps[kMost];
  int count = 0;

  void add(i64 step) {
    if (count == kMost)
      detail::fail("MultiStepLR: at most {} milestones may be given", kMost);
    steps[count++] = step;
  }

public:
  Milestones(list<i64> given) {
    for (i64 step : given)
      add(step);
  }
  template <class Range>
    requires requires(const Range &range) { i64{*range.begin()} + 1; }
  Milestones(const Range &given) {
    for (i64 step : given)
      add(step);
  }
  const i64 *begin() const { return steps; }
  const i64 *end() const { return steps + count; }
};
struct MultiStepLROptions {
  Scalar gamma = 0.1;
};
struct MilestoneOptions {
  detail::ByName by_name = {};
  Milestones milestones = list<i64>{}; ///< must be given
  Scalar gamma = 0.1;
};
/// lr times gamma at each milestone.
class MultiStepLR : public LRScheduler {
  Milestones milestones;
  Scalar gamma;

public:
  MultiStepLR(OptimizerBase &optimizer, const Milestones &milestones,
              MultiStepLROptions options = {})
      : LRScheduler("MultiStepLR", optimizer), milestones(milestones),
        gamma(options.gamma) {}
  MultiStepLR(OptimizerBase &optimizer, const MilestoneOptions &o)
      : MultiStepLR(optimizer, o.milestones, MultiStepLROptions{o.gamma}) {
    if (o.milestones.begin() == o.milestones.end())
      detail::fail("MultiStepLR: {.milestones = {30, 80}} is wanted");
  }
  template <detail::Rate Gamma>
  MultiStepLR(OptimizerBase &optimizer, const Milestones &milestones,
              const Gamma &gamma)
      : MultiStepLR(optimizer, milestones, MultiStepLROptions{gamma}) {}
  Scalar rate(int, Scalar base, Scalar t) const override {
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
  template <detail::Rate Factor>
  ConstantLR(OptimizerBase &optimizer, const Factor &factor,
             i64 total_iters = 5)
      : ConstantLR(optimizer, ConstantLROptions{factor, total_iters}) {}
  template <detail::Rate Factor>
  ConstantLR(OptimizerBase &optimizer, const Factor &factor,
             ConstantLROptions o)
      : ConstantLR(optimizer, (o.factor = factor, o)) {}
  Scalar rate(int, Scalar base, Scalar t) const override {
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
  template <detail::Rate Start>
  LinearLR(OptimizerBase &optimizer, const Start &start_factor,
           Scalar end_factor = 1, i64 total_iters = 5)
      : LinearLR(optimizer,
                 LinearLROptions{start_factor, end_factor, total_iters}) {}
  template <detail::Rate Start>
  LinearLR(OptimizerBase &optimizer, const Start &start_factor,
           LinearLROptions o)
      : LinearLR(optimizer, (o.start_factor = start_factor, o)) {}
  Scalar rate(int, Scalar base, Scalar t) const override {
    Scalar part = minimum(t, options.total_iters) /
                  static_cast<double>(options.total_iters);
    return base * (options.start_factor +
                   (options.end_factor - options.start_factor) * part);
  }
};

struct ExponentialLROptions {
  detail::ByName by_name = {};
  Scalar gamma = 1;
};
class ExponentialLR : public LRScheduler {
  Scalar gamma;

public:
  ExponentialLR(OptimizerBase &optimizer, Scalar gamma)
      : LRScheduler("ExponentialLR", optimizer), gamma(gamma) {}
  ExponentialLR(OptimizerBase &optimizer, const ExponentialLROptions &options)
      : ExponentialLR(optimizer, options.gamma) {}
  Scalar rate(int, Scalar base, Scalar t) const override {
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
  PolynomialLR(OptimizerBase &optimizer, i64 total_iters, Scalar power = 1)
      : PolynomialLR(optimizer, PolynomialLROptions{total_iters, power}) {}
  PolynomialLR(OptimizerBase &optimizer, i64 total_iters, PolynomialLROptions o)
      : PolynomialLR(optimizer, (o.total_iters = total_iters, o)) {}
  Scalar rate(int, Scalar base, Scalar t) const override {
    Scalar part = minimum(t, options.total_iters) /
                  static_cast<double>(options.total_iters);
    return base * pow(1 - part, options.power);
  }
};

} // namespace lr_scheduler

inline Scalar OptimizerBase::rate(int group, Scalar lr) const {
  if (scheduler_count == 0 && lr.is_known())
    return lr;
  if (scheduler_count && lr.is_known() && !lr.is_none())
    lr =
        Scalar::from(dl_optimizer_setting(id, group, "lr", lr.known), lr.known);
  for (int i = 0; i < scheduler_count && !lr.is_none(); ++i)
    schedulers[i]->see(group, lr);
  for (int i = 0; i < scheduler_count; ++i) {
    const lr_scheduler::LRScheduler &one = *schedulers[i];
    if (scheduler_count > 1 && !one.multiplies())
      detail::fail("{}: an optimizer with several schedulers multiplies what "
                   "they give, and this one gives no factor; put them into one "
                   "SequentialLR",
                   one.name);
    lr = one.rate(group, lr, one.calls());
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
