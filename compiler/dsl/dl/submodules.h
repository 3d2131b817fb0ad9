#pragma once
// What a module consists of: itself and the modules in it, and its weights by
// name.
#include "module.h"

namespace dl::nn {

/// A module and its path, as in PyTorch's named_modules().
struct NamedModule {
  Name name;
  Module &module;
};

namespace detail {
/// Modules with their paths, each once.
class FoundModules {
  struct Node {
    NamedModule item;
    char *text;
    Node *next = nullptr;
  } *first = nullptr, *last = nullptr;
  int count = 0;

public:
  FoundModules() = default;
  FoundModules(FoundModules &&other) noexcept
      : first(other.first), last(other.last), count(other.count) {
    other.first = other.last = nullptr;
  }
  FoundModules(const FoundModules &) = delete;
  ~FoundModules() {
    while (Node *node = first) {
      first = node->next;
      delete[] node->text;
      delete node;
    }
  }

  class Iterator {
    Node *at;

  public:
    explicit Iterator(Node *at) : at(at) {}
    NamedModule &operator*() const { return at->item; }
    Iterator &operator++() {
      at = at->next;
      return *this;
    }
    bool operator!=(const Iterator &other) const { return at != other.at; }
  };
  Iterator begin() const { return Iterator(first); }
  Iterator end() const { return Iterator(nullptr); }
  int size() const { return count; }

  /// The path of a module that was not there yet.
  const char *add(const char *outer, const char *name, Module &module) {
    for (const NamedModule &known : *this)
      if (&known.module == &module)
        return nullptr;
    char *text = joined(outer, name);
    Node *node = new Node{{text, module}, text};
    (last ? last->next : first) = node;
    last = node;
    ++count;
    return text;
  }

private:
  static char *joined(const char *outer, const char *name) {
    unsigned size = static_cast<unsigned>(__builtin_strlen(outer) +
                                          __builtin_strlen(name) + 2);
    char *text = new char[size], *end = text;
    for (; *outer; ++outer)
      *end++ = *outer;
    if (end != text)
      *end++ = '.';
    for (; *name; ++name)
      *end++ = *name;
    *end = 0;
    return text;
  }
};

struct FindModules : Visitor {
  FoundModules found;
  const char *path = "";
  bool deep = true;

  void module(const char *name, Module &member) override {
    const char *outer = path, *inner = found.add(path, name, member);
    if (!inner || !deep)
      return;
    path = inner;
    member.visit_members(*this);
    path = outer;
  }
  void parameter(const char *, Parameter &) override {}
};
} // namespace detail

/// for (auto &[name, module] : model.named_modules())
class NamedModuleList : public detail::FoundModules {
public:
  explicit NamedModuleList(FoundModules &&found)
      : FoundModules(static_cast<FoundModules &&>(found)) {}
};

/// for (auto &module : model.modules()) if (auto *conv =
/// nn::as<nn::Conv2d>(module)) ...
class ModuleRange : detail::FoundModules {
public:
  explicit ModuleRange(FoundModules &&found)
      : FoundModules(static_cast<FoundModules &&>(found)) {}
  class Iterator : public FoundModules::Iterator {
  public:
    Iterator(FoundModules::Iterator at) : FoundModules::Iterator(at) {}
    Module &operator*() const {
      return FoundModules::Iterator::operator*().module;
    }
  };
  Iterator begin() const { return FoundModules::begin(); }
  Iterator end() const { return FoundModules::end(); }
  using FoundModules::size;
};

inline NamedModuleList Module::named_modules() {
  detail::FindModules find;
  find.module("", *this);
  return NamedModuleList(static_cast<detail::FoundModules &&>(find.found));
}
inline ModuleRange Module::modules() {
  detail::FindModules find;
  find.module("", *this);
  return ModuleRange(static_cast<detail::FoundModules &&>(find.found));
}
inline NamedModuleList Module::named_children() {
  detail::FindModules find;
  find.deep = false;
  visit_members(find);
  return NamedModuleList(static_cast<detail::FoundModules &&>(find.found));
}
inline ModuleRange Module::children() {
  detail::FindModules find;
  find.deep = false;
  visit_members(find);
  return ModuleRange(static_cast<detail::FoundModules &&>(find.found));
}

/// What a module knows: parameters and buffers, in order. It is there as long
/// as the module is.
class StateDict {
  Module *of;

public:
  explicit StateDict(Module &module) : of(&module) {}
  Module &module() const { return *of; }
};
inline StateDict Module::state_dict() { return StateDict(*this); }

namespace detail {
/// The states of a module and all in it, by place.
class FindStates : Visitor {
  int *ids = nullptr, count = 0;
  bool parameters;

  void add(const Tensor &state) {
    if (!state.defined() || !dl_is_state(state.id))
      return; // a buffer that each step computes is none
    int *grown = new int[static_cast<unsigned>(count) + 1];
    for (int i = 0; i < count; ++i)
      grown[i] = ids[i];
    delete[] ids;
    ids = grown;
    ids[count++] = state.id;
  }
  void module(const char *, Module &member) override {
    member.visit_members(*this);
  }
  void parameter(const char *, Parameter &member) override {
    if (parameters)
      add(member);
  }
  void buffer(const char *, Buffer &member) override { add(member); }

public:
  explicit FindStates(Module &module, bool parameters = true)
      : parameters(parameters) {
    module.visit_members(*this);
  }
  FindStates(FindStates &&other)
      : ids(other.ids), count(other.count), parameters(other.parameters) {
    other.ids = nullptr;
    other.count = 0;
  }
  ~FindStates() { delete[] ids; }
  const int *begin() const { return ids; }
  const int *end() const { return ids + count; }
  int size() const { return count; }
};
} // namespace detail

/// The buffers of a module and all in it: for (auto &buffer : net.buffers()).
class BufferList {
  detail::FindStates found;

public:
  using Iterator = detail::HandleIterator<Buffer>;

  explicit BufferList(Module &module) : found(module, /*parameters=*/false) {}
  Iterator begin() const { return Iterator(found.begin(), found.size()); }
  Iterator end() const { return Iterator(found.end(), 0); }
  int size() const { return found.size(); }
};
inline BufferList Module::buffers() { return BufferList(*this); }

/// Outside of steps this module begins with the values the other one begins
/// with; in p.train() it has the other one's from here on.
inline void Module::load_state_dict(const StateDict &from) {
  detail::Called called("load_state_dict");
  detail::FindStates to(*this), source(from.module());
  if (to.size() != source.size())
    detail::fail("load_state_dict: {} parameters and buffers for {}; the "
                 "modules are of one type",
                 source.size(), to.size());
  Tensor own, other;
  for (int i = 0; i < to.size(); ++i) {
    own.id = to.begin()[i], other.id = source.begin()[i];
    if (own.sizes() != other.sizes())
      detail::fail("load_state_dict: a weight is {} here and {} there; the "
                   "modules are of one type",
                   own.sizes(), other.sizes());
  }
  bool now = dl_in_step();
  for (int i = 0; i < to.size(); ++i)
    (now ? dl_assign : dl_initial_as)(to.begin()[i], source.begin()[i]);
}

} // namespace dl::nn
