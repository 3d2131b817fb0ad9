// Initial values of a plan's states.
#ifndef DLRT_STATE_STATEINIT_H
#define DLRT_STATE_STATEINIT_H

#include "runtime/plan/Mesh.h"

#include <cstdint>

namespace dlrt {

/// Whether all elements begin as zeros.
bool beginsAsZeros(const fb::StateT &state);

/// Writes the initial value of a part of a state at `stored`, the address of
/// its buffer of `bytes` bytes. Element values depend on the seed and the
/// row-major index in the whole state only; padding becomes zero. At most
/// `threads` do it, the more the larger the part is.
void initialiseState(const fb::StateT &state, const Box &part, uint64_t seed,
                     uint8_t *stored, uint64_t bytes, unsigned threads = 1);

} // namespace dlrt

#endif
