// Whether two functions are called alike, by their types.
#ifndef DL_TEST_ABI_SAMECALL_H
#define DL_TEST_ABI_SAMECALL_H

#include <type_traits>

namespace dlabi {

template <typename A, typename B>
constexpr bool isSameArgument =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
    std::is_floating_point_v<A> == std::is_floating_point_v<B>;

/// Of pointers to functions: as many arguments, and sizes and kinds of each as
/// of the other's. Handles may be of other types.
template <typename F, typename G> struct IsSame : std::false_type {};
template <typename R, typename... A, typename S, typename... B>
  requires(sizeof...(A) == sizeof...(B))
struct IsSame<R (*)(A...), S (*)(B...)>
    : std::bool_constant<sizeof(R) == sizeof(S) &&
                         (isSameArgument<A, B> && ...)> {};

} // namespace dlabi

#endif
