#pragma once
// nn::Module: a plain struct with members and a forward function. The compiler
// names the members; nothing is registered by hand.
#include "names.h"
#include "parameter_groups.h"
#include "sequence_losses.h"

namespace dl::nn {

class Module;
class AnyModule;
class NamedModuleList;
class ModuleRange;
class BufferList;
class StateDict;

namespace detail {
using namespace dl::detail;

/// What a module consists of, in the order of its members.
class Visitor {
public:
  virtual void module(const char *name, Module &member) = 0;
  virtual void parameter(const char *name, Parameter &member) = 0;
  virtual void buffer(const char *, Buffer &) {}
};

inline void walk(Module &root);

struct Scope;
} // namespace detail

/// A parameter and its path, as in PyTorch's named_parameters().
struct NamedParameter {
  Name name;
  Parameter parameter;

  Name key() const { return name; }
  Parameter &value() { return parameter; }
};

/// The parameters of a module, tied ones once.
class NamedParameterList {
  const dl_named_parameter *first;
  int count;

public:
  class Iterator {
    const dl_named_parameter *at;
    mutable NamedParameter item;

  public:
    explicit Iterator(const dl_named_parameter *at) : at(at) {}
    NamedParameter &operator*() const {
      item.name = at->name;
      item.parameter.id = at->parameter;
      return item;
    }
    Iterator &operator++() {
      ++at;
      return *this;
    }
    bool operator!=(const Iterator &other) const { return at != other.at; }
  };

  NamedParameterList(const dl_named_parameter *first, int count)
      : first(first), count(count) {}
  Iterator begin() const { return Iterator(first); }
  Iterator end() const { return Iterator(first + count); }
  int size() const { return count; }
  NamedParameter operator[](int i) const {
    if (i < 0 || i >= count)
      detail::fail("parameters: there is no number {} of {}", i, count);
    return *Iterator(first + i);
  }
  Parameter operator[](const char *path) const {
    for (NamedParameter &each : *this)
      if (__builtin_strcmp(each.name, path) == 0)
        return each.parameter;
    detail::fail("named_parameters: there is no '{}'", path);
  }
};

namespace detail {
inline void visit(Visitor &visitor, const dl_member &member, char *object);

/// While it lives, new ops belong to the module.
struct Scope {
  explicit Scope(Module &module);
  ~Scope() { dl_module_leave(); }
  Scope(const Scope &) = delete;
};
} // namespace detail

class Module {
  friend struct detail::Scope;
  bool evaluates = false;

public:
  Module() { dl_module_made(this); }
  Module(Module &&other) noexcept : evaluates(other.evaluates) {
    dl_module_made(this);
  }
  Module &operator=(Module &&other) noexcept {
    evaluates = other.evaluates;
    return *this;
  }
  Module(const Module &) = delete (
      "dl: a module is not copied; pass it by reference, or std::move it");
  Module &operator=(const Module &) = delete (
      "dl: a module is not copied; pass it by reference, or std::move it");
  virtual ~Module() { dl_module_gone(this); }

  /// Null where it is of another type: if (auto *fc = module.as<nn::Linear>()).
  template <class M> M *as() { return dynamic_cast<M *>(this); }
  template <class M> static M *as(const AnyModule &module); ///< nn::as
  /// As of the holders of C++ programs: conv->forward(x), fc->weight.
  template <class Self> Self *operator->(this Self &self) { return &self; }
  /// model(x) calls forward(x).
  template <class Self, class... A>
    requires requires(Self &self, A &&...arguments) {
      self.forward(static_cast<A &&>(arguments)...);
    }
  auto operator()(this Self &&self, A &&...arguments) {
    detail::Scope scope(self);
    return self.forward(static_cast<A &&>(arguments)...);
  }

