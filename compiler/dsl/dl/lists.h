#pragma once
// Tensors in lists: cut from one, or joined to one.
#include "indexing.h"

namespace dl {

/// What chunk(), split() and unbind() give, and cat() and stack() take.
class TensorList {
  Tensor *items = nullptr;
  int count = 0;

public:
  TensorList() = default;
  TensorList(list<Tensor> tensors) {
    for (const Tensor &tensor : tensors)
      push_back(tensor);
  }
  /// From a std::vector, an array, ...
  template <class Range>
    requires requires(const Range &range) {
      Tensor(*range.begin());
      range.end();
    }
  TensorList(const Range &range) {
    for (const Tensor &tensor : range)
      push_back(tensor);
  }
  TensorList(const TensorList &other) {
    for (const Tensor &tensor : other)
      push_back(tensor);
  }
  TensorList &operator=(TensorList other) {
    Tensor *mine = items;
    items = other.items;
    count = other.count;
    other.items = mine;
    return *this;
  }
  ~TensorList() { delete[] items; }

  void push_back(const Tensor &tensor) {
    if ((count & (count - 1)) == 0) { // room for the next power of two
      Tensor *grown = new Tensor[count ? 2 * count : 1];
      for (int i = 0; i < count; ++i)
        grown[i] = items[i];
      delete[] items;
      items = grown;
    }
    items[count++] = tensor;
  }
  int size() const { return count; }
  bool empty() const { return count == 0; }
  const Tensor &front() const { return items[place(0)]; }
  const Tensor &back() const { return items[place(-1)]; }
  Tensor &front() { return items[place(0)]; }
  Tensor &back() { return items[place(-1)]; }
  /// As a std::vector<dl::Tensor>.
  template <class Vector>
    requires requires(Vector vector, const Tensor *item) {
      requires __is_same(typename Vector::value_type, Tensor);
      vector.push_back(*item);
      Vector(item, item);
      vector.data();
    }
  operator Vector() const {
    return Vector(begin(), end());
  }
  const Tensor *begin() const { return items; }
  const Tensor *end() const { return items + count; }
  const Tensor &operator[](int i) const { return items[place(i)]; }
  Tensor &operator[](int i) { return items[place(i)]; }

private:
  int place(int i) const {
    if (i < -count || i >= count)
      detail::fail("there is no tensor {} in a list of {}", i, count);
    return i < 0 ? i + count : i;
  }
};

/// What a function returns that gives several: `return dl::Tensors{mu,
/// logvar};` and `auto [mu, logvar] = encode(x);`.
#define DL_TENSORS(count, members, ...)                                        \
  template <> struct Tensors<count> {                                          \
    Tensor DL_NAMES members;                                                   \
    operator TensorList() const { return {DL_NAMES members}; }                 \
    Tensor operator[](int i) const { return TensorList(*this)[i]; }            \
    DL_TIED(members, __VA_ARGS__)                                              \
  };
// clang-format off
DL_TENSORS(2, (a, b), Tensor &, Tensor &)
DL_TENSORS(3, (a, b, c), Tensor &, Tensor &, Tensor &)
DL_TENSORS(4, (a, b, c, d), Tensor &, Tensor &, Tensor &, Tensor &)
DL_TENSORS(5, (a, b, c, d, e), Tensor &, Tensor &, Tensor &, Tensor &,
           Tensor &)
DL_TENSORS(6, (a, b, c, d, e, f), Tensor &, Tensor &, Tensor &, Tensor &,
           Tensor &, Tensor &)
// clang-format on
#undef DL_TENSORS
/// dl::Tensors all; all.push_back(x): a list that grows.
template <> struct Tensors<0> : TensorList {
  using TensorList::TensorList;
};
template <class... T>
  requires(__is_convertible(T, Tensor) && ...)
Tensors(T...) -> Tensors<sizeof...(T)>;

namespace detail {
template <class T, T... I> struct Numbers {};
/// As many parts as there are names for them.
template <int N> Tensors<N> named(const char *what, const TensorList &parts) {
  if (parts.size() != N)
    fail("{}<{}>: it gives {} tensors", what, N, parts.size());
  return [&]<int... I>(Numbers<int, I...>) {
    return Tensors<N>{parts[I]...};
  }(__make_integer_seq<Numbers, int, N>());
}
} // namespace detail

inline TensorList Tensor::split(const Shape &sizes, i64 dim) const {
  detail::Called called("split");
  Shape from = this->sizes();
  int at = static_cast<int>(detail::wrap("split", dim, from.rank, from));
  i64 total = 0;
  for (i64 size : sizes)
    total += size;
  if (from.rank == 0 || total != from[at])
    detail::fail(
        "split: the sizes {} add up to {}; dim {} of {} is to be split", sizes,
        total, dim, from);
  TensorList parts;
  i64 start = 0;
  for (i64 size : sizes) {
    parts.push_back(narrow(at, start, size));
    start += size;
  }
  return parts;
}

inline TensorList Tensor::split(i64 split_size, i64 dim) const {
  detail::Called called("split");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("split", dim, from.rank, from));
  if (split_size < 1 || from.rank == 0)
    detail::fail("split: {} cannot be split into parts of {}", from,
                 split_size);
  TensorList parts;
  for (i64 start = 0; start < from[at]; start += split_size)
    parts.push_back(slice(at, start, start + split_size));
  return parts;
}

