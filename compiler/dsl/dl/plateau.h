#pragma once
// The scheduler that looks at evaluations. What changes is the number that the
// optimizer got as its lr: a setting of the plan, which dlrun sets.
#include "schedulers.h"

namespace dl::optim::lr_scheduler {

/// The least rate: one number, or one for each group of parameters.
class LeastRates {
  static constexpr int kMost = 64;
  double rates[kMost] = {};
  int count = 0;

  void add(double rate) {
    if (count == kMost)
      detail::fail("ReduceLROnPlateau: at most {} min_lr may be given", kMost);
    if (!(rate >= 0))
      detail::fail("ReduceLROnPlateau: min_lr = {} is negative", rate);
    rates[count++] = rate;
  }

public:
  bool is_list;

  LeastRates(double rate) : is_list(false) { add(rate); }
  LeastRates(list<double> given) : is_list(true) {
    for (double rate : given)
      add(rate);
  }
  template <class Range>
    requires requires(const Range &range) { double{*range.begin()}; }
  LeastRates(const Range &given) : is_list(true) {
    for (double rate : given)
      add(rate);
  }
  int size() const { return count; }
  double operator[](int group) const { return rates[is_list ? group : 0]; }
};

/// mode: "min", a smaller metric is better, or "max". A value is better if it
/// beats the best one by threshold, "rel" times that value or "abs".
struct PlateauOptions {
  const char *mode = "min";
  double factor = 0.1;
  i64 patience = 10;
  double threshold = 1e-4;
  const char *threshold_mode = "rel";
  i64 cooldown = 0;
  LeastRates min_lr = 0;
  double eps = 1e-8;
};

/// lr times factor after more than `patience` evaluations without a better
/// value of a metric:
///   ReduceLROnPlateau scheduler(optimizer, {.factor = 0.5, .patience = 3});
///   scheduler.step("test.loss"); // in dl_main(), or in p.each_epoch()
class ReduceLROnPlateau : public LRScheduler {
  static constexpr int kMost = 64;
  LeastRates min_lr;
  int plateaus[kMost]; // of each min_lr, equal ones share one
  int count = 0;
  mutable int rates[kMost] = {}; // of the groups that have their own

  static dl_plateau_options checked(const PlateauOptions &given) {
    bool max = detail::equal(given.mode, "max");
    if (!max && !detail::equal(given.mode, "min"))
      detail::fail("ReduceLROnPlateau: mode = \"{}\" is unknown; \"min\" and "
                   "\"max\" are",
                   given.mode);
    bool absolute = detail::equal(given.threshold_mode, "abs");
    if (!absolute && !detail::equal(given.threshold_mode, "rel"))
      detail::fail("ReduceLROnPlateau: threshold_mode = \"{}\" is unknown; "
                   "\"rel\" and \"abs\" are",
                   given.threshold_mode);
    if (!(given.factor >= 0 && given.factor < 1))
      detail::fail("ReduceLROnPlateau: factor = {} is not between 0 and 1",
                   given.factor);
    if (given.patience < 0 || given.cooldown < 0)
      detail::fail("ReduceLROnPlateau: patience = {} and cooldown = {}; "
                   "neither is negative",
                   given.patience, given.cooldown);
    if (!(given.eps >= 0))
      detail::fail("ReduceLROnPlateau: eps = {} is negative", given.eps);
    if (given.threshold != given.threshold)
      detail::fail("ReduceLROnPlateau: threshold is not a number");
    return {max, absolute,  given.factor,   given.threshold,
            0,   given.eps, given.patience, given.cooldown};
  }
  /// The first that has the min_lr of this one.
  int first(int number) const {
    int i = 0;
    while (min_lr[i] != min_lr[number])
      ++i;
    return i;
  }
  static PlateauOptions with(PlateauOptions options, const char *mode) {
    options.mode = mode;
    return options;
  }

public:
  explicit ReduceLROnPlateau(OptimizerBase &optimizer,
                             const PlateauOptions &options = {})
      : LRScheduler("ReduceLROnPlateau", optimizer), min_lr(options.min_lr) {
    dl_plateau_options numbers = checked(options);
    if (min_lr.is_list && min_lr.size() != optimizer.group_count())
      detail::fail("ReduceLROnPlateau: {} min_lr are given, the optimizer has "
                   "{} groups of parameters",
                   min_lr.size(), optimizer.group_count());
    for (; count < min_lr.size(); ++count) {
      numbers.min_lr = min_lr[count];
      int same = first(count);
      plateaus[count] = same < count ? plateaus[same] : dl_plateau(&numbers);
    }
  }
  ReduceLROnPlateau(OptimizerBase &optimizer, const char *mode,
                    const PlateauOptions &options = {})
      : ReduceLROnPlateau(optimizer, with(options, mode)) {}
  ReduceLROnPlateau(OptimizerBase &optimizer, const char *mode, double factor,
                    PlateauOptions o = {})
      : ReduceLROnPlateau(optimizer, mode, (o.factor = factor, o)) {}

  /// After each evaluation, with this metric of it: "test.loss".
  void step(const char *metric) {
    for (int i = 0; i < count; ++i)
      if (first(i) == i)
        dl_plateau_step(plateaus[i], metric);
  }
  void step() = delete (
      "dl: ReduceLROnPlateau.step takes the name of an evaluation's metric: "
      "scheduler.step(\"test.loss\")");

  void see(int group, const Scalar &lr) const override {
    for (int other = 0; min_lr.is_list && other < group; ++other)
      if (rates[other] == lr.id && min_lr[other] != min_lr[group])
        detail::fail("ReduceLROnPlateau: groups {} and {} have one setting as "
                     "their lr, which cannot end at min_lr = {} and at {}",
                     other, group, min_lr[other], min_lr[group]);
    if (min_lr.is_list)
      rates[group] = lr.id;
    dl_plateau_rate(plateaus[min_lr.is_list ? group : 0], lr.id);
  }
  Scalar rate(int, Scalar base, Scalar) const override { return base; }
};

} // namespace dl::optim::lr_scheduler
