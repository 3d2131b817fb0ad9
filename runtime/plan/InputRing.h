// Batches that wait for a step: how many, and how large.
#ifndef DLRT_PLAN_INPUTRING_H
#define DLRT_PLAN_INPUTRING_H

#include "runtime/plan/Mesh.h"

#include <cstdint>
#include <vector>

namespace dlrt {

struct InputRing {
  std::vector<uint64_t>
      componentBytes; ///< of a rank's part of a batch; 0: not used
  uint32_t slots = 0; ///< batches that may wait at once

  uint64_t bytes() const;
};

/// Many small batches, so that the loader's thread need not be woken for each,
/// or a few large ones. The plan must have been validated.
InputRing inputRing(const Mesh &mesh, const fb::PlanT &plan,
                    const fb::StepT &step);

} // namespace dlrt

#endif
