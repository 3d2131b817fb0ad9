// Writes plan files. The compiler uses this header; it needs std and the
// generated schema only.
#ifndef DLRT_PLAN_PLANWRITER_H
#define DLRT_PLAN_PLANWRITER_H

#include "runtime/base/Status.h"
#include "runtime/plan/Container.h"
#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt {

/// The metadata section's bytes for a plan built with the object API. Equal
/// plans give equal bytes.
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