  NamedParameterList named_parameters() {
    detail::walk(*this);
    int count = 0;
    const dl_named_parameter *first = dl_walk_result(&count);
    return {first, count};
  }
  optim::Parameters parameters() { return named_parameters(); }
  /// By its path: lstm.get_parameter("weight_hh_l0").
  Parameter get_parameter(const char *path) {
    for (auto &[name, parameter] : named_parameters())
      if (name == path)
        return parameter;
    detail::fail("get_parameter: the module has no parameter '{}'", path);
  }
  BufferList buffers();
  /// This module and all in it; the modules right in it. See submodules.h.
  ModuleRange modules();
  NamedModuleList named_modules();
  ModuleRange children();
  NamedModuleList named_children();
  StateDict state_dict();
  void load_state_dict(const StateDict &from);
  void zero_grad();
  /// Freezes all parameters, or thaws them.
  void requires_grad_(bool value = true);
  bool is_training() const { return dl_is_training() && !evaluates; }
  /// The mode belongs to the step; eval() is for what does not change while the
  /// rest is trained: in p.train(), too, dropout and normalisation of this
  /// module and all in it are those of an evaluation, until train().
  void eval() { train(false); }
  void train(bool mode = true) {
    apply([mode](Module &module) { module.evaluates = !mode; });
  }

  /// Calls f with each module inside, then with this one.
  template <class Function> void apply(Function function) {
    struct Apply : detail::Visitor {
      Function *function;
      void module(const char *, Module &member) override {
        member.visit_members(*this);
        (*function)(member);
      }
      void parameter(const char *, Parameter &) override {}
    } visitor;
    visitor.function = &function;
    visit_members(visitor);
    function(*this);
  }

  /// The members the compiler found in the struct; containers replace it.
  virtual void visit_members(detail::Visitor &visitor) {
    int count = 0;
    const dl_member *members = dl_members(this, &count);
    char *object = static_cast<char *>(dynamic_cast<void *>(this));
    for (int i = 0; i < count; ++i)
      detail::visit(visitor, members[i], object);
  }
};

inline detail::Scope::Scope(Module &module) {
  if (!dl_module_known(&module))
    walk(module);
  dl_module_enter(&module, module.evaluates);
}

namespace detail {
inline void visit_at(Visitor &visitor, const dl_member &member,
                     const char *name, char *place) {
  if (member.held && !(place = *reinterpret_cast<char **>(place)))
    return;
  place += member.inside;
  if (member.kind == DL_MEMBER_MODULE)
    visitor.module(name, *reinterpret_cast<Module *>(place));
  else if (member.kind == DL_MEMBER_PARAMETER)
    visitor.parameter(name, *reinterpret_cast<Parameter *>(place));
  else
    visitor.buffer(name, *reinterpret_cast<Buffer *>(place));
}
/// A std::vector begins with two pointers: to its first element, and behind its
/// last one.
inline void visit(Visitor &visitor, const dl_member &member, char *object) {
  char *place = object + member.offset;
  if (!member.stride)
    return visit_at(visitor, member, member.name, place);
  char *const *ends = reinterpret_cast<char **>(place);
  int index = 0;
  for (char *at = ends[0]; at != ends[1]; at += member.stride)
    visit_at(visitor, member, ElementName(member.name, index++).c_str(), at);
}

inline void walk(Module &root) {
  struct Walk : Visitor {
    void module(const char *name, Module &member) override {
      dl_walk_enter(name, &member);
      member.visit_members(*this);
      dl_walk_leave();
    }
    void parameter(const char *name, Parameter &member) override {
      if (member.defined())
        dl_walk_parameter(name, member.id);
    }
    void buffer(const char *name, Buffer &member) override {
      if (member.defined())
        dl_walk_buffer(name, member.id);
    }
  } visitor;
  visitor.module("", root);
}

/// Walks what was never called as a whole, so that its parts have names. Outer
/// modules are made before their members.
inline void walk_unmet() {
  while (const void *module = dl_module_unmet())
    walk(*static_cast<Module *>(const_cast<void *>(module)));
}
} // namespace detail

inline void Module::zero_grad() {
  for (const Parameter &parameter : parameters())
    dl_zero_grad(&parameter.id, 1);
}
inline void Module::requires_grad_(bool value) {
  for (const Parameter &parameter : parameters())
    dl_requires_grad(parameter.id, value);
}

/// The module as an M, or null.
template <class M> M *as(Module &module) { return dynamic_cast<M *>(&module); }

} // namespace dl::nn
