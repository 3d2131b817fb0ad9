#pragma once
// What optimizers are given: parameters, in groups with options.
#include "module.h"

namespace dl::optim {

namespace detail {
using namespace dl::detail;

/// A list, a vector, an array class.
template <class Range, class T>
concept RangeOf = requires(const Range &range, void (*take)(const T &)) {
  take(*range.begin());
  range.end();
};
template <class Range>
concept ParameterRange = RangeOf<Range, Parameter>;

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

/// What a group consists of: model.parameters(), a list of them in braces, one,
/// or those that were put in: decay.push_back(parameter).
class Parameters {
  int *first = nullptr;
  int count = 0, space = 0;

  void add(int id) {
    if (count == space) {
      int *grown = new int[space = 2 * space + 8];
      for (int i = 0; i < count; ++i)
        grown[i] = first[i];
      delete[] first;
      first = grown;
    }
    first[count++] = id;
  }

public:
  Parameters() = default;
  template <detail::ParameterRange Range> Parameters(const Range &parameters) {
    for (const Parameter &parameter : parameters)
      push_back(parameter);
  }
  Parameters(list<Parameter> parameters) {
    for (const Parameter &parameter : parameters)
      push_back(parameter);
  }
  Parameters(const Parameter &parameter) { push_back(parameter); }
  Parameters(const nn::NamedParameterList &parameters) {
    for (const auto &[name, parameter] : parameters)
      push_back(parameter);
  }
  Parameters(const Parameters &other) {
    for (int i = 0; i < other.count; ++i)
      add(other.first[i]);
  }
  Parameters &operator=(const Parameters &) = delete;
  ~Parameters() { delete[] first; }

  void push_back(const Parameter &parameter) { add(parameter.id); }

  using Iterator = detail::HandleIterator<Parameter>;
  Iterator begin() const { return Iterator(first); }
  Iterator end() const { return Iterator(first + count); }
  const int *ids() const { return first; }
  int size() const { return count; }
};

namespace detail {

template <class Range>
concept ParameterSource =
    ParameterRange<Range> || __is_same(Range, Parameters) ||
    __is_same(Range, nn::NamedParameterList);
template <class Range, class Group>
concept SourceOf = ParameterSource<Range> || RangeOf<Range, Group>;
/// A learning rate that stands by position.
template <class T>
concept Rate = Number<T> || __is_same(T, Scalar);
} // namespace detail

} // namespace dl::optim
