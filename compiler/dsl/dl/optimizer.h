#pragma once
// What optimizers are made of. One is the op it applies to each parameter, or a
// formula in ops, with the tensors it keeps between steps. Groups of parameters
// have options of their own:
//
//   dl::optim::AdamW optimizer({{.params = net.body.parameters()},
//                               {.params = net.head.parameters(), .lr = 1e-3}},
//                              {.lr = 3e-4});
//
// Numbers are plain ones or dl::Scalars: p.setting("lr", 3e-4).
#include "optimizer_options.h"

namespace dl::optim {

namespace detail {

/// Between begin and end the updates of a group's parameters are written.
struct Updating {
  Updating(int optimizer, int group) { dl_update_begin(optimizer, group); }
  ~Updating() { dl_update_end(); }
  Updating(const Updating &) = delete;
};

/// A parameter that is updated, with what the optimizer keeps for it.
class Updated {
  int id;

public:
  Tensor parameter, gradient;

  Updated(const Parameter &parameter, const Tensor &gradient)
      : id(parameter.id), parameter(copied(parameter)), gradient(gradient) {}
  Tensor slot(const char *name, double initial = 0) const {
    Tensor value;
    value.id = dl_slot(id, name, initial, nullptr, DL_SLOT_LIKE);
    return value;
  }
  /// Of another shape than the parameter.
  Tensor slot(const char *name, const Shape &shape) const {
    Tensor value;
    value.id = dl_slot(id, name, 0, shape.dims, shape.rank);
    return value;
  }
  /// One f64 instead of a tensor.
  Scalar number(const char *name, double initial) const {
    return Scalar::from(dl_slot(id, name, initial, nullptr, DL_SLOT_NUMBER));
  }
  /// Which update of the parameter this is, from 1.
  Scalar count() const { return Scalar::from(dl_update_number(id)); }
  Tensor keep(const char *name, const Tensor &value) const {
    dl_slot_assign(id, name, value.id);
    return value;
  }
  Scalar keep(const char *name, const Scalar &value) const {
    dl_slot_assign(id, name, value.id);
    return value;
  }
  void become(const Tensor &value) const {
    dl_slot_assign(id, nullptr, value.id);
  }
};
} // namespace detail

namespace lr_scheduler {
class LRScheduler;
}

/// Gradients are unset, never filled with zeros.
struct ZeroGradOptions {
  bool set_to_none = true;
};

/// What schedulers know of an optimizer.
class OptimizerBase : public GroupNumbers {
  friend class lr_scheduler::LRScheduler;
  static constexpr int kMostSchedulers = 8;
  lr_scheduler::LRScheduler *schedulers[kMostSchedulers];

protected:
  int id = dl_optimizer(1);

  int scheduler_count = 0;

