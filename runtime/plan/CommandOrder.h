// Which commands of a program happen before which others.
#ifndef DLRT_PLAN_COMMANDORDER_H
#define DLRT_PLAN_COMMANDORDER_H

#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <vector>

namespace dlrt {

/// `before` must come before `after` in the program.
struct OrderedPair {
  uint32_t before, after;
};

/// Answers for all pairs at once whether the first happens before the second;
/// a byte each, 1 if so. The deps of each command must point back.
std::vector<uint8_t> happensBefore(const fb::ProgramT &program,
                                   const std::vector<OrderedPair> &pairs);

} // namespace dlrt

#endif
