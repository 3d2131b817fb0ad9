#pragma once
// Shapes, element types and messages.
#include "abi.h"

#if __has_include(<initializer_list>)
#include <initializer_list>
#else // a machine without C++ headers: what the language itself asks for
namespace std {
template <class T> class initializer_list {
  const T *first = nullptr;
  decltype(sizeof(0)) count = 0;

public:
  constexpr initializer_list() noexcept = default;
  constexpr decltype(sizeof(0)) size() const noexcept { return count; }
  constexpr const T *begin() const noexcept { return first; }
  constexpr const T *end() const noexcept { return first + count; }
};
} // namespace std
#endif
// Those of <cstdint> and <cstddef> that programs have used to have.
typedef __INT64_TYPE__ int64_t;
typedef __INT32_TYPE__ int32_t;
typedef __UINT8_TYPE__ uint8_t;
typedef decltype(sizeof(0)) size_t;

// What names in brackets ask for: auto [B, C] = x.sizes<2>();
namespace std {
template <class T> struct tuple_size;
template <decltype(sizeof(0)) I, class T> struct tuple_element;
} // namespace std

namespace dl {

class TensorList;

using i64 = dl_int;
template <class T> using list = std::initializer_list<T>;

enum class DType : int {
  Float = DL_FLOAT,
  Float32 = DL_FLOAT32,
  Float64 = DL_FLOAT64,
  Int64 = DL_INT64,
  Int32 = DL_INT32,
  UInt8 = DL_UINT8,
  Bool = DL_BOOL
};
/// The floating-point type of the program, chosen with dlcc --dtype.
inline constexpr DType kFloat = DType::Float;
inline constexpr DType kFloat32 = DType::Float32, kFloat64 = DType::Float64,
                       kDouble = DType::Float64;
inline constexpr DType kInt64 = DType::Int64, kLong = DType::Int64,
                       kInt32 = DType::Int32, kInt = DType::Int32;
inline constexpr DType kUInt8 = DType::UInt8, kByte = DType::UInt8,
                       kBool = DType::Bool;
/// As Python writes them: torch.float32. (Its float, long and bool are C++'s.)
inline constexpr DType float32 = DType::Float32, float64 = DType::Float64,
                       int64 = DType::Int64, int32 = DType::Int32,
                       uint8 = DType::UInt8;

inline constexpr double inf = __builtin_inf();
inline constexpr double nan = __builtin_nan("");

/// Sizes, or a list of dimensions; at most 8 of them.
struct Shape {
  static constexpr int kMaxRank = DL_MAX_RANK;
  i64 dims[kMaxRank]{};
  int rank = 0;

  Shape() = default;
  Shape(list<i64> values) noexcept {
    for (i64 value : values)
      push_back(value);
  }
  /// From a std::vector, an array, ... of whole numbers.
  template <class Range>
    requires requires(const Range &range) {
      range.size();
      static_cast<const typename Range::value_type *>(range.data());
      static_cast<i64>(typename Range::value_type());
    }
  Shape(const Range &range) noexcept {
    for (auto value : range)
      push_back(static_cast<i64>(value));
  }
  void push_back(i64 value) noexcept;
  i64 &operator[](int i) { return dims[i < 0 ? rank + i : i]; }
  i64 operator[](int i) const { return dims[i < 0 ? rank + i : i]; }
  int size() const { return rank; }
  bool empty() const { return rank == 0; }
  i64 front() const { return at(0); }
  i64 back() const { return at(rank - 1); }
  i64 &front() { return dims[held(0)]; }
  i64 &back() { return dims[held(rank - 1)]; }
  void pop_back() { rank = held(rank - 1); }
  i64 at(i64 i) const { return dims[held(i)]; }
  /// Of a C++ program's IntArrayRef: one that may be changed, and its part.
  Shape vec() const { return *this; }
  Shape slice(i64 start, i64 length) const;
  Shape slice(i64 start) const { return slice(start, rank - start); }
  /// As a std::vector<int64_t>.
  template <class Vector>
    requires requires(Vector vector, const i64 *dim) {
      static_cast<i64>(vector.front());
      vector.push_back(*dim);
      Vector(dim, dim);
      vector.data();
    }
  operator Vector() const {
    return Vector(dims, dims + rank);
  }
  const i64 *begin() const & { return dims; }
  const i64 *end() const & { return dims + rank; }
  const i64 *begin() && = delete (
      "dl: this begins in one copy and ends in another; give it a name first: "
      "auto sizes = x.sizes();");
  i64 numel() const {
    i64 count = 1;
    for (int i = 0; i < rank; ++i)
      count *= dims[i];
    return count;
  }
  friend bool operator==(const Shape &a, const Shape &b) {
    if (a.rank != b.rank)
      return false;
    for (int i = 0; i < a.rank; ++i)
      if (a.dims[i] != b.dims[i])
        return false;
    return true;
  }
  /// For std::cout and its like: [64, 10].
  template <class Stream>
    requires requires { typename Stream::char_type; }
  friend Stream &operator<<(Stream &out, const Shape &shape) {
    out << '[';
    for (int i = 0; i < shape.rank; ++i)
      out << (i ? ", " : "") << shape.dims[i];
    out << ']';
    return out;
  }

private:
  int held(i64 i) const;
};

} // namespace dl

