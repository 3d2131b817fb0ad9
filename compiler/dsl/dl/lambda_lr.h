#pragma once
// Learning rates as functions of the model's.
#include "schedulers.h"

namespace dl::optim::lr_scheduler {

namespace detail {
/// Of a lambda that takes one thing: whether that is a number of C++.
template <class Function> struct TakesNumber {
  template <class F, class R, class T>
  static constexpr bool isNumber(R (F::*)(T) const) {
    return dl::detail::Number<T>;
  }
  static constexpr bool value = [] {
    if constexpr (requires { isNumber(&Function::operator()); })
      return isNumber(&Function::operator());
    return false;
  }();
};
/// One for each group of parameters.
template <class Function, class... More> struct FunctionOfGroup {
  Function first;
  FunctionOfGroup<More...> more;
  FunctionOfGroup(Function first, More... more) : first(first), more(more...) {}
  Scalar operator()(int group, Scalar t) const {
    return group == 0 ? static_cast<Scalar>(first(t)) : more(group - 1, t);
  }
};
template <class Function> struct FunctionOfGroup<Function> {
  Function first;
  FunctionOfGroup(Function first) : first(first) {}
  Scalar operator()(int, Scalar t) const {
    return static_cast<Scalar>(first(t));
  }
};
/// Schedulers made of functions, one for all groups or one for each.
template <class... Functions> class OfFunctions : public LRScheduler {
  static_assert(!(TakesNumber<Functions>::value || ...),
                "dl: the number of the step is there when the plan runs: write "
                "[](dl::Scalar t) { return ...; }, and dl::where(t < 3, 0.1, "
                "1.0) where an `if` or ?: would be");
  static constexpr int kCount = sizeof...(Functions);
  FunctionOfGroup<Functions...> functions;

  void require_one_each(int groups) const {
    if (kCount > 1 && groups != kCount)
      fail("{}: {} functions for {} groups of parameters; one for each is "
           "wanted, or one for all",
           name, kCount, groups);
  }

protected:
  OfFunctions(const char *name, OptimizerBase &optimizer, Functions... each)
      : LRScheduler(name, optimizer), functions(each...) {
    require_one_each(optimizer.group_count());
  }
  Scalar factor(int group, Scalar t) const {
    if (group >= kCount) // was added since
      require_one_each(group + 1);
    return functions(group, t);
  }
};
} // namespace detail

/// base times f(t), where f computes with a dl::Scalar; one for all groups of
/// parameters, or one for each, in their order:
///   LambdaLR scheduler(optimizer, [](dl::Scalar t) { return 1 / (1 + t); });
template <class... Functions>
class LambdaLR : public detail::OfFunctions<Functions...> {
public:
  LambdaLR(OptimizerBase &optimizer, Functions... lr_lambdas)
      : detail::OfFunctions<Functions...>("LambdaLR", optimizer,
                                          lr_lambdas...) {}
  Scalar rate(int group, Scalar base, Scalar t) const override {
    return base * this->factor(group, t);
  }
  bool multiplies() const override { return false; }
};

/// Times f at each step: `[](dl::Scalar) { return 0.95; }`. In closed form that
/// is a power of what does not change.
template <class... Functions>
class MultiplicativeLR : public detail::OfFunctions<Functions...> {
public:
  MultiplicativeLR(OptimizerBase &optimizer, Functions... lr_lambdas)
      : detail::OfFunctions<Functions...>("MultiplicativeLR", optimizer,
                                          lr_lambdas...) {}
  Scalar rate(int group, Scalar base, Scalar t) const override {
    Scalar factor = this->factor(group, t);
    if (!factor.is_known() && factor.id != this->factor(group, t + 1).id)
      detail::fail("MultiplicativeLR: the factor is a number or a setting, the "
                   "same in each step; where it changes write what it comes to "
                   "as LambdaLR: [](dl::Scalar t) { return ...; }, times the "
                   "rate of the beginning");
    return base * pow(factor, t);
  }
};

} // namespace dl::optim::lr_scheduler
