// A copy of all states as their buffers are, to go back to.
#ifndef DLRT_STATE_STATECOPY_H
#define DLRT_STATE_STATECOPY_H

#include "runtime/base/Status.h"
#include "runtime/device/Buffers.h"
#include "runtime/plan/PlanSet.h"

#include <cstdint>
#include <vector>

namespace dlrt {

class StateCopy {
public:
  explicit StateCopy(const PlanSet &set);
  Status take(const BufferReader &states);
  Status restore(Buffers &states) const;

private:
  struct Copied {
    BufferPlace place;
    uint64_t bytes;
    size_t offset; ///< in the copy
  };
  std::vector<Copied> copied;
  std::vector<uint8_t> copy;
};

} // namespace dlrt

#endif
