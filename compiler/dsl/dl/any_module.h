#pragma once
// A module of whatever type: a member, or in a list.
#include "submodules.h"

namespace dl::nn {

namespace detail {
template <class M>
concept IsModule = __is_base_of(Module, M);
template <class M>
concept TakesTensor =
    requires(M &module, const Tensor &x) { static_cast<Tensor>(module(x)); };

/// Calls a module with the first `count` of these tensors, if that is one of
/// the ways of calling it.
template <class M>
bool call_with(Module &self, const Tensor *x, int count, Tensor &result) {
  M &module = static_cast<M &>(self);
  auto call = [&](auto... i) {
    if constexpr (requires { static_cast<Tensor>(module(x[i]...)); })
      if (sizeof...(i) == static_cast<unsigned>(count)) {
        result = module(x[i]...);
        return true;
      }
    return false;
  };
  return call(0) || call(0, 1) || call(0, 1, 2) || call(0, 1, 2, 3);
}
} // namespace detail

/// A module of a type that is chosen where it is made, under its member's name:
///   nn::AnyModule shortcut;
///   shortcut = stride == 1 ? nn::AnyModule(nn::Identity()) : nn::Conv2d(...);
/// A call with up to four tensors reaches its forward(), which gives one.
/// as<M>(shortcut) gives it with its type. A copy is the same module.
class AnyModule {
  Module *module = nullptr; // first: what members' names are found by
  bool (*function)(Module &, const Tensor *, int, Tensor &) = nullptr;
  int *owners = nullptr;
  const char *missing = nullptr; // what is not in the ModuleDict

  void swap(AnyModule &other) {
    Module *their_module = other.module;
    auto their_function = other.function;
    int *their_owners = other.owners;
    const char *their_missing = other.missing;
    other.missing = missing, missing = their_missing;
    other.module = module, other.function = function, other.owners = owners;
    module = their_module, function = their_function, owners = their_owners;
  }
  Module &held() const {
    if (missing)
      detail::fail("ModuleDict: there is no module \"{}\"", missing);
    if (!module)
      detail::fail("this nn::AnyModule has no module; assign one, as in "
                   "layer = nn::Linear(4, 2)");
    return *module;
  }

public:
  AnyModule() = default;
  /// Of a ModuleDict, until it is assigned.
  static AnyModule none(const char *name) {
    AnyModule result;
    result.missing = name;
    return result;
  }
  template <detail::IsModule M>
  AnyModule(M &&made)
      : module(new M(static_cast<M &&>(made))), function(detail::call_with<M>),
        owners(new int(1)) {
    dl_modules_changed();
  }
  template <detail::IsModule M>
  AnyModule(M &) = delete ("dl: an nn::AnyModule owns its module: make it in "
                           "the call, layer = nn::Linear(4, 2), "
                           "or layer = std::move(linear)");
  AnyModule(const AnyModule &other)
      : module(other.module), function(other.function), owners(other.owners) {
    if (owners)
      ++*owners;
  }
  AnyModule(AnyModule &&other) noexcept { swap(other); }
  AnyModule &operator=(AnyModule other) noexcept {
    swap(other);
    dl_modules_changed();
    return *this;
  }
  ~AnyModule() {
    if (!owners || --*owners)
      return;
    delete module;
    delete owners;
  }

  bool is_empty() const { return !module; }
  explicit operator bool() const { return module; }
  template <class... T>
    requires(sizeof...(T) <= 3 && (__is_convertible(T, Tensor) && ...))
  Tensor forward(const Tensor &x, const T &...more) const {
    const Tensor tensors[] = {x, more...};
    constexpr const char *counts[] = {"one tensor", "two tensors",
                                      "three tensors", "four tensors"};
    Tensor result;
    if (!function(held(), tensors, 1 + sizeof...(T), result))
      detail::fail("this module, of any type, does not take {} and give one; "
                   "call it as nn::as<ItsType>(module)",
                   counts[sizeof...(T)]);
    return result;
  }
  template <class... T>
    requires(sizeof...(T) <= 3 && (__is_convertible(T, Tensor) && ...))
  Tensor operator()(const Tensor &x, const T &...more) const {
    return forward(x, more...);
  }
  template <class M> M *as() const { return dynamic_cast<M *>(module); }
  AnyModule *operator->() { return this; }
  operator Module &() const { return held(); }
  // Of a ModuleList or a Sequential: containers.h.
  int size() const;
  AnyModule &operator[](int index) const;
  AnyModule *begin() const;
  AnyModule *end() const;
  Module *get() const { return module; }
  // What every module has.
  NamedParameterList named_parameters() const {
    return held().named_parameters();
  }
  optim::Parameters parameters() const { return held().parameters(); }
  void requires_grad_(bool value = true) const { held().requires_grad_(value); }
  void zero_grad() const { held().zero_grad(); }
  void eval() const { held().eval(); }
  void train(bool mode = true) const { held().train(mode); }
};

template <class M> M *as(const AnyModule &module) { return module.as<M>(); }
template <class M> M *Module::as(const AnyModule &module) {
  return module.as<M>();
}

} // namespace dl::nn
