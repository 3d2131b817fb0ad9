#pragma once
// Tensors whose elements stand in the program.
#include "order.h"
#include "scatter.h"

namespace dl {

namespace detail {
inline constexpr i64 kMostLiterals = 256;

/// One of a list of several types. (In a list of lists of one number it is the
/// worse match.)
struct AnyNumber {
  double value;
  template <Number T> AnyNumber(T value) : value(static_cast<double>(value)) {}
};
template <Number T> T plain(T value) { return value; }
inline double plain(AnyNumber number) { return number.value; }
/// -0 is not 0.
template <class T> bool differ(T a, T b) {
  if constexpr (__is_floating_point(T))
    if (__builtin_signbit(a) != __builtin_signbit(b))
      return true;
  return a != b;
}

/// One number after the other, by a choice for each element: what uses a few of
/// them computes them itself.
template <class T> Tensor literal(const T *values, i64 count, DType dtype) {
  Called called("tensor");
  if (count < 1)
    fail("tensor: no element; an empty tensor cannot be");
  if (count > kMostLiterals)
    fail("tensor: {} elements; more than {} belong into a file of the data or "
         "of the weights",
         count, kMostLiterals);
  Tensor result = full(Shape{count}, plain(values[count - 1]), dtype);
  if (count == 1)
    return result;
  Tensor place = arange(count);
  for (i64 i = count - 1; i-- > 0;)
    if (differ(plain(values[i]), plain(values[count - 1])))
      result = where(place.eq(i), full(Shape{count}, plain(values[i]), dtype),
                     result);
  return result;
}
template <class T>
Tensor rows_of(const list<list<T>> &rows, TensorOptions options) {
  TensorList stacked;
  for (const list<T> &row : rows) {
    if (row.size() != rows.begin()->size())
      fail("tensor: a row has {} elements, the first one {}",
           static_cast<i64>(row.size()),
           static_cast<i64>(rows.begin()->size()));
    stacked.push_back(
        literal(row.begin(), static_cast<i64>(row.size()), options.dtype));
  }
  return stack(stacked);
}
template <class T>
inline constexpr DType kTypeOf = __is_same(T, bool)       ? kBool
                                 : __is_floating_point(T) ? kFloat
                                                          : kInt64;
} // namespace detail

/// torch.tensor: dl::tensor({0.5, 1.5}), dl::tensor({{1, 2}, {3, 4}}),
/// dl::tensor(2.5).
template <detail::Number T> Tensor tensor(list<T> values) {
  return detail::literal(values.begin(), static_cast<i64>(values.size()),
                         detail::kTypeOf<T>);
}
template <detail::Number T>
Tensor tensor(list<T> values, TensorOptions options) {
  return detail::literal(values.begin(), static_cast<i64>(values.size()),
                         options.dtype);
}
template <detail::Number T> Tensor tensor(list<T> values, DType dtype) {
  return tensor(values, TensorOptions{dtype});
}
/// Whole numbers beside fractions.
inline Tensor tensor(list<detail::AnyNumber> values,
                     TensorOptions options = {}) {
  return detail::literal(values.begin(), static_cast<i64>(values.size()),
                         options.dtype);
}
inline Tensor tensor(list<detail::AnyNumber> values, DType dtype) {
  return tensor(values, TensorOptions{dtype});
}
template <detail::Number T>
Tensor tensor(list<list<T>> rows, TensorOptions options) {
  return detail::rows_of(rows, options);
}
template <detail::Number T> Tensor tensor(list<list<T>> rows, DType dtype) {
  return tensor(rows, TensorOptions{dtype});
}
template <detail::Number T> Tensor tensor(list<list<T>> rows) {
  return tensor(rows, TensorOptions{detail::kTypeOf<T>});
}
inline Tensor tensor(list<list<detail::AnyNumber>> rows,
                     TensorOptions options = {}) {
  return detail::rows_of(rows, options);
}
inline Tensor tensor(list<list<detail::AnyNumber>> rows, DType dtype) {
  return detail::rows_of(rows, TensorOptions{dtype});
}
template <detail::Number T> Tensor tensor(T value, DType dtype) {
  return full({}, value, dtype);
}
template <detail::Number T> Tensor tensor(T value, TensorOptions options) {
  return full({}, value, options.dtype);
}
template <detail::Number T> Tensor tensor(T value) {
  return full({}, value, detail::kTypeOf<T>);
}
/// A std::vector, an array.
template <class Range>
  requires requires(const Range &range) {
    range.data()[0] + 1.0;
    range.size();
  }
Tensor tensor(const Range &values) {
  using T = __remove_cvref(decltype(values.data()[0]));
  return detail::literal(values.data(), static_cast<i64>(values.size()),
                         detail::kTypeOf<T>);
}

namespace detail {
/// [2, n]: rows and columns of the elements on one side of a diagonal.
inline Tensor triangle_indices(const char *what, i64 rows, i64 columns,
                               i64 offset, bool lower) {
  Called called(what);
  if (rows < 1 || columns < 1)
    fail("{}: {} by {}; an empty tensor cannot be", what, rows, columns);
  i64 count = 0;
  for (i64 i = 0; i < rows; ++i) {
    i64 first = lower ? 0 : i + offset, last = lower ? i + offset : columns - 1;
    first = first < 0 ? 0 : first;
    last = last > columns - 1 ? columns - 1 : last;
    count += last < first ? 0 : last - first + 1;
  }
  if (count == 0)
    fail("{}: offset {} leaves nothing of {} by {}; an empty tensor cannot be",
         what, offset, rows, columns);
  Tensor row = arange(rows).unsqueeze(1), column = arange(columns);
  Tensor there = lower ? column.le(row + offset) : column.ge(row + offset);
  // In order: what is there comes first, and sorting is stable.
  Tensor place =
      there.to(kInt64).reshape(-1).argsort(0, true).narrow(0, 0, count);
  return stack({place.floor_divide(columns), place.remainder(columns)});
}
} // namespace detail

inline Tensor tril_indices(i64 row, i64 col, i64 offset = 0) {
  return detail::triangle_indices("tril_indices", row, col, offset, true);
}
inline Tensor triu_indices(i64 row, i64 col, i64 offset = 0) {
  return detail::triangle_indices("triu_indices", row, col, offset, false);
}

inline Index::Index(list<detail::Place> places) : kind(kTensor) {
  i64 size = static_cast<i64>(places.size());
  i64 *numbers = new i64[places.size()], *end = numbers;
  for (const detail::Place &place : places)
    *end++ = place.number;
  tensor = detail::literal(numbers, size, kInt64);
  delete[] numbers;
}

} // namespace dl
