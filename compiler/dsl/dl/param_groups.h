#pragma once
// The groups of an optimizer: for (auto &group : optimizer.param_groups()).
#include "parameter_groups.h"

namespace dl::optim {

/// What an optimizer's groups have, by name.
class GroupNumbers {
public:
  virtual ~GroupNumbers() = default;
  virtual int group_count() const = 0;
  virtual const Parameters &parameters(int group) const = 0;
  virtual Scalar number(int group, const char *name) const = 0;
  virtual void set_number(int group, const char *name, const Scalar &value) = 0;
};

/// One of optimizer.param_groups(): group["lr"] = rate; in a step in front of
/// its optimizer.step(), each time, outside of steps for good. group["params"]
/// are its parameters.
class ParamGroupNumbers {
  GroupNumbers *of;
  int group;
  friend class ParamGroupList;

public:
  ParamGroupNumbers(GroupNumbers &of, int group) : of(&of), group(group) {}

  /// What it is now, and what it becomes by assigning.
  class Number : public Scalar {
    GroupNumbers *of;
    int group;
    const char *name;

    const Parameters &parameters() const {
      if (!detail::equal(name, "params"))
        detail::fail("param_groups: \"{}\" is a number; \"params\" are the "
                     "parameters of a group",
                     name);
      return of->parameters(group);
    }

  public:
    Number(GroupNumbers &of, int group, const char *name)
        : Scalar(detail::equal(name, "params") ? Scalar()
                                               : of.number(group, name)),
          of(&of), group(group), name(name) {}
    Parameters::Iterator begin() const { return parameters().begin(); }
    Parameters::Iterator end() const { return parameters().end(); }
    int size() const { return parameters().size(); }
    Parameter operator[](int i) const { return parameters()[i]; }
    Number(const Number &) = default;
    Number &operator=(const Scalar &value) {
      of->set_number(group, name, value);
      Scalar::operator=(value);
      return *this;
    }
    Number &operator=(const Number &other) {
      return *this = static_cast<const Scalar &>(other);
    }
    Number &operator*=(const Scalar &by) { return *this = *this * by; }
    Number &operator/=(const Scalar &by) { return *this = *this / by; }
    Number &operator+=(const Scalar &by) { return *this = *this + by; }
    Number &operator-=(const Scalar &by) { return *this = *this - by; }
  };
  Number operator[](const char *name) const { return {*of, group, name}; }
};

class ParamGroupList {
  ParamGroupNumbers first, last;

public:
  explicit ParamGroupList(GroupNumbers &of)
      : first(of, 0), last(of, of.group_count()) {}
  class Iterator {
    ParamGroupNumbers at;

  public:
    explicit Iterator(ParamGroupNumbers at) : at(at) {}
    ParamGroupNumbers &operator*() { return at; }
    Iterator &operator++() {
      ++at.group;
      return *this;
    }
    bool operator!=(const Iterator &other) const {
      return at.group != other.at.group;
    }
  };
  Iterator begin() const { return Iterator(first); }
  Iterator end() const { return Iterator(last); }
  int size() const { return last.group; }
  ParamGroupNumbers operator[](int group) const {
    if (group < 0 || group >= size())
      detail::fail("the optimizer has {} groups, there is no number {}", size(),
                   group);
    return {*first.of, group};
  }
};

} // namespace dl::optim
