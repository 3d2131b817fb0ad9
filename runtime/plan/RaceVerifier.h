// Proves that a plan's programs have no data races.
#ifndef DLRT_PLAN_RACEVERIFIER_H
#define DLRT_PLAN_RACEVERIFIER_H

#include "runtime/base/Status.h"
#include "runtime/plan/plan_generated.h"

namespace dlrt {

/// Any two commands of a program that touch a common byte of the arena, one of
/// them writing, must be ordered by `deps`, directly or through others. Within
/// a command, tiles run at once: what it writes may meet another binding only
/// in place (same offset, read by one and written by one).
/// The indices and ranges of the plan must be valid. The compiler calls this
/// before it writes a plan, the reader when it loads one.
Status verifyNoRaces(const fb::PlanT &plan);

} // namespace dlrt

#endif