/// How many there are is not known: Tensor::sizes<N>() says it, and chunk<N>().
template <> struct std::tuple_size<dl::Shape> {
  static constexpr decltype(sizeof(0)) value = 0;
};
template <> struct std::tuple_size<dl::TensorList> {
  static constexpr decltype(sizeof(0)) value = 0;
};

namespace dl {

/// One dimension or several: sum(1), sum({0, 2}).
struct Dims : Shape {
  Dims(i64 dim) { push_back(dim); }
  Dims(list<i64> values) : Shape(values) {}
  Dims(const Shape &shape) : Shape(shape) {}
};

/// Height and width: 5 means {5, 5}.
struct Pair {
  i64 h, w;
  constexpr Pair(i64 both) noexcept : h(both), w(both) {}
  constexpr Pair(i64 h, i64 w) noexcept : h(h), w(w) {}
  friend constexpr bool operator==(Pair, Pair) = default;
  operator Shape() const { return {h, w}; }
};

class Tensor;

namespace detail {

/// One argument of a message.
struct Text : dl_text {
  Text(int value) : dl_text{DL_TEXT_INT, value, 0, nullptr, nullptr, 0} {}
  Text(i64 value) : dl_text{DL_TEXT_INT, value, 0, nullptr, nullptr, 0} {}
  Text(double value) : dl_text{DL_TEXT_NUMBER, 0, value, nullptr, nullptr, 0} {}
  Text(const char *value) : dl_text{DL_TEXT_STRING, 0, 0, value, nullptr, 0} {}
  Text(const Shape &value)
      : dl_text{DL_TEXT_SHAPE, 0, 0, nullptr, value.dims, value.rank} {}
};

template <class... Args>
[[noreturn]] void fail(const char *format, const Args &...arguments) {
  const dl_text texts[] = {Text(arguments)..., Text(0)};
  dl_fail(format, texts, sizeof...(arguments));
}

template <class... Args>
[[noreturn]] void unsupported(const char *format, const Args &...arguments) {
  const dl_text texts[] = {Text(arguments)..., Text(0)};
  dl_unsupported(format, texts, sizeof...(arguments));
}

/// While it lives, messages speak of this function, not of the ops that it
/// consists of.
class Called {
  const char *before;

public:
  explicit Called(const char *function) : before(dl_called(function)) {}
  ~Called() { dl_called(before); }
  Called(const Called &) = delete;
};

/// What stands for a size, but for empty braces: x.reshape({}) is a scalar.
template <class T>
concept Count = __is_convertible(T, i64);

inline bool equal(const char *a, const char *b) {
  for (; *a && *a == *b; ++a, ++b)
    ;
  return *a == *b;
}

} // namespace detail

inline void Shape::push_back(i64 value) noexcept {
  if (rank == kMaxRank)
    detail::fail("a tensor has at most {} dimensions", kMaxRank);
  dims[rank++] = value;
}
inline int Shape::held(i64 i) const {
  if (i < 0 || i >= rank)
    detail::fail("there is no size {} in {}", i, *this);
  return static_cast<int>(i);
}
inline Shape Shape::slice(i64 start, i64 length) const {
  if (start < 0 || length < 0 || start + length > rank)
    detail::fail("sizes().slice({}, {}) of {}: there are {} sizes", start,
                 length, *this, rank);
  Shape part;
  for (i64 i = 0; i < length; ++i)
    part.push_back(dims[start + i]);
  return part;
}

} // namespace dl
