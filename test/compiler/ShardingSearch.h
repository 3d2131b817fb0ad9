// Brute force: in which ways do an op's results come from parts of its
// operands?
//
// What it does not see, so that a rule may lack it unnoticed:
//  * splits along several factors at once: every tensor has at most one dim
//    split, and all are split over the same parts;
//  * blocks other than those of ceil(size / count) elements, empty ones, and
//    dims whose blocks would all be single elements (they would broadcast);
//  * splits whose local op is another one than the op, with the attributes it
//    has, with one number of them divided, or as its own localize makes it;
//  * of more than five operands, ways with three kinds of placements: tried are
//    each subset of them alike, and each two of them.
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

/// Tries every placement of the operands over `count` parts, and finds every
/// placement of the results that is right for all of some random values.
SearchResult searchPlacements(mlir::MLIRContext &context,
                              const ShardingCase &shardingCase,
                              mlir::Operation *op, int64_t count);

/// Whether the search tries splits of a dim of this size.
bool isSearched(int64_t size, int64_t count);

/// What the rule says may be done over `count` parts.
std::set<Placements> declaredPlacements(const graph::ShardingRule &rule,
                                        int64_t count);

/// Why a way that works need not be in the rule: the closed list. Empty if it
/// should be there.
std::string excuseFor(const Placements &placements,
                      const graph::ShardingRule &rule, mlir::Operation *op,
                      int64_t count);

/// What the search has found, but the rule does not have and no excuse covers.
struct Undeclared {
  std::vector<Placements> placements;
  int64_t declared = 0;
  std::map<std::string, int64_t> excused;
};
Undeclared undeclared(const SearchResult &search,
                      const graph::ShardingRule &rule, mlir::Operation *op,
                      int64_t count);

} // namespace dl::test
