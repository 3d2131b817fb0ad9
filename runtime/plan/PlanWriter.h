// Writes plan files. The compiler uses this header; it needs std and the
// generated schema only.
#ifndef DLRT_PLAN_PLANWRITER_H
#define DLRT_PLAN_PLANWRITER_H

#include "runtime/base/Status.h"
#include "runtime/plan/Container.h"
#include "runtime/plan/Mesh.h"
#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt {

/// The metadata section's bytes for plans built with the object API. Equal
/// plans give equal bytes. What plans share may stand in each of them; it is
/// taken from the first.
std::vector<uint8_t> packPlans(const Mesh &mesh,
                               const std::vector<const fb::PlanT *> &plans);
/// The same for one rank.
std::vector<uint8_t> packPlan(const fb::PlanT &plan);

/// The whole container in memory: section 0 is the metadata, then `sections`
/// in order, so `Image.section` is an index into `sections` plus one. One of
/// them must be the code record (CodeRecord.h).
std::vector<uint8_t> sealPlan(std::span<const uint8_t> metadata,
                              const std::vector<SectionView> &sections);

/// Seals and writes a plan; an older file at `path` is replaced at once or
/// stays as it was.
Status writePlan(const std::string &path, std::span<const uint8_t> metadata,
                 const std::vector<SectionView> &sections);

} // namespace dlrt

#endif
