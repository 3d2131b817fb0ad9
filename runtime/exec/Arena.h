// The one allocation that holds everything a run touches.
#ifndef DLRT_EXEC_ARENA_H
#define DLRT_EXEC_ARENA_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>

namespace dlrt {

/// Adds up parts, each aligned and followed by the slack that kernels may
/// read into.
class ArenaLayout {
public:
  /// The offset of a new part.
  uint64_t add(uint64_t bytes);
  /// The sum, or no value if it overflowed.
  bool total(uint64_t &bytes) const {
    bytes = end;
    return !overflow;
  }

private:
  uint64_t end = 0;
  bool overflow = false;
};

/// Zero-filled memory between two inaccessible pages.
class Arena {
public:
  static Expected<Arena> allocate(uint64_t bytes);

  Arena() = default;
  Arena(Arena &&other) noexcept { swap(other); }
  Arena &operator=(Arena &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Arena();

  uint8_t *at(uint64_t offset) const { return base + offset; }

private:
  void swap(Arena &other) {
    std::swap(mapping, other.mapping);
    std::swap(mapped, other.mapped);
    std::swap(base, other.base);
  }

  void *mapping = nullptr;
  size_t mapped = 0;
  uint8_t *base = nullptr;
};

} // namespace dlrt

#endif
