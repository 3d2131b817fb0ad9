// Initial values of a plan's states.
#ifndef DLRT_STATE_STATEINIT_H
#define DLRT_STATE_STATEINIT_H

#include "runtime/plan/plan_generated.h"

#include <cstdint>

namespace dlrt {

/// Writes a state's initial value at `stored`, the address of its buffer of
/// `bytes` bytes. Element values depend on the seed and the row-major logical
/// index only; padding becomes zero.
void initialiseState(const fb::StateT &state, uint64_t seed, uint8_t *stored,
                     uint64_t bytes);

} // namespace dlrt

#endif