/// The first ones have one more, where they cannot all be equal.
inline TensorList Tensor::tensor_split(i64 sections, i64 dim) const {
  detail::Called called("tensor_split");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("tensor_split", dim, from.rank, from));
  if (from.rank == 0 || sections < 1 || sections > from[at])
    detail::fail("tensor_split: {} along dim {} cannot be split into {}; an "
                 "empty tensor cannot be",
                 from, dim, sections);
  TensorList parts;
  i64 start = 0;
  for (i64 i = 0; i < sections; ++i) {
    i64 size = from[at] / sections + (i < from[at] % sections);
    parts.push_back(narrow(at, start, size));
    start += size;
  }
  return parts;
}
/// In front of each of these elements.
inline TensorList Tensor::tensor_split(list<i64> indices, i64 dim) const {
  detail::Called called("tensor_split");
  TensorList parts;
  i64 start = 0;
  for (i64 end : indices) {
    parts.push_back(slice(dim, start, end));
    start = end;
  }
  parts.push_back(slice(dim, start));
  return parts;
}

inline TensorList Tensor::chunk(i64 chunks, i64 dim) const {
  detail::Called called("chunk");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("chunk", dim, from.rank, from));
  if (chunks < 1 || from.rank == 0)
    detail::fail("chunk: {} cannot be split into {} chunks", from, chunks);
  return split(1 + (from[at] - 1) / chunks, at);
}

inline TensorList Tensor::unbind(i64 dim) const {
  detail::Called called("unbind");
  Shape from = sizes();
  int at = static_cast<int>(detail::wrap("unbind", dim, from.rank, from));
  if (from.rank == 0)
    detail::fail("unbind: a scalar has no dims");
  TensorList parts;
  for (i64 i = 0; i < from[at]; ++i)
    parts.push_back(select(at, i));
  return parts;
}

#define DL_NAMED(function, Argument)                                           \
  template <int N> Tensors<N> Tensor::function(Argument a, i64 dim) const {    \
    return detail::named<N>(#function, function(a, dim));                      \
  }                                                                            \
  template <int N> Tensors<N> function(Tensor x, Argument a, i64 dim = 0) {    \
    return x.function<N>(a, dim);                                              \
  }
DL_NAMED(split, i64)
DL_NAMED(split, const Shape &)
DL_NAMED(chunk, i64)
#undef DL_NAMED
template <int N> Tensors<N> Tensor::unbind(i64 dim) const {
  return detail::named<N>("unbind", unbind(dim));
}
template <int N> Tensors<N> unbind(Tensor x, i64 dim = 0) {
  return x.unbind<N>(dim);
}

/// for (auto row : x), along the first dim.
class TensorIterator {
  Tensor x;
  i64 at;

public:
  TensorIterator(Tensor x, i64 at) : x(x), at(at) {}
  Tensor operator*() const { return x.select(0, at); }
  TensorIterator &operator++() {
    ++at;
    return *this;
  }
  bool operator!=(const TensorIterator &other) const { return at != other.at; }
};
inline TensorIterator begin(const Tensor &x) {
  if (x.dim() == 0)
    detail::fail("a scalar has no dim to go along");
  return {x, 0};
}
inline TensorIterator end(const Tensor &x) { return {x, x.size(0)}; }

/// Tensors one after the other along a dim that they have.
inline Tensor cat(const TensorList &tensors, i64 dim = 0) {
  detail::Called called("cat");
  if (tensors.size() == 0)
    detail::fail("cat: there are no tensors");
  Shape shape = tensors[0].sizes();
  detail::Attr along("dim", detail::wrap("cat", dim, shape.rank, shape));
  int count = tensors.size();
  auto *operands = new dl_operand[static_cast<unsigned>(count)];
  for (int i = 0; i < count; ++i)
    operands[i] = Operand(tensors[i]);
  Tensor result;
  dl_emit("cat", operands, count, &along, 1, &result.id, 1);
  delete[] operands;
  return result;
}
inline Tensor concat(const TensorList &tensors, i64 dim = 0) {
  detail::Called called("concat");
  return cat(tensors, dim);
}

/// Tensors of one shape along a new dim.
inline Tensor stack(const TensorList &tensors, i64 dim = 0) {
  detail::Called called("stack");
  if (tensors.size() == 0)
    detail::fail("stack: there are no tensors");
  Shape shape = tensors[0].sizes();
  i64 at = detail::wrap("stack", dim, shape.rank + 1, shape);
  TensorList parts;
  for (int i = 0; i < tensors.size(); ++i) {
    if (tensors[i].sizes() != shape)
      detail::fail("stack: all shapes must be equal, got {} and {} (tensor {})",
                   shape, tensors[i].sizes(), i);
    parts.push_back(tensors[i].unsqueeze(at));
  }
  return cat(parts, at);
}

inline TensorList chunk(Tensor x, i64 chunks, i64 dim = 0) {
  return x.chunk(chunks, dim);
}
inline TensorList split(Tensor x, i64 split_size, i64 dim = 0) {
  return x.split(split_size, dim);
}
inline TensorList split(Tensor x, const Shape &sizes, i64 dim = 0) {
  return x.split(sizes, dim);
}
inline TensorList unbind(Tensor x, i64 dim = 0) { return x.unbind(dim); }
inline TensorList tensor_split(Tensor x, i64 sections, i64 dim = 0) {
  return x.tensor_split(sections, dim);
}
inline TensorList tensor_split(Tensor x, list<i64> indices, i64 dim = 0) {
  return x.tensor_split(indices, dim);
}

} // namespace dl
