// Plans of several ranks, made by hand.
#ifndef DLRT_TEST_PARALLELPLAN_H
#define DLRT_TEST_PARALLELPLAN_H

#include "test/runtime/TestPlan.h"

#include <array>

namespace dlrt::test {

/// Least squares like regressionPlan on a mesh of dp=2: each rank has half of a
/// batch and a part of w (two of its elements, one), gathers w, exchanges parts
/// of its gradient and updates its own.
class ParallelRegression {
public:
  explicit ParallelRegression(uint64_t items);

  Bytes file() const { return seal(mesh, {&ranks[0].plan, &ranks[1].plan}); }

  Mesh mesh = {{{"dp", 2}}};
  std::array<PlanBuilder, 2> ranks;
};

/// One program on any mesh: each rank writes `words` numbers of its own, which
/// tell its coordinates, gives them to all others along each axis in turn, and
/// adds up what it got.
struct AllSums {
  AllSums(Mesh mesh, uint64_t words);

  Bytes file() { return seal(builder); }
  /// What element i of the sum is, on every rank.
  int64_t expected(uint64_t i) const;

  PlanBuilder builder = singleProgramPlan();
  uint64_t words;
  uint32_t sum; ///< buffer
};

} // namespace dlrt::test

#endif
