#pragma once
// Modules that hold modules.
#include "any_module.h"
#include "indexing.h"
#include "named_items.h"

namespace dl::nn {

namespace detail {
/// Modules, with the names 0, 1, ... unless they have one.
class ModuleStore : public Module {
public:
  int size() const { return items_.size(); }
  bool is_empty() const { return size() == 0; }
  AnyModule &operator[](int index) { return items_.at("module", index); }
  AnyModule *begin() { return items_.begin(); }
  AnyModule *end() { return items_.end(); }

  void visit_members(Visitor &visitor) override {
    items_.each([&](const char *name, const AnyModule &module) {
      if (!module.is_empty())
        visitor.module(name, module);
    });
  }

protected:
  NamedItems<AnyModule> items_;

  void add(const AnyModule &module, const char *name = nullptr) {
    items_.add(module, name);
    dl_modules_changed();
  }
  void insertAt(int index, const AnyModule &module) {
    items_.insert(static_cast<int>(place(index)), module);
    dl_modules_changed();
  }
  template <class Range> void addAll(Range &modules) {
    for (const AnyModule &module : modules)
      add(module);
  }
  /// The same modules, with the names they have; with `renumbered` those that
  /// are numbers count from 0.
  template <class List> List part(const Slice &slice, bool renumbered) {
    i64 start = place(slice.start), end = place(slice.end);
    List result;
    if (slice.step < 1)
      detail::fail("modules: step is {}, it must be positive", slice.step);
    for (i64 i = start; i < end; i += slice.step) {
      AnyModule *module = begin() + i;
      const char *name = items_.name_of(module);
      IndexName number(static_cast<int>(i));
      result.add(*module, name || renumbered ? name : number.c_str());
    }
    return result;
  }
  /// Python's, of a number that may count from the end.
  i64 place(i64 index) const {
    i64 at = index < 0 ? index + size() : index;
    return at < 0 ? 0 : at > size() ? size() : at;
  }
};

template <class Range>
concept RangeOfModules = requires(Range &range) {
  range.end();
  requires __is_same(__remove_cvref(decltype(*range.begin())), AnyModule);
  requires !__is_same(__remove_cvref(Range), AnyModule);
};

/// A module on its way from braces to a list or a dict, which own it.
template <class List> struct InBraces {
  Name name;
  AnyModule module;

  template <IsModule M>
    requires(!__is_same(M, List))
  InBraces(M &&made) : module(static_cast<M &&>(made)) {}
  InBraces(const AnyModule &module) : module(module) {}
  InBraces(Name name, const AnyModule &module) : name(name), module(module) {}
  template <IsModule M>
  InBraces(Name name, M &&made) : name(name), module(static_cast<M &&>(made)) {}
};

/// One with a name, on its way to a Sequential.
struct NamedInBraces {
  Name name;
  AnyModule module;

