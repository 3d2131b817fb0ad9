#pragma once
// Modules that hold parameters.
#include "module.h"
#include "named_items.h"

namespace dl::nn {

namespace detail {
class ParameterStore : public Module {
public:
  int size() const { return items_.size(); }
  Parameter *begin() { return items_.begin(); }
  Parameter *end() { return items_.end(); }

  void visit_members(Visitor &visitor) override {
    items_.each([&](const char *name, Parameter &parameter) {
      visitor.parameter(name, parameter);
    });
  }

protected:
  NamedItems<Parameter> items_;

  Parameter &add(const Parameter &parameter, const char *name = nullptr) {
    dl_modules_changed();
    return items_.add(parameter, name);
  }
};
} // namespace detail

/// nn::ParameterList scales; scales.append(dl::ones({4})); x * scales[0]
class ParameterList : public detail::ParameterStore {
public:
  ParameterList() = default;
  ParameterList(list<Parameter> parameters) {
    for (const Parameter &each : parameters)
      append(each);
  }
  ParameterList &append(const Parameter &parameter) {
    add(parameter);
    return *this;
  }
  ParameterList &push_back(const Parameter &parameter) {
    return append(parameter);
  }
  Parameter &operator[](int index) { return items_.at("parameter", index); }
};

/// nn::ParameterDict scales{{"left", dl::ones({4})}}; x * scales["left"], and
/// for (auto [name, scale] : scales.items())
class ParameterDict : public detail::ParameterStore {
public:
  ParameterDict() = default;
  ParameterDict(list<NamedParameter> parameters) {
    for (const auto &[name, parameter] : parameters)
      insert(name, parameter);
  }
  void insert(Name name, const Parameter &parameter) {
    if (contains(name))
      detail::fail("ParameterDict: there are two parameters \"{}\"", name);
    add(parameter, name);
  }
  bool contains(Name name) const { return items_.find(name); }
  /// One that is not there is made: scales["left"] = dl::ones({4});
  Parameter &operator[](Name name) {
    Parameter *found = items_.find(name);
    return found ? *found : add({}, name);
  }
  detail::NamedItems<Parameter>::Range items() { return items_.range(); }
};

} // namespace dl::nn
