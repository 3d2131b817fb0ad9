#pragma once
// Schedulers along a cosine, and those that consist of phases or of others.
#include "group_rates.h"
#include "lambda_lr.h"
#include "plateau.h"

namespace dl::optim::lr_scheduler {

namespace detail {
/// From a at part 0 to b at part 1, along half a cosine.
inline Scalar cosine(Scalar a, Scalar b, Scalar part) {
  return b + (a - b) * 0.5 * (1 + cos(part * 3.14159265358979323846));
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
  template <detail::Rate Least>
  CosineAnnealingLR(OptimizerBase &optimizer, i64 T_max, const Least &eta_min)
      : CosineAnnealingLR(optimizer, T_max, CosineAnnealingOptions{eta_min}) {}
  Scalar rate(int, Scalar base, Scalar t) const override {
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
  CosineAnnealingWarmRestarts(OptimizerBase &optimizer, i64 T_0, i64 T_mult,
                              Scalar eta_min = 0)
      : CosineAnnealingWarmRestarts(optimizer, T_0,
                                    WarmRestartsOptions{T_mult, eta_min}) {}
  Scalar rate(int, Scalar base, Scalar t) const override {
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

/// anneal_strategy: "cos" or "linear". total_steps, or epochs times
/// steps_per_epoch, must be given.
struct OneCycleOptions {
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

/// Schedulers in a list, in braces.
class Schedulers {
  static constexpr int kMost = 8;
  LRScheduler *items[kMost];
  int count = 0;

public:
  template <class... S>
    requires(sizeof...(S) > 0 && (__is_base_of(LRScheduler, S) && ...) &&
             !(__is_same(ReduceLROnPlateau, S) || ...))
  Schedulers(S &...schedulers) {
    static_assert(sizeof...(S) <= kMost, "at most 8 schedulers in a list");
    ((items[count++] = &schedulers), ...);
  }
  template <class... S>
    requires((!__is_lvalue_reference(S) || ...) &&
             (requires(S &one) { one.step(); } && ...))
  Schedulers(S &&...) {
    static_assert(!sizeof...(S), "name schedulers first, then {warm, cosine}");
  }
  LRScheduler *const *begin() const { return items; }
  LRScheduler *const *end() const { return items + count; }
  int size() const { return count; }
  const LRScheduler &operator[](int i) const { return *items[i]; }
};

/// One after the other: each begins anew at its milestone. Only this one is
/// stepped.
class SequentialLR : public LRScheduler {
  Schedulers schedulers;
  Shape milestones;

  template <class Function> Scalar choose(Scalar t, Function f) const {
    Scalar chosen = f(schedulers[0], t);
    for (int i = 0; i < milestones.rank; ++i)
      chosen = where(t >= milestones[i],
                     f(schedulers[i + 1], t - milestones[i]), chosen);
    return chosen;
  }

public:
  SequentialLR(OptimizerBase &optimizer, const Schedulers &schedulers,
               const Shape &milestones)
      : LRScheduler("SequentialLR", optimizer), schedulers(schedulers),
        milestones(milestones) {
    if (schedulers.size() != milestones.rank + 1)
      detail::fail("SequentialLR: {} schedulers need {} milestones, got {}",
                   schedulers.size(), schedulers.size() - 1, milestones.rank);
    for (LRScheduler *one : schedulers)
      one->leave();
  }
  Scalar rate(int group, Scalar base, Scalar t) const override {
    return choose(t, [&](const LRScheduler &one, Scalar since) {
      return one.rate(group, base, since);
    });
  }
  Scalar momentum(Scalar base, Scalar t) const override {
    return choose(t, [&](const LRScheduler &one, Scalar since) {
      return one.momentum(base, since);
    });
  }
  bool multiplies() const override { return false; }
};

/// All at once: their factors multiply. Only this one is stepped.
class ChainedScheduler : public LRScheduler {
  Schedulers schedulers;

public:
  ChainedScheduler(OptimizerBase &optimizer, const Schedulers &schedulers)
      : LRScheduler("ChainedScheduler", optimizer), schedulers(schedulers) {
    for (LRScheduler *one : schedulers) {
      if (!one->multiplies())
        detail::fail("ChainedScheduler: a {} gives no factor to multiply with; "
                     "SequentialLR takes it",
                     one->name);
      one->leave();
    }
  }
  Scalar rate(int group, Scalar base, Scalar t) const override {
    for (LRScheduler *one : schedulers)
      base = one->rate(group, base, t);
    return base;
  }
};

} // namespace dl::optim::lr_scheduler
