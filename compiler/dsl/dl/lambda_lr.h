#pragma once
// LambdaLR: a learning rate as a function of the model's.
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
} // namespace detail

/// base times f(t), where f computes with a dl::Scalar; one for all groups of
/// parameters, or one for each, in their order:
///   LambdaLR scheduler(optimizer, [](dl::Scalar t) { return 1 / (1 + t); });
template <class... Functions> class LambdaLR : public LRScheduler {
  static_assert(!(detail::TakesNumber<Functions>::value || ...),
                "dl: the number of the step is there when the plan runs: write "
                "[](dl::Scalar t) { return ...; }, and dl::where(t < 3, 0.1, "
                "1.0) where an `if` or ?: would be");
  static constexpr int kCount = sizeof...(Functions);
  detail::FunctionOfGroup<Functions...> functions;

  static void require_one_each(int groups) {
    if (kCount > 1 && groups != kCount)
      detail::fail("LambdaLR: {} functions for {} groups of parameters; one "
                   "for each is wanted, or one for all",
                   kCount, groups);
  }

public:
  LambdaLR(OptimizerBase &optimizer, Functions... lr_lambdas)
      : LRScheduler("LambdaLR", optimizer), functions(lr_lambdas...) {
    require_one_each(optimizer.group_count());
  }
  Scalar rate(int group, Scalar base, Scalar t) const override {
    if (group >= kCount) // was added since
      require_one_each(group + 1);
    return base * functions(group, t);
  }
  bool multiplies() const override { return false; }
};

} // namespace dl::optim::lr_scheduler
