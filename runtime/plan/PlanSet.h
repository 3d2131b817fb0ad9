// What all ranks of a mesh run.
#ifndef DLRT_PLAN_PLANSET_H
#define DLRT_PLAN_PLANSET_H

#include "runtime/base/Status.h"
#include "runtime/plan/Container.h"
#include "runtime/plan/Mesh.h"
#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace dlrt {

/// The plans of a file, one for each class of ranks. Each has a copy of what
/// they share.
struct PlanSet {
  Mesh mesh;
  std::vector<std::unique_ptr<fb::PlanT>> plans;
  std::vector<uint32_t> planOfRank; ///< an index into `plans`

  /// For what all plans say alike: kernels, data sets, settings, the names of
  /// steps.
  const fb::PlanT &first() const { return *plans.front(); }
  const fb::PlanT &of(uint32_t rank) const { return *plans[planOfRank[rank]]; }
};

/// Tensors of a rank: of the one that has most.
uint64_t arenaBytes(const PlanSet &set);

/// Bytes that a rank gives to others in a step of full batches: the one that
/// gives most.
uint64_t communicatedBytes(const PlanSet &set, uint32_t step);

/// Takes the plans of a file, whose first one alone has what they share.
/// Refuses a mesh that is none, and ranks that run no plan or two.
Expected<PlanSet> gatherPlans(fb::PlanFileT file);

/// What the other way of gatherPlans needs: nothing in a plan behind the first
/// that stands in that one.
void dropShared(fb::PlanT &plan);

/// Validates each plan, then all together: equal steps, whole states, equal
/// code.
Status validatePlans(const PlanSet &set,
                     const std::vector<SectionView> &sections);

} // namespace dlrt

#endif
