#pragma once
// The numbers among an optimizer's options.
#include "param_groups.h"

namespace dl::optim {

/// Adam's decay rates of the two averages.
struct Betas {
  Scalar first = 0.9, second = 0.999;
};
/// {0.9, 0.95} behind the learning rate, and no braces with names in them.
struct GivenBetas {
  Betas betas;
  GivenBetas(const Scalar &first, const Scalar &second)
      : betas{first, second} {}
  GivenBetas(const Betas &betas) : betas(betas) {}
};

namespace detail {

/// The number that a schedule of momentum changes: momentum, or the first beta.
template <class Options> Scalar *momentum_of(Options &options) {
  if constexpr (requires { options.betas.first; })
    return &options.betas.first;
  else if constexpr (requires { options.momentum; })
    return &options.momentum;
  else
    return nullptr;
}

/// The option of that name, which the optimizer has to have.
template <class Options> Scalar &number_of(Options &options, const char *name) {
  Scalar *found = nullptr;
  auto look = [&](const char *each, Scalar &number) {
    if (equal(each, name))
      found = &number;
  };
  look("lr", options.lr);
  if constexpr (requires { options.weight_decay; })
    look("weight_decay", options.weight_decay);
  if constexpr (requires { options.momentum; })
    look("momentum", options.momentum);
  if constexpr (requires { options.numbers(look); })
    options.numbers(look);
  if (!found)
    fail("param_groups: \"{}\" is no number of this optimizer's options; "
         "\"lr\" is one",
         name);
  return *found;
}
/// A number that is the step's, and none of the plan's settings.
inline Scalar computed(const Scalar &value) {
  return value.is_known() ? Scalar::from(emit_scalars("add", value, 0)) : value;
}

/// Of a setting: what it starts as.
inline void require_not_negative(const char *optimizer, const char *option,
                                 const Scalar &value) {
  if (value.known != value.known)
    fail("{}: {} is not a number", optimizer, option);
  if (value.known < 0)
    fail("{}: {} = {} is negative", optimizer, option, value.known);
}
/// Of all numbers of the options.
template <class Options>
void require_numbers(const char *optimizer, Options options) {
  options.numbers([&](const char *name, const Scalar &number) {
    require_not_negative(optimizer, name, number);
  });
}
inline void require_betas(const char *optimizer, const Betas &betas) {
  for (const Scalar &beta : {betas.first, betas.second})
    if (!(beta.known >= 0 && beta.known < 1))
      fail("{}: a beta is at least 0 and below 1, got {}", optimizer,
           beta.known);
}

/// What stands behind the lr is by_name where it is betas: {0.9, 0.95} is no
/// lr and what comes after it.
template <class Options>
concept HasBetas = requires(Options &o) {
  o.by_name;
  o.betas;
};
template <class Options, class... T>
concept ByPosition =
    !HasBetas<Options> && requires(const T &...given) { Options(given...); };
template <class Options, class... T>
concept ByPositionBehindBetas =
    HasBetas<Options> && requires(const Betas &betas, const T &...given) {
      Options(Scalar(0), ByName(), betas, given...);
    };
} // namespace detail

} // namespace dl::optim

/// The options in PyTorch's order, which is that of their members: SGD(p, 0.1,
/// 0.9), Adam(p, 1e-3, {0.9, 0.95}, 1e-8), and the last ones by name.
#define DL_OPTIONS_BY_POSITION(Kind, ...)                                      \
  template <__VA_ARGS__, detail::Rate Lr, detail::Rate Second, class... More>  \
    requires detail::ByPosition<Options, Lr, Second, More...>                  \
  Optimizer(Kind params, const Lr &lr, const Second &second,                   \
            const More &...more)                                               \
      : Optimizer(params, Options(lr, second, more...)) {}                     \
  template <__VA_ARGS__, detail::Rate Lr, detail::Rate Momentum>               \
    requires requires(Options o) { o.dampening; }                              \
  Optimizer(Kind params, const Lr &lr, const Momentum &momentum,               \
            Options options)                                                   \
      : Optimizer(params,                                                      \
                  (options.lr = lr, options.momentum = momentum, options)) {}  \
  template <__VA_ARGS__, detail::Rate Lr, class... More>                       \
    requires detail::ByPositionBehindBetas<Options, More...>                   \
  Optimizer(Kind params, const Lr &lr, const GivenBetas &betas,                \
            const More &...more)                                               \
      : Optimizer(params,                                                      \
                  Options(lr, detail::ByName(), betas.betas, more...)) {}      \
  template <__VA_ARGS__, detail::Rate Lr>                                      \
    requires detail::HasBetas<Options>                                         \
  Optimizer(Kind params, const Lr &lr, const GivenBetas &betas,                \
            Options options)                                                   \
      : Optimizer(params,                                                      \
                  (options.lr = lr, options.betas = betas.betas, options)) {}
