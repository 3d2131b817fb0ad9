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
  i64 T_max = 0;
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
      : CosineAnnealingLR(optimizer, T_max,
                          CosineAnnealingOptions{T_max, eta_min}) {}
  CosineAnnealingLR(OptimizerBase &optimizer, CosineAnnealingOptions options)
      : CosineAnnealingLR(optimizer, options.T_max, options) {}
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
                              WarmRestartsOptions o)
      : CosineAnnealingWarmRestarts(optimizer, T_0, (o.T_mult = T_mult, o)) {}
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
      one->leave_to("SequentialLR", optimizer);
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
  /// Of the optimizer that all of them have, as PyTorch has it.
  ChainedScheduler(const Schedulers &schedulers)
      : ChainedScheduler(schedulers[0].scheduled(), schedulers) {}
  ChainedScheduler(OptimizerBase &optimizer, const Schedulers &schedulers)
      : LRScheduler("ChainedScheduler", optimizer), schedulers(schedulers) {
    for (LRScheduler *one : schedulers) {
      if (!one->multiplies())
        detail::fail("ChainedScheduler: a {} gives no factor to multiply with; "
                     "SequentialLR takes it",
                     one->name);
      one->leave_to("ChainedScheduler", optimizer);
    }
  }
  Scalar rate(int group, Scalar base, Scalar t) const override {
    for (LRScheduler *one : schedulers)
      base = one->rate(group, base, t);
    return base;
  }
};

} // namespace dl::optim::lr_scheduler
