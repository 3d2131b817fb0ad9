#pragma once
// "did you mean": the nearest of some names.
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace dl::frontend {

/// The candidate that is a plausible misspelling away from `name`, or "".
inline std::string nearest(llvm::StringRef name,
                           const std::vector<std::string> &candidates) {
  std::string best;
  unsigned least = static_cast<unsigned>(name.size()) / 3 + 2;
  for (const std::string &candidate : candidates) {
    unsigned distance =
        name.edit_distance(candidate, /*AllowReplacements=*/true, least);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

} // namespace dl::frontend
