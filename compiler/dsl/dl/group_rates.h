#pragma once
// Rates of schedulers: one number, or one for each group of parameters.
#include "schedulers.h"

namespace dl::optim::lr_scheduler {

/// 0.1, or {0.1, 0.01} of an optimizer with two groups.
class GroupRates {
  static constexpr int kMost = 64;
  Scalar rates[kMost];
  int count = 0;
  bool is_list = false;

  void add(const Scalar &rate) {
    if (count == kMost)
      detail::fail("a scheduler: at most {} rates may be given", kMost);
    rates[count++] = rate;
  }

public:
  template <detail::Rate R> GroupRates(const R &rate) { add(rate); }
  GroupRates(list<Scalar> given) : is_list(true) {
    for (const Scalar &rate : given)
      add(rate);
  }
  template <class Range>
    requires(!detail::Rate<Range> &&
             requires(const Range &range) { Scalar{*range.begin()}; })
  GroupRates(const Range &given) : is_list(true) {
    for (const auto &rate : given)
      add(rate);
  }
  /// Of the scheduler's argument with that name.
  void check(const char *scheduler, const char *name,
             const OptimizerBase &optimizer) const {
    if (is_list && count != optimizer.group_count())
      detail::fail("{}: {} {} are given, the optimizer has {} groups of "
                   "parameters",
                   scheduler, count, name, optimizer.group_count());
  }
  const Scalar &operator[](int group) const {
    return rates[is_list ? group : 0];
  }
};

} // namespace dl::optim::lr_scheduler