  OptimizerBase() = default;
  /// The learning rate of now; it is logged where it changes.
  Scalar rate(int group, Scalar lr) const;
  void schedule_momentum(Scalar *momentum) const;

public:
  virtual void step() = 0;
  /// for (auto group : optimizer.param_groups()) group["lr"] = rate;
  ParamGroupList param_groups() { return ParamGroupList(*this); }
  OptimizerBase(const OptimizerBase &) =
      delete ("dl: an optimizer is not copied; pass it by reference");
  OptimizerBase &operator=(const OptimizerBase &) =
      delete ("dl: an optimizer is not copied; pass it by reference");
  void zero_grad(ZeroGradOptions options) { zero_grad(options.set_to_none); }
  void zero_grad(bool set_to_none = true) {
    if (!set_to_none)
      detail::unsupported(
          "zero_grad: set_to_none = false: not in this version");
    dl_optimizer_zero_grad(id);
  }
  /// In a step: the learning rate that the next update uses.
  virtual Scalar current_rate(int group) const = 0;
};

/// What all optimizers are. A group's options stand over those of the
/// optimizer.
template <class Options, class Group> class Optimizer : public OptimizerBase {
  struct Stored {
    Options options;
    Parameters parameters;
    int set_in = 0; // the call of a step in which a number was set
  };
  Options defaults;
  Stored *groups = nullptr;
  int count = 0;

  void add(const Parameters &parameters, const Options &options) {
    options.check();
    dl_optimizer_group(id, parameters.ids(), parameters.size());
    Stored *grown = new Stored[static_cast<unsigned>(count) + 1];
    for (int i = 0; i < count; ++i)
      grown[i] = groups[i];
    grown[count].parameters = parameters;
    grown[count++].options = options;
    delete[] groups;
    groups = grown;
  }
  Options scheduled(int group) const {
    require_of_this_call(group);
    Options options = groups[group].options;
    options.lr = rate(group, options.lr);
    if (Scalar *momentum = detail::momentum_of(options))
      schedule_momentum(momentum);
    return options;
  }
  void require_of_this_call(int group) const {
    if (groups[group].set_in && groups[group].set_in != dl::detail::step_calls)
      detail::fail("param_groups: a number of group {} was set in another call "
                   "of a step; set it in this one, too, in front of "
                   "optimizer.step()",
                   group);
  }
  void require(bool any) const {
    if (!any && !dl_optimizer_used(id))
      detail::fail("optimizer.step: the step uses none of its parameters; they "
                   "are those of another module, or of one that is gone");
    if (!any)
      detail::fail("optimizer.step: no parameter has a gradient; call "
                   "backward() between zero_grad() and step()");
  }

protected:
  /// Calls f(options, update) for each group; update(op, slots, attributes)
  /// applies the op to the parameters that have a gradient.
  template <class Function> void step_groups(Function f) {
    bool any = false;
    for (int i = 0; i < count; ++i)
      f(scheduled(i), [&](const char *op, list<const char *> slots,
                          list<detail::Attr> attributes) {
        any |= dl_optimizer_step(id, i, op, slots.begin(),
                                 static_cast<int>(slots.size()),
                                 attributes.begin(),
                                 static_cast<int>(attributes.size())) != 0;
      });
    require(any);
  }
  /// Calls f(options, updated) for each parameter that has a gradient. Numbers
  /// of the options that are not 0 are settings of the plan.
  template <class Function> void step_parameters(Function f) {
    bool any = false;
    for (int i = 0; i < count; ++i) {
      Options options = scheduled(i);
      options.numbers([&](const char *name, Scalar &number) {
        if (number.is_known() && !number.is_none())
          number = Scalar::from(dl_optimizer_setting(id, i, name, number.known),
                                number.known);
      });
      detail::Updating updating(id, i);
      Parameter parameter;
      for (Tensor gradient;
           (parameter.id = dl_update_next(&gradient.id)) >= 0;) {
        detail::Updated updated(parameter, gradient);
        if (options.maximize)
          updated.gradient = updated.gradient.neg();
        f(static_cast<const Options &>(options), updated);
        any = true;
      }
    }
    require(any);
  }

  static Options at(const Scalar &lr, Options options) {
    options.lr = lr;
    return options;
  }

public:
  using ParamGroup = Group;

  /// net.parameters(), or a std::vector<dl::optim::AdamW::ParamGroup>.
  template <detail::SourceOf<Group> Range>
  explicit Optimizer(const Range &parameters, const Options &options = {})
      : defaults(options) {
    if constexpr (detail::ParameterSource<Range>)
      add(parameters, options);
    else
      for (const Group &group : parameters)
        add_param_group(group);
  }
  explicit Optimizer(list<Parameter> parameters, const Options &options = {})
      : defaults(options) {
    add(parameters, options);
  }
  /// {a.parameters(), b.parameters()}. (A template, so that {{a.parameters()},
  /// {b.parameters()}} are groups.)
  template <int = 0>
  explicit Optimizer(list<Parameters> lists, const Options &options = {})
      : defaults(options) {
    add(lists, options);
  }
  explicit Optimizer(list<Group> given, const Options &options = {})
      : defaults(options) {
    for (const Group &group : given)
      add_param_group(group);
  }
  /// The learning rate by position: Adam optimizer(net.parameters(), 1e-3).
  template <detail::SourceOf<Group> Range, detail::Rate Lr>
  Optimizer(const Range &parameters, const Lr &lr, const Options &options = {})
      : Optimizer(parameters, at(lr, options)) {}
  template <detail::Rate Lr>
  Optimizer(list<Parameter> parameters, const Lr &lr,
            const Options &options = {})
      : Optimizer(parameters, at(lr, options)) {}
  template <detail::Rate Lr, int = 0>
  Optimizer(list<Parameters> lists, const Lr &lr, const Options &options = {})
      : Optimizer(lists, at(lr, options)) {}
  template <detail::Rate Lr>
  Optimizer(list<Group> given, const Lr &lr, const Options &options = {})
      : Optimizer(given, at(lr, options)) {}
  DL_OPTIONS_BY_POSITION(const Range &, detail::SourceOf<Group> Range)
  DL_OPTIONS_BY_POSITION(list<Parameter>, class = void)
  DL_OPTIONS_BY_POSITION(list<Parameters>, int = 0)
  DL_OPTIONS_BY_POSITION(list<Group>, class = void)
  ~Optimizer() { delete[] groups; }

  void add_param_group(const Group &group) {
    add(group.params, group.over(defaults));
  }
  int group_count() const override { return count; }
  const Parameters &parameters(int group) const override {
    return groups[group].parameters;
  }
  Scalar current_rate(int group) const override {
    if (group < 0 || group >= count)
      detail::fail("the optimizer has {} groups, there is no number {}", count,
                   group);
    require_of_this_call(group);
    return rate(group, groups[group].options.lr);
  }
  Scalar number(int group, const char *name) const override {
    bool scheduled =
        scheduler_count && dl_in_step() && detail::equal(name, "lr");
    return scheduled ? current_rate(group)
                     : detail::number_of(groups[group].options, name);
  }
  void set_number(int group, const char *name, const Scalar &value) override {
    bool now = dl_in_step();
    if (now && scheduler_count && detail::equal(name, "lr"))
      detail::fail("param_groups: the optimizer has a scheduler, which gives "
                   "its \"lr\"");
    Scalar &number = detail::number_of(groups[group].options, name);
    if (value.is_known())
      detail::require_not_negative("param_groups", name, value);
    number = now ? detail::computed(value) : value;
    groups[group].set_in = now ? dl::detail::step_calls : 0;
  }
};

} // namespace dl::optim
