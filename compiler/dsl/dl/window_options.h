#pragma once
// Options of what looks at windows, with PyTorch's names, defaults and order,
// for sequences, images and volumes.
#include "order.h"

namespace dl::nn {

namespace detail { // functional.h
using namespace dl::detail;

/// Options after it are given by name only, {.stride = 2}, so that {2, 2} is
/// one size, as the tuple is in PyTorch, and not the first two options.
struct ByName {
  constexpr ByName() noexcept {}
};
} // namespace detail

/// Depth, height and width: 5 means {5, 5, 5}.
struct Triple {
  i64 d, h, w;
  constexpr Triple(i64 all) noexcept : d(all), h(all), w(all) {}
  constexpr Triple(i64 d, i64 h, i64 w) noexcept : d(d), h(h), w(w) {}
  friend constexpr bool operator==(Triple, Triple) = default;
  operator Shape() const { return {d, h, w}; }
};

/// What stands around: a number, one for each dim, "valid" (nothing), or
/// "same": as much as keeps the size, with stride 1.
template <class Size> struct Padding {
  Size sizes = 0;
  bool same = false;

  constexpr Padding() = default;
  constexpr Padding(Size sizes) : sizes(sizes) {}
  template <detail::Number... T> // so that 0 is no pointer
    requires(sizeof...(T) > 0)
  constexpr Padding(T... each) : sizes(static_cast<i64>(each)...) {}
  Padding(const char *name) : same(detail::equal(name, "same")) {
    if (!same && !detail::equal(name, "valid"))
      detail::fail("padding = \"{}\" is unknown; numbers, \"same\" and "
                   "\"valid\" are",
                   name);
  }
};

/// In pools stride 0 and divisor_override 0 stand for PyTorch's None: the
/// kernel size, and as many as the window has.
#define DL_WINDOW_OPTIONS(dims, Size, divisor)                                 \
  struct Conv##dims##Options : detail::ByName {                                \
    Size stride = 1;                                                           \
    Padding<Size> padding{};                                                   \
    Size dilation = 1;                                                         \
    i64 groups = 1;                                                            \
    bool bias = true;                                                          \
    const char *padding_mode = "zeros";                                        \
  };                                                                           \
  struct ConvTranspose##dims##Options : detail::ByName {                       \
    Size stride = 1, padding = 0, output_padding = 0;                          \
    i64 groups = 1;                                                            \
    bool bias = true;                                                          \
    Size dilation = 1;                                                         \
  };                                                                           \
  struct MaxPool##dims##Options : detail::ByName {                             \
    Size stride = 0, padding = 0, dilation = 1;                                \
    bool return_indices = false, ceil_mode = false;                            \
  };                                                                           \
  struct AvgPool##dims##Options : detail::ByName {                             \
    Size stride = 0, padding = 0;                                              \
    bool ceil_mode = false, count_include_pad = true;                          \
    divisor                                                                    \
  };
DL_WINDOW_OPTIONS(1d, i64, )
DL_WINDOW_OPTIONS(2d, Pair, i64 divisor_override = 0;)
DL_WINDOW_OPTIONS(3d, Triple, i64 divisor_override = 0;)
#undef DL_WINDOW_OPTIONS

/// Of unfold and fold.
struct UnfoldOptions : detail::ByName {
  Pair dilation = 1, padding = 0, stride = 1;
};

} // namespace dl::nn
