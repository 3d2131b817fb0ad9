// Integers that the graph itself tells: start, start + step, start + 2 step, …
// in the order of their elements, as dl::arange() makes them.
#pragma once

#include "mlir/IR/Value.h"
#include <optional>

namespace dl::graph {

struct Progression {
  int64_t start, step, count;

  int64_t last() const { return start + step * (count - 1); }
  /// Whether all of them are in [0, bound).
  bool isWithin(int64_t bound) const;
};

/// Nothing where they are data, or otherwise made.
std::optional<Progression> progressionOf(mlir::Value integers);

} // namespace dl::graph
