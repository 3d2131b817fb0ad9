// Reads plan files. Whatever the bytes are, the answer is a plan that was
// checked whole or a message, never a crash.
#ifndef DLRT_PLAN_PLANREADER_H
#define DLRT_PLAN_PLANREADER_H

#include "runtime/base/MappedFile.h"
#include "runtime/base/Status.h"
#include "runtime/plan/Container.h"
#include "runtime/plan/PlanSet.h"

#include <span>
#include <string>
#include <vector>

namespace dlrt {

/// Plans that passed the verifier, the validator, the comparison with their
/// code, the race verifier and the proof of their communication.
struct LoadedPlan : PlanSet {
  std::vector<SectionView> sections; ///< of `file`, or of the caller's bytes
  MappedFile file;
  uint64_t checksum = 0; ///< of the file, as its header has it
};

Expected<LoadedPlan> readPlan(const std::string &path);

/// The same for bytes in memory, which must outlive the result and be aligned
/// to 8 bytes.
Expected<LoadedPlan> readPlan(std::span<const uint8_t> bytes);

} // namespace dlrt

#endif
