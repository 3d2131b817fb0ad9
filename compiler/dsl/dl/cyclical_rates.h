#pragma once
// Learning rates that go up and down: OneCycleLR, CyclicLR.
#include "schedules.h"

namespace dl::optim::lr_scheduler {

/// anneal_strategy: "cos" or "linear". total_steps, or epochs times
/// steps_per_epoch, must be given.
struct OneCycleOptions {
  GroupRates max_lr = 0.0;
  i64 total_steps = 0, epochs = 0, steps_per_epoch = 0;
  double pct_start = 0.3;
  const char *anneal_strategy = "cos";
  bool cycle_momentum = true;
  double base_momentum = 0.85, max_momentum = 0.95;
  double div_factor = 25, final_div_factor = 1e4;
  bool three_phase = false;
};
/// Up from max_lr / div_factor to max_lr and down again, the momentum the other
/// way round. After total_steps the last value stays.
class OneCycleLR : public LRScheduler {
  GroupRates max_lr;
  OneCycleOptions options;

  Scalar anneal(Scalar from, Scalar to, Scalar part) const {
    return detail::equal(options.anneal_strategy, "cos")
               ? detail::cosine(from, to, part)
               : from + (to - from) * part;
  }
  /// The values at the ends of the phases, the first and the last but for
  /// `three_phase` one of three.
  Scalar along(Scalar t, Scalar start, Scalar middle, Scalar end) const {
    double total = static_cast<double>(options.total_steps);
    double up = options.pct_start * total - 1;
    double last = total - 1;
    Scalar now = minimum(t, last);
    Scalar rising = anneal(start, middle, now / up);
    if (!options.three_phase)
      return where(now <= up, rising,
                   anneal(middle, end, (now - up) / (last - up)));
    double down = 2 * options.pct_start * total - 2;
    return where(now <= up, rising,
                 where(now <= down,
                       anneal(middle, start, (now - up) / (down - up)),
                       anneal(start, end, (now - down) / (last - down))));
  }

public:
  OneCycleLR(OptimizerBase &optimizer, const GroupRates &max_lr,
             const OneCycleOptions &given)
      : LRScheduler("OneCycleLR", optimizer), max_lr(max_lr), options(given) {
    max_lr.check("OneCycleLR", "max_lr", optimizer);
    if (max_lr[0].is_none())
      detail::fail("OneCycleLR: max_lr must be given");
    if (options.total_steps == 0)
      options.total_steps = options.epochs * options.steps_per_epoch;
    if (options.total_steps < 1)
      detail::fail("OneCycleLR: total_steps, or epochs and steps_per_epoch, "
                   "must be given");
    if (!(options.pct_start >= 0 && options.pct_start <= 1))
      detail::fail("OneCycleLR: pct_start = {} is not between 0 and 1",
                   options.pct_start);
    if (!detail::equal(options.anneal_strategy, "cos") &&
        !detail::equal(options.anneal_strategy, "linear"))
      detail::fail("OneCycleLR: anneal_strategy = \"{}\" is unknown; \"cos\" "
                   "and \"linear\" are",
                   options.anneal_strategy);
  }
  OneCycleLR(OptimizerBase &optimizer, const OneCycleOptions &given)
      : OneCycleLR(optimizer, given.max_lr, given) {}
  Scalar rate(int group, Scalar, Scalar t) const override {
    Scalar most = max_lr[group], first = most / options.div_factor;
    return along(t, first, most, first / options.final_div_factor);
  }
  Scalar momentum(Scalar base, Scalar t) const override {
    return options.cycle_momentum
               ? along(t, options.max_momentum, options.base_momentum,
                       options.max_momentum)
               : base;
  }
  bool multiplies() const override { return false; }
};

/// mode: "triangular", "triangular2" (half as high in each cycle) or
/// "exp_range" (gamma^t as high). step_size_down = 0: as step_size_up.
struct CyclicOptions {
  i64 step_size_up = 2000, step_size_down = 0;
  const char *mode = "triangular";
  double gamma = 1;
  bool cycle_momentum = true;
  double base_momentum = 0.8, max_momentum = 0.9;
};
/// Up from base_lr to max_lr and down again, over and over, the momentum the
/// other way round (Smith, 2017).
class CyclicLR : public LRScheduler {
  GroupRates base_lr, max_lr;
  CyclicOptions options;

  Scalar height(Scalar t) const {
    double up = static_cast<double>(options.step_size_up);
    double total = up + static_cast<double>(options.step_size_down);
    Scalar cycle = floor(1 + t / total), part = 1 + t / total - cycle;
    double top = up / total;
    Scalar risen = where(part <= top, part / top, (part - 1) / (top - 1));
    if (detail::equal(options.mode, "triangular2"))
      return risen * pow(0.5, cycle - 1);
    if (detail::equal(options.mode, "exp_range"))
      return risen * pow(options.gamma, t);
    return risen;
  }

public:
  CyclicLR(OptimizerBase &optimizer, const GroupRates &base_lr,
           const GroupRates &max_lr, const CyclicOptions &given = {})
      : LRScheduler("CyclicLR", optimizer), base_lr(base_lr), max_lr(max_lr),
        options(given) {
    base_lr.check("CyclicLR", "base_lr", optimizer);
    max_lr.check("CyclicLR", "max_lr", optimizer);
    if (options.step_size_down == 0)
      options.step_size_down = options.step_size_up;
    if (options.step_size_up < 1 || options.step_size_down < 1)
      detail::fail("CyclicLR: step_size_up = {} and step_size_down = {}; at "
                   "least 1 is wanted",
                   options.step_size_up, options.step_size_down);
    if (!detail::equal(options.mode, "triangular") &&
        !detail::equal(options.mode, "triangular2") &&
        !detail::equal(options.mode, "exp_range"))
      detail::fail("CyclicLR: mode = \"{}\" is unknown; \"triangular\", "
                   "\"triangular2\" and \"exp_range\" are",
                   options.mode);
  }
  Scalar rate(int group, Scalar, Scalar t) const override {
    Scalar least = base_lr[group];
    return least + (max_lr[group] - least) * height(t);
  }
  Scalar momentum(Scalar base, Scalar t) const override {
    return options.cycle_momentum
               ? options.max_momentum -
                     (options.max_momentum - options.base_momentum) * height(t)
               : base;
  }
  bool multiplies() const override { return false; }
};

} // namespace dl::optim::lr_scheduler
