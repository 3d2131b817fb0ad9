// The programs of a step, by their kind.
#ifndef DLRT_PLAN_STEPPROGRAMS_H
#define DLRT_PLAN_STEPPROGRAMS_H

#include "runtime/plan/plan_generated.h"

#include <iterator>
#include <string>

namespace dlrt {

constexpr size_t programKinds = static_cast<size_t>(fb::ProgramKind::MAX) + 1;

/// Index among the step's programs; their number if it has none of the kind.
inline size_t programIndex(const fb::StepT &step, fb::ProgramKind kind) {
  size_t index = 0;
  while (index < step.programs.size() && step.programs[index]->kind != kind)
    ++index;
  return index;
}

/// Null if the step has none of the kind.
inline const fb::ProgramT *programOf(const fb::StepT &step,
                                     fb::ProgramKind kind) {
  size_t index = programIndex(step, kind);
  return index < step.programs.size() ? step.programs[index].get() : nullptr;
}

/// Every step has one.
inline const fb::ProgramT &fullProgram(const fb::StepT &step) {
  return *step.programs.front();
}

/// The kind that runs a batch of so many items.
inline fb::ProgramKind kindOfBatch(const fb::StepT &step, uint64_t items) {
  return items == fullProgram(step).batch_items ? fb::ProgramKind::Full
                                                : fb::ProgramKind::Short;
}

/// An update has none, nor what states begin with.
inline bool hasBatch(fb::ProgramKind kind) {
  return kind != fb::ProgramKind::Update && kind != fb::ProgramKind::Initial;
}

/// "batch", "short batch", "update", "item", "initial values".
inline const char *nameOf(fb::ProgramKind kind) {
  const char *const names[] = {"batch", "short batch", "update", "item",
                               "initial values"};
  static_assert(std::size(names) == programKinds);
  return names[static_cast<size_t>(kind)];
}

} // namespace dlrt

#endif
