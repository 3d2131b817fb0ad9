#pragma once
// Modules that hold modules.
#include "module.h"

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

/// A module of a list, of whatever type: a call with up to four tensors reaches
/// its forward(), which gives one. as<M>(module) gives it with its type.
class AnyModule {
  Module *module = nullptr;
  bool (*function)(Module &, const Tensor *, int, Tensor &) = nullptr;

public:
  AnyModule() = default;
  template <detail::IsModule M>
  explicit AnyModule(M *made) : module(made), function(detail::call_with<M>) {}
  template <class... T>
    requires(sizeof...(T) <= 3 && (__is_convertible(T, Tensor) && ...))
  Tensor operator()(const Tensor &x, const T &...more) const {
    const Tensor tensors[] = {x, more...};
    constexpr const char *counts[] = {"one tensor", "two tensors",
                                      "three tensors", "four tensors"};
    Tensor result;
    if (!function || !function(*module, tensors, 1 + sizeof...(T), result))
      detail::fail("this module of the list does not take {} and give one; "
                   "call it as nn::as<ItsType>(module)",
                   counts[sizeof...(T)]);
    return result;
  }
  operator Module &() const { return *module; }
  Module *get() const { return module; }
};

template <class M> M *as(const AnyModule &module) {
  return dynamic_cast<M *>(module.get());
}

namespace detail {
/// Owns modules, which get the names 0, 1, ...
class ModuleStore : public Module {
  AnyModule *items = nullptr;
  int count = 0;

public:
  ModuleStore() = default;
  ModuleStore(ModuleStore &&other) noexcept
      : Module(static_cast<Module &&>(other)) {
    swap(other);
  }
  ModuleStore &operator=(ModuleStore &&other) noexcept {
    swap(other);
    return *this;
  }
  ~ModuleStore() {
    for (int i = 0; i < count; ++i)
      delete items[i].get();
    delete[] items;
  }

  int size() const { return count; }
  AnyModule &operator[](int index) {
    if (index < -count || index >= count)
      fail("there is no module {} in a list of {}", index, count);
    return items[index < 0 ? index + count : index];
  }
  AnyModule *begin() { return items; }
  AnyModule *end() { return items + count; }

  void visit_members(Visitor &visitor) override {
    for (int i = 0; i < count; ++i)
      visitor.module(IndexName(i).c_str(), items[i]);
  }

protected:
  template <IsModule M> void add(M &&module) {
    AnyModule *grown = new AnyModule[static_cast<unsigned>(count) + 1];
    for (int i = 0; i < count; ++i)
      grown[i] = items[i];
    delete[] items;
    items = grown;
    items[count++] = AnyModule(new M(static_cast<M &&>(module)));
    dl_modules_changed();
  }

private:
  void swap(ModuleStore &other) {
    AnyModule *their_items = other.items;
    int their_count = other.count;
    other.items = items;
    other.count = count;
    items = their_items;
    count = their_count;
  }
};
} // namespace detail

/// Modules one after the other: Sequential net{Linear{784, 128}, ReLU{},
/// Linear{128, 10}};
class Sequential : public detail::ModuleStore {
public:
  Sequential() = default;
  Sequential(Sequential &&) noexcept = default;
  Sequential &operator=(Sequential &&) noexcept = default;
  template <detail::IsModule... M>
    requires(!(sizeof...(M) == 1 && (__is_same(M, Sequential) && ...)))
  explicit Sequential(M &&...modules) {
    (push_back(static_cast<M &&>(modules)), ...);
  }
  template <detail::IsModule M> Sequential &push_back(M &&module) {
    static_assert(detail::TakesTensor<M>,
                  "a module of nn::Sequential takes one dl::Tensor and gives "
                  "one");
    add(static_cast<M &&>(module));
    return *this;
  }
  template <detail::IsModule M> Sequential &append(M &&module) {
    return push_back(static_cast<M &&>(module));
  }

  Tensor forward(Tensor x) {
    for (AnyModule &module : *this)
      x = module(x);
    return x;
  }
};

/// Modules in a list: for (auto &layer : layers) x = layer(x);
class ModuleList : public detail::ModuleStore {
public:
  ModuleList() = default;
  ModuleList(ModuleList &&) noexcept = default;
  ModuleList &operator=(ModuleList &&) noexcept = default;
  template <detail::IsModule... M>
    requires(!(sizeof...(M) == 1 && (__is_same(M, ModuleList) && ...)))
  explicit ModuleList(M &&...modules) {
    (append(static_cast<M &&>(modules)), ...);
  }
  template <detail::IsModule M> ModuleList &append(M &&module) {
    add(static_cast<M &&>(module));
    return *this;
  }
  template <detail::IsModule M> ModuleList &push_back(M &&module) {
    return append(static_cast<M &&>(module));
  }
};

} // namespace dl::nn
