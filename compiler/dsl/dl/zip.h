#pragma once
// Python's zip.

namespace dl {

/// Python's zip, of two: for (auto [p, q] : dl::zip(a.parameters(),
/// b.parameters())) p.lerp_(q, 0.01);
template <class A, class B> class Zip {
  A a;
  B b;
  using IteratorA = decltype(a.begin());
  using IteratorB = decltype(b.begin());

public:
  struct Item {
    decltype(*static_cast<IteratorA (*)()>(nullptr)()) first;
    decltype(*static_cast<IteratorB (*)()>(nullptr)()) second;
  };
  struct Iterator {
    IteratorA a;
    IteratorB b;
    Item operator*() const { return {*a, *b}; }
    Iterator &operator++() {
      ++a;
      ++b;
      return *this;
    }
    /// Ends with the shorter one.
    bool operator!=(const Iterator &other) const {
      return a != other.a && b != other.b;
    }
  };
  Zip(A &&a, B &&b) : a(static_cast<A &&>(a)), b(static_cast<B &&>(b)) {}
  Iterator begin() { return {a.begin(), b.begin()}; }
  Iterator end() { return {a.end(), b.end()}; }
};
template <class A, class B> Zip<A, B> zip(A &&a, B &&b) {
  return {static_cast<A &&>(a), static_cast<B &&>(b)};
}

} // namespace dl
