// The one allocation that holds everything a run touches.
#ifndef DLRT_EXEC_ARENA_H
#define DLRT_EXEC_ARENA_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlrt {

/// Adds up parts, each aligned and followed by the slack that kernels may
/// read into. If guarded, each part's slack ends where a page begins that
/// faults (for tests: it takes much more memory).
class ArenaLayout {
public:
  explicit ArenaLayout(bool guarded = false) : guarded(guarded) {}

  /// The offset of a new part.
  uint64_t add(uint64_t bytes);
  /// The sum, or no value if it overflowed.
  bool total(uint64_t &bytes) const {
    bytes = end;
    return !overflow;
  }

  /// Bytes to leave in front of offset 0, for the first part's sake.
  uint64_t front() const { return shift; }
  /// Offsets of pages to make inaccessible.
  const std::vector<uint64_t> &guards() const { return guardPages; }

private:
  uint64_t addGuarded(uint64_t bytes);

  bool guarded;
  uint64_t end = 0, shift = 0;
  std::vector<uint64_t> guardPages;
  bool overflow = false;
};

/// A piece of memory.
struct MemoryRange {
  uint8_t *begin;
  uint64_t bytes;
};

/// Zero-filled memory between two inaccessible pages.
class Arena {
public:
  static Expected<Arena> allocate(uint64_t bytes);
  /// Refuses more than the machine has, for one arena or several.
  static Status checkFits(uint64_t bytes);
  /// With the front and the guards of the layout.
  static Expected<Arena> allocate(const ArenaLayout &layout);

  Arena() = default;
  Arena(Arena &&other) noexcept { swap(other); }
  Arena &operator=(Arena &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Arena();

  uint8_t *at(uint64_t offset) const { return base + offset; }
  /// What lies between the two.
  MemoryRange range() const { return inner; }

private:
  void swap(Arena &other) {
    std::swap(mapping, other.mapping);
    std::swap(mapped, other.mapped);
    std::swap(base, other.base);
    std::swap(inner, other.inner);
  }

  void *mapping = nullptr;
  size_t mapped = 0;
  uint8_t *base = nullptr;
  MemoryRange inner = {};
};

} // namespace dlrt

#endif
