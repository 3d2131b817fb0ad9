#pragma once
// Modules that hold modules.
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

/// A module of a list, of whatever type: a call with up to four tensors reaches
/// its forward(), which gives one. as<M>(module) gives it with its type.
class AnyModule {
  Module *module = nullptr;
  bool (*function)(Module &, const Tensor *, int, Tensor &) = nullptr;

public:
  AnyModule() = default;
  template <detail::IsModule M>
  explicit AnyModule(M *made) : module(made), function(detail::call_with<M>) {}
  template <detail::IsModule M>
  AnyModule &operator=(M &&) = delete (
      "dl: a module gets its name as heads.add_module(\"name\", nn::Linear(4, "
      "2)), or where they are made, nn::ModuleDict heads{{\"name\", "
      "nn::Linear(4, 2)}}");
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
  // What every module has.
  NamedParameterList named_parameters() const {
    return module->named_parameters();
  }
  ParameterList parameters() const { return module->parameters(); }
  void requires_grad_(bool value = true) const {
    module->requires_grad_(value);
  }
  void zero_grad() const { module->zero_grad(); }
  void eval() const { module->eval(); }
  void train(bool mode = true) const { module->train(mode); }
};

template <class M> M *as(const AnyModule &module) {
  return dynamic_cast<M *>(module.get());
}

namespace detail {
/// Owns modules, which get the names 0, 1, ... unless they have one.
class ModuleStore : public Module {
  AnyModule *items = nullptr;
  char **names = nullptr;
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
    for (int i = 0; i < count; ++i) {
      delete items[i].get();
      delete[] names[i];
    }
    delete[] items;
    delete[] names;
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
      visitor.module(names[i] ? names[i] : IndexName(i).c_str(), items[i]);
  }

protected:
  const char *name(int index) const { return names[index]; }
  template <IsModule M> void add(M &&module, const char *name = nullptr) {
    own(AnyModule(new M(static_cast<M &&>(module))), name);
  }
  void own(AnyModule module, const char *name = nullptr) {
    AnyModule *grown = new AnyModule[static_cast<unsigned>(count) + 1];
    char **longer = new char *[static_cast<unsigned>(count) + 1];
    for (int i = 0; i < count; ++i)
      grown[i] = items[i], longer[i] = names[i];
    delete[] items;
    delete[] names;
    items = grown, names = longer;
    names[count] = nullptr;
    if (name) {
      unsigned size = static_cast<unsigned>(__builtin_strlen(name)) + 1;
      __builtin_memcpy(names[count] = new char[size], name, size);
    }
    items[count++] = module;
    dl_modules_changed();
  }

private:
  void swap(ModuleStore &other) {
    AnyModule *their_items = other.items;
    char **their_names = other.names;
    int their_count = other.count;
    other.items = items, other.names = names, other.count = count;
    items = their_items, names = their_names, count = their_count;
  }
};

/// A module on its way from braces to a list or a dict, which own it.
template <class List> struct InBraces {
  Name name;
  AnyModule module;

  template <IsModule M>
    requires(!__is_same(M, List))
  InBraces(M &&made) : module(new M(static_cast<M &&>(made))) {}
  template <IsModule M>
  InBraces(Name name, M &&made)
      : name(name), module(new M(static_cast<M &&>(made))) {}
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
  /// Under a name of its own.
  template <detail::IsModule M> void add_module(Name name, M &&module) {
    static_assert(detail::TakesTensor<M>,
                  "a module of nn::Sequential takes one dl::Tensor and gives "
                  "one");
    add(static_cast<M &&>(module), name);
  }
  template <detail::IsModule M>
  void append(M &module) = delete (
      "dl: a list owns its modules: make it in the call, append(Block(64)), or "
      "append(std::move(block))");

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
  /// ModuleList({Linear(4, 2), Conv(3)})
  explicit ModuleList(list<detail::InBraces<ModuleList>> modules) {
    for (const auto &each : modules)
      own(each.module);
  }
  template <detail::IsModule M> ModuleList &append(M &&module) {
    add(static_cast<M &&>(module));
    return *this;
  }
  template <detail::IsModule M> ModuleList &push_back(M &&module) {
    return append(static_cast<M &&>(module));
  }
  template <detail::IsModule M>
  void append(M &module) = delete (
      "dl: a list owns its modules: make it in the call, append(Block(64)), or "
      "append(std::move(block))");
};

/// Modules with names: ModuleDict layers{{"linear", nn::Linear{4, 2}}}, or
/// layers.add_module("linear", nn::Linear{4, 2}); and layers["linear"](x), or
/// for (auto [name, layer] : layers.items()).
class ModuleDict : public detail::ModuleStore {
  struct Item {
    Name name;
    AnyModule module;
  };
  struct Items {
    ModuleDict *of;
    struct Iterator {
      ModuleDict *of;
      int at;
      mutable Item item = {};
      Item &operator*() const {
        return item = {of->name(at), static_cast<ModuleStore &>(*of)[at]};
      }
      Iterator &operator++() {
        ++at;
        return *this;
      }
      bool operator!=(const Iterator &other) const { return at != other.at; }
    };
    Iterator begin() const { return {of, 0, {}}; }
    Iterator end() const { return {of, of->size(), {}}; }
  };

  Name unused(Name name) const {
    if (contains(name))
      detail::fail("ModuleDict: there are two modules \"{}\"", name);
    return name;
  }
  int find(Name wanted) const {
    for (int i = 0; i < size(); ++i)
      if (Name(name(i)) == wanted)
        return i;
    return -1;
  }

public:
  ModuleDict() = default;
  ModuleDict(ModuleDict &&) noexcept = default;
  ModuleDict &operator=(ModuleDict &&) noexcept = default;
  ModuleDict(list<detail::InBraces<ModuleDict>> modules) {
    for (const auto &each : modules)
      own(each.module, unused(each.name));
  }
  template <detail::IsModule M> void add_module(Name name, M &&module) {
    add(static_cast<M &&>(module), unused(name));
  }
  bool contains(Name name) const { return find(name) >= 0; }
  AnyModule &operator[](Name name) {
    int index = find(name);
    if (index < 0)
      detail::fail("ModuleDict: there is no module \"{}\"", name);
    return ModuleStore::operator[](index);
  }
  Items items() { return {this}; }
};

} // namespace dl::nn
