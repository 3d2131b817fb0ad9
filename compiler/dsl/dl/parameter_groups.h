#pragma once
// What optimizers are given: parameters, in groups with options.
#include "parameter.h"

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
/// model.named_parameters()
template <class Range>
concept NamedParameterRange = requires(const Range &range) {
  (*range.begin()).parameter;
  range.end();
};
/// std::vector, of parameters or of tensors.
template <class V>
concept VectorOfTensors =
    requires(V &vector, const Parameter &p) { vector.push_back(p); } &&
    (__is_same(typename V::value_type, Parameter) ||
     __is_same(typename V::value_type, Tensor));

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

/// What model.parameters() gives and a group consists of: a list that takes
/// more of them. Those of several modules: {a.parameters(), b.parameters()}, or
/// a.parameters() + b.parameters(). (Nothing is given back: from =
/// net.parameters().begin() goes on when that list is gone.)
class Parameters {
  int *first = nullptr;
  int count = 0, space = 0;

  void swap(Parameters &other) {
    int *their_first = other.first;
    int their_count = other.count, their_space = other.space;
    other.first = first, other.count = count, other.space = space;
    first = their_first, count = their_count, space = their_space;
  }
  void add(int id) {
    if (count == space) {
      int *grown = new int[space = 2 * space + 8];
      for (int i = 0; i < count; ++i)
        grown[i] = first[i];
      first = grown;
    }
    first[count++] = id;
  }

public:
  Parameters() = default;
  template <detail::ParameterRange Range> Parameters(const Range &parameters) {
    for (const auto &parameter : parameters) {
      if constexpr (__is_same(__remove_cvref(decltype(parameter)), Tensor))
        dl_requires_grad_of(parameter.id); // of a tensor that is none it fails
      push_back(parameter);
    }
  }
  Parameters(list<Parameter> parameters) {
    for (const Parameter &parameter : parameters)
      push_back(parameter);
  }
  Parameters(list<Parameters> lists) {
    for (const Parameters &each : lists)
      *this += each;
  }
  Parameters(const Parameter &parameter) { push_back(parameter); }
  template <detail::NamedParameterRange Range>
  Parameters(const Range &parameters) {
    for (const auto &[name, parameter] : parameters)
      push_back(parameter);
  }
  Parameters(const Parameters &other) { *this += other; }
  Parameters(Parameters &&other) noexcept { swap(other); }
  Parameters &operator=(Parameters other) noexcept {
    swap(other);
    return *this;
  }

  void push_back(const Parameter &parameter) { add(parameter.id); }
  void append(const Parameter &parameter) { add(parameter.id); }
  /// As of a std::vector, at the end: all.insert(all.end(), more.begin(),
  /// more.end()).
  template <class Place, class From>
  void insert(const Place &place, From from, const From &to) {
    if (place != end())
      detail::fail("parameters: insert() is at end()");
    Parameters more; // these may be some of its own
    for (; from != to; ++from)
      more.push_back(*from);
    *this += more;
  }
  Parameters &operator+=(const Parameters &other) {
    for (int i = 0, n = other.count; i < n; ++i)
      add(other.first[i]);
    return *this;
  }
  friend Parameters operator+(Parameters a, const Parameters &b) {
    a += b;
    return a;
  }
  template <detail::VectorOfTensors Vector> operator Vector() const {
    Vector result;
    for (const Parameter &parameter : *this)
      result.push_back(parameter);
    return result;
  }
  Parameter operator[](int i) const {
    if (i < 0 || i >= count)
      detail::fail("parameters: there is no number {} of {}", i, count);
    return *Iterator(first + i, 1);
  }

  using Iterator = detail::HandleIterator<Parameter>;
  Iterator begin() const { return Iterator(first, count); }
  Iterator end() const { return Iterator(first + count, 0); }
  const int *ids() const { return first; }
  int size() const { return count; }
};

namespace detail {

template <class Range>
concept ParameterSource = ParameterRange<Range> || NamedParameterRange<Range>;
template <class Range, class Group>
concept SourceOf = ParameterSource<Range> || RangeOf<Range, Group>;
/// A learning rate that stands by position.
template <class T>
concept Rate = Number<T> || __is_same(T, Scalar);
} // namespace detail

} // namespace dl::optim