  NamedInBraces(Name name, const AnyModule &module)
      : name(name), module(module) {}
  template <IsModule M>
  NamedInBraces(Name name, M &&made)
      : name(name), module(static_cast<M &&>(made)) {
    static_assert(TakesTensor<M>,
                  "a module of nn::Sequential takes one dl::Tensor and gives "
                  "one");
  }
};
} // namespace detail

/// A function of one tensor as a module: Functional(dl::relu), Functional([](
/// dl::Tensor x) { return x.flatten(1); }).
template <class F> class Functional : public Module {
  F function;

public:
  explicit Functional(F function) : function(static_cast<F &&>(function)) {}
  Tensor forward(Tensor x) { return function(x); }
};

namespace detail {
/// What stands in an nn::Sequential: a module, or a function of a tensor.
template <class M>
concept IsLink = IsModule<M> || __is_same(__remove_cvref(M), AnyModule) ||
                 (TakesTensor<M> && !RangeOfModules<M>);
} // namespace detail

/// Modules, and functions, one after the other: Sequential net{Linear{784,
/// 128}, ReLU{}, Linear{128, 10}};
class Sequential : public detail::ModuleStore {
public:
  Sequential() = default;
  template <detail::IsLink... M>
    requires(!(sizeof...(M) == 1 && (__is_same(M, Sequential) && ...)))
  explicit Sequential(M &&...modules) {
    (push_back(static_cast<M &&>(modules)), ...);
  }
  template <detail::IsModule M> Sequential &push_back(M &&module) {
    static_assert(detail::TakesTensor<M>,
                  "a module of nn::Sequential takes one dl::Tensor and gives "
                  "one");
    add(AnyModule(static_cast<M &&>(module)));
    return *this;
  }
  Sequential &push_back(const AnyModule &module) {
    add(module);
    return *this;
  }
  template <detail::IsLink F>
    requires(!detail::IsModule<F> && !__is_same(__remove_cvref(F), AnyModule))
  Sequential &push_back(F &&function) {
    return push_back(Functional<__decay(F)>(static_cast<F &&>(function)));
  }
  template <class M> Sequential &append(M &&module) {
    return push_back(static_cast<M &&>(module));
  }
  /// Sequential({{"conv", Conv2d(1, 8, 3)}, {"relu", ReLU()}}), as of an
  /// OrderedDict.
  explicit Sequential(list<detail::NamedInBraces> modules) {
    for (const auto &each : modules)
      add(each.module, each.name);
  }
  using ModuleStore::operator[];
  /// features[dl::Slice(0, 5)]
  Sequential operator[](const Slice &slice) {
    return part<Sequential>(slice, /*renumbered=*/false);
  }
  /// In front of number `index`.
  void insert(int index, const AnyModule &module) { insertAt(index, module); }
  /// nn.Sequential(*layers) of a std::vector<nn::AnyModule>, an nn::ModuleList.
  template <detail::RangeOfModules Range>
    requires(!detail::IsModule<Range>)
  explicit Sequential(Range &&modules) {
    extend(modules);
  }
  template <detail::RangeOfModules Range> Sequential &extend(Range &&modules) {
    addAll(modules);
    return *this;
  }
  /// Under a name of its own.
  template <detail::IsModule M> void add_module(Name name, M &&module) {
    static_assert(detail::TakesTensor<M>,
                  "a module of nn::Sequential takes one dl::Tensor and gives "
                  "one");
    add(AnyModule(static_cast<M &&>(module)), name);
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
  template <detail::IsModule... M>
    requires(!(sizeof...(M) == 1 && (__is_same(M, ModuleList) && ...)))
  explicit ModuleList(M &&...modules) {
    (append(static_cast<M &&>(modules)), ...);
  }
  /// ModuleList({Linear(4, 2), Conv(3)})
  explicit ModuleList(list<detail::InBraces<ModuleList>> modules) {
    for (const auto &each : modules)
      add(each.module);
  }
  template <detail::IsModule M> ModuleList &append(M &&module) {
    add(AnyModule(static_cast<M &&>(module)));
    return *this;
  }
  ModuleList &append(const AnyModule &module) {
    add(module);
    return *this;
  }
  template <class M> ModuleList &push_back(M &&module) {
    return append(static_cast<M &&>(module));
  }
  using ModuleStore::operator[];
  ModuleList operator[](const Slice &slice) {
    return part<ModuleList>(slice, /*renumbered=*/true);
  }
  /// In front of number `index`.
  void insert(int index, const AnyModule &module) { insertAt(index, module); }
  template <detail::RangeOfModules Range>
    requires(!detail::IsModule<Range>)
  explicit ModuleList(Range &&modules) {
    extend(modules);
  }
  /// Of a std::vector<nn::AnyModule>, an nn::ModuleList, an nn::Sequential.
  template <detail::RangeOfModules Range> ModuleList &extend(Range &&modules) {
    addAll(modules);
    return *this;
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
  Name unused(Name name) const {
    if (contains(name))
      detail::fail("ModuleDict: there are two modules \"{}\"", name);
    return name;
  }

public:
  ModuleDict() = default;
  ModuleDict(list<detail::InBraces<ModuleDict>> modules) {
    for (const auto &each : modules)
      (*this)[unused(each.name)] = each.module;
  }
  template <detail::IsModule M> void add_module(Name name, M &&module) {
    (*this)[unused(name)] = AnyModule(static_cast<M &&>(module));
  }
  void add_module(Name name, const AnyModule &module) {
    (*this)[unused(name)] = module;
  }
  bool contains(Name name) const {
    const AnyModule *found = items_.find(name);
    return found && !found->is_empty();
  }
  /// heads["fine"] = nn::Linear(4, 2); adds it.
  AnyModule &operator[](Name name) {
    AnyModule *found = items_.find(name);
    if (!found) {
      found = &items_.add({}, name);
      *found = AnyModule::none(items_.name_of(found));
    }
    return *found;
  }
  detail::NamedItems<AnyModule>::Range items() { return items_.range(); }
};

namespace detail {
inline ModuleStore &modules_of(const AnyModule &module) {
  if (auto *store = as<ModuleStore>(module))
    return *store;
  fail("this nn::AnyModule holds no modules; an nn::ModuleList does");
}
} // namespace detail
inline int AnyModule::size() const { return detail::modules_of(*this).size(); }
inline AnyModule &AnyModule::operator[](int index) const {
  return detail::modules_of(*this)[index];
}
inline AnyModule *AnyModule::begin() const {
  return detail::modules_of(*this).begin();
}
inline AnyModule *AnyModule::end() const {
  return detail::modules_of(*this).end();
}

} // namespace dl::nn
