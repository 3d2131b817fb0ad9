#pragma once
// Options of Tensor's methods, and sizes with names.
#include "operand.h"

namespace dl {

using detail::Operand;

inline constexpr i64 kEnd = 0x7fffffffffffffff;

namespace detail {
/// Of the program's floats.
inline void require_finite(const char *what, const Operand &value) {
  double size = value.number < 0 ? -value.number : value.number;
  if (value.kind == DL_FLOAT_SCALAR && !dl_float_is_double() &&
      size > 3.4028234663852886e38 && size <= 1.7976931348623157e308)
    fail("{}: an f32 holds numbers up to 3.4e38, not {}; use dl::inf, "
         "dl::finfo(dl::kFloat).max, or dlcc --dtype=f64",
         what, value.number);
}
} // namespace detail

struct TensorOptions; // create.h

namespace detail {
/// That of the tensor, where none is named.
inline constexpr DType kItsOwn = DType(-1);
/// A dtype, and not empty braces.
template <class T>
concept GivenDType = __is_same(T, DType);
} // namespace detail
/// Of what is made as another tensor is: {.dtype = dl::kInt64}, or a dtype.
struct LikeOptions {
  DType dtype = detail::kItsOwn;
  DType of(DType other) const {
    return dtype == detail::kItsOwn ? other : dtype;
  }
};

struct ReduceOptions {
  bool keepdim = false;
};
/// unbiased = false is correction = 0.
struct VarOptions {
  i64 correction = 1;
  bool unbiased = true, keepdim = false;
};
namespace detail {
/// A number, or "fro": of Frobenius, 2.
struct NormOrder {
  double p;
  bool is_frobenius = false;
  template <Number T> constexpr NormOrder(T p) : p(static_cast<double>(p)) {}
  NormOrder(const char *name) : p(2), is_frobenius(true) {
    if (name[0] != 'f')
      fail("norm: p = \"{}\"; a number or \"fro\" is wanted", name);
  }
};
} // namespace detail
/// No dims: all.
struct NormOptions {
  detail::NormOrder p = 2;
  Dims dim = list<i64>{};
  bool keepdim = false;
};
struct ClampOptions {
  detail::OptionalOperand min = {}, max = {};
};
struct AddmmOptions {
  double beta = 1, alpha = 1;
};
struct AddOptions {
  Operand alpha = 1;
};
struct ScaledOptions {
  double value = 1;
};
/// Whether the element that is there takes part.
struct ScatterReduceOptions {
  bool include_self = true;
};
/// How often each element is repeated: {2, 0, 3}, or a std::vector.
class Repeats {
  i64 *numbers;
  i64 count = 0;

public:
  Repeats(list<i64> given) : numbers(new i64[given.size()]) {
    for (i64 number : given)
      numbers[count++] = number;
  }
  template <class Range>
    requires requires(const Range &range) {
      static_cast<const typename Range::value_type *>(range.data());
      static_cast<i64>(typename Range::value_type());
      range.size();
    }
  Repeats(const Range &range) : numbers(new i64[range.size()]) {
    for (auto number : range)
      numbers[count++] = static_cast<i64>(number);
  }
  Repeats(const Repeats &) = delete;
  ~Repeats() { delete[] numbers; }
  i64 size() const { return count; }
  i64 operator[](i64 i) const { return numbers[i]; }
};
/// Of repeats that are data: what they add up to. Without a dim all elements
/// are repeated, one after the other.
struct RepeatInterleaveOptions {
  i64 dim = kEnd, output_size = 0;
};
/// max = min: from the least element to the greatest.
struct HistcOptions {
  i64 bins = 100;
  double min = 0, max = 0;
};
struct IndexAddOptions {
  double alpha = 1;
};
/// The graph of a step is there as long as the step is traced.
struct BackwardOptions {
  bool retain_graph = false, create_graph = false;
};
/// Sorting is stable, whether it is asked for or not.
struct SortOptions {
  i64 dim = -1;
  bool descending = false, stable = false;
};
struct TopkOptions {
  i64 dim = -1;
  bool largest = true, sorted = true;
};

namespace detail {
/// The type of std::ignore in std::tie(a, std::ignore): a constant without
/// members, of which any one will do.
template <class T>
concept Ignored =
    __is_const(__remove_reference_t(T)) && __is_empty(__remove_reference_t(T));
template <class... T> struct Types {};
template <class... T> inline constexpr auto kCount = sizeof...(T);
template <class To, class From> inline constexpr bool kTied = false;
template <class... To, class... From>
  requires(sizeof...(To) == sizeof...(From))
inline constexpr bool kTied<Types<To...>, Types<From...>> =
    ((__is_same(To, From) || Ignored<To>) && ...);
/// Values of theirs: std::tuple<dl::Tensor, dl::Tensor>.
template <class To, class From> inline constexpr bool kCopied = false;
template <class... To, class... From>
  requires(sizeof...(To) == sizeof...(From))
inline constexpr bool kCopied<Types<To...>, Types<From...>> =
    ((!__is_reference(To) && __is_convertible(From, To)) && ...);
template <class To, class Member> To tied(Member &member) {
  if constexpr (Ignored<To>) {
    static const __remove_cvref(To) nothing{};
    return nothing;
  } else {
    return member;
  }
}
} // namespace detail

namespace detail {
template <decltype(sizeof(0)) I, class T, class... More>
auto numbered(const T &first, const More &...more) {
  if constexpr (I == 0)
    return first;
  else
    return numbered<I - 1>(more...);
}
} // namespace detail

/// What a struct has for std::tie(a, b) = f(x), where a member of type T is a
/// T &, for std::tuple<T, T> both = f(x), and for std::get<0>(f(x)).
#define DL_TIED(members, ...)                                                  \
  template <template <class...> class Tuple, class... To>                      \
    requires detail::kTied<detail::Types<To...>, detail::Types<__VA_ARGS__>>   \
  operator Tuple<To...>() {                                                    \
    auto &[DL_NAMES members] = *this;                                          \
    return [](auto &...member) -> Tuple<To...> {                               \
      return {detail::tied<To>(member)...};                                    \
    }(DL_NAMES members);                                                       \
  }                                                                            \
  template <template <class...> class Tuple, class... To>                      \
    requires detail::kCopied<detail::Types<To...>, detail::Types<__VA_ARGS__>> \
  operator Tuple<To...>() const {                                              \
    const auto &[DL_NAMES members] = *this;                                    \
    return [](const auto &...member) -> Tuple<To...> {                         \
      return {To(member)...};                                                  \
    }(DL_NAMES members);                                                       \
  }                                                                            \
  template <decltype(sizeof(0)) I> auto tied_get() const {                     \
    static_assert(I < detail::kCount<__VA_ARGS__>,                             \
                  "dl: this gives fewer tensors");                             \
    const auto &[DL_NAMES members] = *this;                                    \
    return detail::numbered<I>(DL_NAMES members);                              \
  }
#define DL_NAMES(...) __VA_ARGS__

/// auto [B, T, C] = x.sizes<3>();
template <int N> struct Sizes {
  i64 size[N];
  template <decltype(sizeof(0)) I> i64 get() const { return size[I]; }
};

} // namespace dl

template <int N> struct std::tuple_size<dl::Sizes<N>> {
  static constexpr decltype(sizeof(0)) value = N;
};
template <decltype(sizeof(0)) I, int N>
struct std::tuple_element<I, dl::Sizes<N>> {
  using type = dl::i64;
};

namespace std {
template <decltype(sizeof(0)) I, class T>
  requires requires(const T &several) { several.template tied_get<0>(); }
auto get(const T &several) {
  return several.template tied_get<I>();
}
} // namespace std
