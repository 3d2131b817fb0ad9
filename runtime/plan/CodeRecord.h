// What the kernels' machine code relies on.
//
// Metadata are data: whatever they say, dlrun must not crash. Machine code is
// trusted, and it was made for certain extents: so these have the code's trust
// and stand beside it, in a section of their own, and metadata that disagree
// with it are refused.
#ifndef DLRT_PLAN_CODERECORD_H
#define DLRT_PLAN_CODERECORD_H

#include "runtime/base/Status.h"
#include "runtime/plan/Container.h"
#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <vector>

namespace dlrt {

/// The section's bytes: each kernel's name, variants (target, entry, tiles,
/// scratch, threads, shared memory), bindings (bytes, alignment, whether it
/// writes) and ranges of constants, each image's target, instruction set and
/// section. FORMAT.md has the details.
std::vector<uint8_t> codeRecord(const fb::PlanT &plan);

/// Exactly one section must be the record of this plan.
Status checkCodeRecord(const fb::PlanT &plan,
                       const std::vector<SectionView> &sections);

} // namespace dlrt

#endif
