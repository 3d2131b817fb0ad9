#pragma once
// torch.optim. An optimizer is the op it applies to each parameter, with the
// tensors it keeps between steps. Groups of parameters have options of their
// own:
//
//   dl::optim::AdamW optimizer({{.params = net.body.parameters()},
//                               {.params = net.head.parameters(), .lr = 1e-3}},
//                              {.lr = 3e-4});
#include "module.h"

namespace dl::optim {

/// Adam's decay rates of the two averages.
struct Betas {
  double first = 0.9, second = 0.999;
};

namespace detail {
using namespace dl::detail;

/// A list, a vector, an array class of parameters.
template <class Range>
concept ParameterRange = requires(const Range &range) {
  static_cast<const Parameter &>(*range.begin());
  range.end();
};

/// An option of a group: what is not given is that of the optimizer.
template <class T> struct Given {
  T value{};
  bool given = false;

  constexpr Given() = default;
  template <class... A>
    requires requires(A... a) { T(a...); }
  constexpr Given(A... a) : value(T(a...)), given(true) {}
  T otherwise(T standard) const { return given ? value : standard; }
};

} // namespace detail

/// What a group consists of: model.parameters(), a list of them in braces, or
/// one.
class Parameters {
  int *first = nullptr;
  int count = 0, space = 0;

  void add(const Parameter &parameter) {
    if (count == space) {
      int *grown = new int[space = 2 * space + 8];
      for (int i = 0; i < count; ++i)
        grown[i] = first[i];
      delete[] first;
      first = grown;
    }
    first[count++] = parameter.id;
  }

public:
  template <detail::ParameterRange Range> Parameters(const Range &parameters) {
    for (const Parameter &parameter : parameters)
      add(parameter);
  }
  Parameters(list<Parameter> parameters) {
    for (const Parameter &parameter : parameters)
      add(parameter);
  }
  Parameters(const Parameter &parameter) { add(parameter); }
  Parameters(const Parameters &) = delete;
  ~Parameters() { delete[] first; }

  const int *begin() const { return first; }
  int size() const { return count; }
};

/// What all optimizers are. A group's options stand over those of the
/// optimizer.
template <class Options, class Group> class Optimizer {
  int id = dl_optimizer();
  Options defaults, *groups = nullptr;
  int count = 0;

  void add(const Parameters &parameters, const Options &options) {
    options.check();
    dl_optimizer_group(id, parameters.begin(), parameters.size());
    Options *grown = new Options[count + 1];
    for (int i = 0; i < count; ++i)
      grown[i] = groups[i];
    grown[count++] = options;
    delete[] groups;
    groups = grown;
  }

protected:
  /// Calls f(options, update) for each group; update(op, slots, attributes)
  /// applies the op to the parameters that have a gradient.
  template <class Function> void step_groups(Function f) {
    bool any = false;
    for (int i = 0; i < count; ++i)
      f(groups[i], [&](const char *op, list<const char *> slots,
                       list<detail::Attr> attributes) {
        any |= dl_optimizer_step(id, i, op, slots.begin(),
                                 static_cast<int>(slots.size()),
                                 attributes.begin(),
                                 static_cast<int>(attributes.size())) != 0;
      });
    if (!any)
      detail::fail("optimizer.step: no parameter has a gradient; call "
                   "backward() between zero_grad() and step()");
  }

public:
  template <detail::ParameterRange Range>
  explicit Optimizer(const Range &parameters, const Options &options = {})
      : defaults(options) {
    add(parameters, options);
  }
  explicit Optimizer(list<Parameter> parameters, const Options &options = {})
      : defaults(options) {
    add(parameters, options);
  }
  explicit Optimizer(list<Group> given, const Options &options = {})
      : defaults(options) {
    for (const Group &group : given)
      add_param_group(group);
  }
  Optimizer(const Optimizer &) =
      delete ("dl: an optimizer is not copied; pass it by reference");
  Optimizer &operator=(const Optimizer &) =
      delete ("dl: an optimizer is not copied; pass it by reference");
  ~Optimizer() { delete[] groups; }

  void add_param_group(const Group &group) {
    add(group.params, group.over(defaults));
  }
  void zero_grad() { dl_optimizer_zero_grad(id); }
};

namespace detail {
inline void require_not_negative(const char *optimizer, const char *option,
                                 double value) {
  if (!(value >= 0))
    fail("{}: {} = {} is negative", optimizer, option, value);
}
} // namespace detail

struct SGDOptions {
  double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;

