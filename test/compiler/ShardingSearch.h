// Brute force: in which ways do an op's results come from parts of its
// operands?
#pragma once

#include "dialects/graph/Graph.h"
#include "test/compiler/ShardingCases.h"
#include "test/compiler/ShardingParts.h"
#include <set>

namespace dl::test {

/// How one tensor lies on the parts: whole on each, split along a dim, or
/// partial.
struct Placement {
  enum Kind { Whole, Split, Sum, Max } kind = Whole;
  int64_t dim = 0;

  auto operator<=>(const Placement &) const = default;
};
/// Of all operands, then of all results.
using Placements = std::vector<Placement>;

std::string placementsText(const Placements &placements, size_t operands);

struct SearchResult {
  std::set<Placements> found;
  int64_t tried = 0;
};

/// Tries every placement of the operands over `count` parts, with the op as it
/// is and with each number of its attributes divided by `count`, and finds
/// every placement of the results that is right for all of some random values.
SearchResult searchPlacements(mlir::MLIRContext &context,
                              const ShardingCase &shardingCase,
                              mlir::Operation *op, int64_t count);

/// What the rule says may be done over `count` parts.
std::set<Placements> declaredPlacements(const graph::ShardingRule &rule,
                                        int64_t count);

} // namespace dl::test
