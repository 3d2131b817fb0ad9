// Which targets and memories there are, who reaches them, and who has them.
#ifndef DLRT_PLAN_MEMORIES_H
#define DLRT_PLAN_MEMORIES_H

#include "runtime/base/Status.h"
#include "runtime/plan/PlanSet.h"

#include <initializer_list>

namespace dlrt {

/// "host", "device".
const char *nameOf(fb::Memory memory);

/// What the kernels of a (checked) plan run on; the CPU where it has none.
fb::Target targetOf(const fb::PlanT &plan);

/// Whether code for a target can be bound to bytes of a memory.
bool reaches(fb::Target target, fb::Memory memory);

/// Refuses plans with buffers in a memory that a device does not have: the
/// first thing that it asks of a plan.
Status checkMemories(const PlanSet &set, std::initializer_list<fb::Memory> has);

} // namespace dlrt

#endif
