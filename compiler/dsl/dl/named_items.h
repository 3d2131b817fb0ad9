#pragma once
// What modules that hold others consist of: a list whose items have names.
#include "names.h"

namespace dl::nn::detail {

/// Items with the names 0, 1, ... unless they have one.
template <class T> class NamedItems {
  T *items = nullptr;
  char **names = nullptr;
  int count = 0;

public:
  NamedItems() = default;
  NamedItems(NamedItems &&other) noexcept { swap(other); }
  NamedItems &operator=(NamedItems &&other) noexcept {
    swap(other);
    return *this;
  }
  ~NamedItems() {
    for (int i = 0; i < count; ++i)
      delete[] names[i];
    delete[] names;
    delete[] items;
  }

  int size() const { return count; }
  T *begin() { return items; }
  T *end() { return items + count; }

  /// From the end, too: [-1] is the last one.
  T &at(const char *what, int index) {
    if (index < -count || index >= count)
      fail("there is no {} {} in a list of {}", what, index, count);
    return items[index < 0 ? index + count : index];
  }
  /// The one of a name; null where there is none.
  T *find(Name wanted) const {
    for (int i = 0; i < count; ++i)
      if (names[i] && Name(names[i]) == wanted)
        return items + i;
    return nullptr;
  }
  T &add(T item, const char *name = nullptr) {
    return insert(count, static_cast<T &&>(item), name);
  }
  /// In front of number `place`.
  T &insert(int place, T item, const char *name = nullptr) {
    T *grown = new T[static_cast<unsigned>(count) + 1];
    char **longer = new char *[static_cast<unsigned>(count) + 1];
    for (int i = 0; i < count; ++i) {
      int to = i + (i >= place);
      grown[to] = static_cast<T &&>(items[i]), longer[to] = names[i];
    }
    delete[] items;
    delete[] names;
    items = grown, names = longer, ++count;
    names[place] = nullptr;
    if (name) {
      unsigned size = static_cast<unsigned>(__builtin_strlen(name)) + 1;
      __builtin_memcpy(names[place] = new char[size], name, size);
    }
    return items[place] = static_cast<T &&>(item);
  }
  const char *name_of(const T *item) const { return names[item - items]; }
  /// Calls f(name, item) for each.
  template <class Function> void each(Function function) {
    for (int i = 0; i < count; ++i)
      function(names[i] ? names[i] : IndexName(i).c_str(), items[i]);
  }

  struct Item {
    Name name;
    T value; // the same module or parameter
  };
  /// for (auto [name, value] : dict.items())
  struct Range {
    struct Iterator {
      T *item;
      char **name;
      mutable Item both{};
      Item &operator*() const { return both = {*name, *item}; }
      Iterator &operator++() {
        ++item, ++name;
        return *this;
      }
      bool operator!=(const Iterator &other) const {
        return item != other.item;
      }
    };
    Iterator first, last;
    Iterator begin() const { return first; }
    Iterator end() const { return last; }
  };
  Range range() {
    return {{items, names, {}}, {items + count, names + count, {}}};
  }

private:
  void swap(NamedItems &other) {
    T *their_items = other.items;
    char **their_names = other.names;
    int their_count = other.count;
    other.items = items, other.names = names, other.count = count;
    items = their_items, names = their_names, count = their_count;
  }
};

} // namespace dl::nn::detail
