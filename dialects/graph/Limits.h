#pragma once
#include <cstdint>

namespace dl::graph {

/// Of a tensor. More is a mistake, and would overflow sizes in bytes sooner or
/// later.
inline constexpr int64_t kMaxElements = int64_t{1} << 40;

} // namespace dl::graph