  void check() const {
    detail::require_not_negative("SGD", "lr", lr);
    detail::require_not_negative("SGD", "momentum", momentum);
    detail::require_not_negative("SGD", "weight_decay", weight_decay);
    if (nesterov && (momentum <= 0 || dampening != 0))
      detail::fail("SGD: nesterov needs a momentum and zero dampening");
  }
};

struct SGDGroup {
  Parameters params;
  detail::Given<double> lr{}, momentum{}, dampening{}, weight_decay{};
  detail::Given<bool> nesterov{}, maximize{};

  SGDOptions over(const SGDOptions &standard) const {
    return {lr.otherwise(standard.lr),
            momentum.otherwise(standard.momentum),
            dampening.otherwise(standard.dampening),
            weight_decay.otherwise(standard.weight_decay),
            nesterov.otherwise(standard.nesterov),
            maximize.otherwise(standard.maximize)};
  }
};

class SGD : public Optimizer<SGDOptions, SGDGroup> {
public:
  using Optimizer::Optimizer;

  void step() {
    step_groups([](const SGDOptions &o, auto update) {
      list<const char *> none, buffer = {"momentum_buffer"};
      update("sgd", o.momentum != 0 ? buffer : none,
             {{"lr", o.lr},
              {"momentum", o.momentum},
              {"dampening", o.dampening},
              {"weight_decay", o.weight_decay},
              {"nesterov", o.nesterov},
              {"maximize", o.maximize}});
    });
  }
};

namespace detail {

/// Adam and AdamW: the latter's weight decay is apart from the gradient.
template <bool Decoupled> struct AdamOptions {
  double lr = 1e-3;
  Betas betas{};
  double eps = 1e-8, weight_decay = Decoupled ? 1e-2 : 0;
  bool amsgrad = false, maximize = false;

  void check() const {
    const char *name = Decoupled ? "AdamW" : "Adam";
    require_not_negative(name, "lr", lr);
    require_not_negative(name, "eps", eps);
    require_not_negative(name, "weight_decay", weight_decay);
    for (double beta : {betas.first, betas.second})
      if (!(beta >= 0 && beta < 1))
        fail("{}: a beta is at least 0 and below 1, got {}", name, beta);
  }
};

template <bool Decoupled> struct AdamGroup {
  Parameters params;
  Given<double> lr{};
  Given<Betas> betas{};
  Given<double> eps{}, weight_decay{};
  Given<bool> amsgrad{}, maximize{};

  AdamOptions<Decoupled> over(const AdamOptions<Decoupled> &standard) const {
    return {lr.otherwise(standard.lr),
            betas.otherwise(standard.betas),
            eps.otherwise(standard.eps),
            weight_decay.otherwise(standard.weight_decay),
            amsgrad.otherwise(standard.amsgrad),
            maximize.otherwise(standard.maximize)};
  }
};

template <bool Decoupled>
class Adam : public Optimizer<AdamOptions<Decoupled>, AdamGroup<Decoupled>> {
public:
  using Optimizer<AdamOptions<Decoupled>, AdamGroup<Decoupled>>::Optimizer;

  void step() {
    this->step_groups([](const AdamOptions<Decoupled> &o, auto update) {
      list<const char *> averages = {"exp_avg", "exp_avg_sq"},
                         largest = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
      update("adam", o.amsgrad ? largest : averages,
             {{"lr", o.lr},
              {"beta1", o.betas.first},
              {"beta2", o.betas.second},
              {"eps", o.eps},
              {"weight_decay", o.weight_decay},
              {"decoupled", Decoupled},
              {"maximize", o.maximize}});
    });
  }
};

} // namespace detail

using AdamOptions = detail::AdamOptions<false>;
using AdamWOptions = detail::AdamOptions<true>;

class Adam : public detail::Adam<false> {
public:
  using detail::Adam<false>::Adam;
};
class AdamW : public detail::Adam<true> {
public:
  using detail::Adam<true>::Adam;
};

} // namespace dl::optim
