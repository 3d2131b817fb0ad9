#pragma once
// The scheduler that looks at evaluations. What changes is the number that the
// optimizer got as its lr: a setting of the plan, which dlrun sets.
#include "schedulers.h"

namespace dl::optim::lr_scheduler {

/// mode: "min", a smaller metric is better, or "max". A value is better if it
/// beats the best one by threshold, "rel" times that value or "abs".
struct PlateauOptions {
  const char *mode = "min";
  double factor = 0.1;
  i64 patience = 10;
  double threshold = 1e-4;
  const char *threshold_mode = "rel";
  i64 cooldown = 0;
  double min_lr = 0;
  double eps = 1e-8;
};

/// lr times factor after more than `patience` evaluations without a better
/// value of a metric:
///   ReduceLROnPlateau scheduler(optimizer, {.factor = 0.5, .patience = 3});
///   scheduler.step("test.loss"); // in dl_main(), or in p.each_epoch()
class ReduceLROnPlateau : public LRScheduler {
  int id;

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
    if (!(given.min_lr >= 0) || !(given.eps >= 0))
      detail::fail("ReduceLROnPlateau: min_lr = {} and eps = {}; neither is "
                   "negative",
                   given.min_lr, given.eps);
    if (given.threshold != given.threshold)
      detail::fail("ReduceLROnPlateau: threshold is not a number");
    return {max,          absolute,  given.factor,   given.threshold,
            given.min_lr, given.eps, given.patience, given.cooldown};
  }
  static PlateauOptions with(PlateauOptions options, const char *mode) {
    options.mode = mode;
    return options;
  }

public:
  explicit ReduceLROnPlateau(OptimizerBase &optimizer,
                             const PlateauOptions &options = {})
      : LRScheduler("ReduceLROnPlateau", optimizer) {
    dl_plateau_options numbers = checked(options);
    id = dl_plateau(&numbers);
  }
  ReduceLROnPlateau(OptimizerBase &optimizer, const char *mode,
                    const PlateauOptions &options = {})
      : ReduceLROnPlateau(optimizer, with(options, mode)) {}

  /// After each evaluation, with this metric of it: "test.loss".
  void step(const char *metric) { dl_plateau_step(id, metric); }
  void step() = delete (
      "dl: ReduceLROnPlateau.step takes the name of an evaluation's metric: "
      "scheduler.step(\"test.loss\")");

  void see(const Scalar &lr) const override { dl_plateau_rate(id, lr.id); }
  Scalar rate(Scalar base, Scalar) const override { return base; }
};

} // namespace dl::optim::lr_scheduler
