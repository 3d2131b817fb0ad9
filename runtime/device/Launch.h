// One run of one program, and what it tells.
#ifndef DLRT_DEVICE_LAUNCH_H
#define DLRT_DEVICE_LAUNCH_H

#include "runtime/plan/plan_generated.h"

#include <array>
#include <cstdint>
#include <span>

namespace dlrt {

struct Launch {
  uint32_t step = 0;
  fb::ProgramKind kind = fb::ProgramKind::Full;
  uint32_t slot = 0; ///< of the step's input ring
  /// 0 seed, 1 updates done before, 2 micro-batch, 3 items of the group,
  /// 4 epoch, 5 of items that run one by one: how many went before, 6 of tokens
  /// that do: the place in the window.
  std::array<int64_t, 8> scalars = {};
};

/// Number of a launch: 1, 2, 3, … in the order of submission.
using Ticket = uint64_t;

/// What a launch has computed besides states: its scalar metrics in the
/// program's order, each with its own bytes at the start of a word.
struct Report {
  std::span<const uint64_t> scalars;
};

/// The program that a launch runs.
const fb::ProgramT &programOf(const fb::PlanT &plan, const Launch &launch);

} // namespace dlrt

#endif
