#include "runtime/state/StateCopy.h"

#include "runtime/state/Parts.h"

#include <span>

using namespace dlrt;

StateCopy::StateCopy(const PlanSet &set) {
  size_t size = 0;
  for (const fb::StateT *state : statesOf(set))
    for (const PartedTensor::Part &part : partsOf(set, *state).parts) {
      copied.push_back({part.place, part.bytes, size});
      size += part.bytes;
    }
  copy.resize(size);
}

Status StateCopy::take(const BufferReader &states) {
  for (const Copied &each : copied)
    DLRT_TRY(states.read(each.place,
                         std::span(copy).subspan(each.offset, each.bytes)));
  return {};
}

Status StateCopy::restore(Buffers &states) const {
  for (const Copied &each : copied)
    DLRT_TRY(states.write(each.place,
                          std::span(copy).subspan(each.offset, each.bytes)));
  return {};
}
