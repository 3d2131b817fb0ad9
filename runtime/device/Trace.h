// What each thread did when: a ring of memory for each, taken once.
#ifndef DLRT_DEVICE_TRACE_H
#define DLRT_DEVICE_TRACE_H

#include "runtime/plan/plan_generated.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace dlrt {

/// Nanoseconds of a clock that never goes back.
inline uint64_t traceClock() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

/// A portion of a command's tiles that a thread ran.
struct TraceEvent {
  uint64_t begin, end; ///< traceClock()
  uint32_t launch;     ///< number of the program's run
  uint32_t rank;       ///< of the mesh; of a communication, one of its members
  uint32_t command;    ///< in that rank's program
  uint32_t firstTile, endTile;
};

/// The run of a program.
struct TraceLaunch {
  uint64_t begin, end;
  uint32_t number;
  uint32_t step; ///< of the plan, as in Launch
  fb::ProgramKind kind;
  uint64_t update; ///< updates done before
};

/// Holds the latest entries; older ones give way.
template <typename Entry> class TraceRing {
public:
  explicit TraceRing(size_t capacity)
      : capacity(capacity),
        entries(std::make_unique_for_overwrite<Entry[]>(capacity)) {}

  void add(const Entry &entry) { entries[count++ % capacity] = entry; }
  uint64_t dropped() const { return count > capacity ? count - capacity : 0; }
  /// Calls `take` with what is left, oldest first.
  template <typename Take> void forEach(Take &&take) const {
    for (uint64_t i = dropped(); i < count; ++i)
      take(entries[i % capacity]);
  }

private:
  size_t capacity;
  /// Not written to before there is something to note, so that the system
  /// gives it memory piece by piece.
  std::unique_ptr<Entry[]> entries;
  uint64_t count = 0;
};

/// Each thread adds to its own ring. They are read between launches, when
/// nobody adds.
class Trace {
public:
  static constexpr size_t eventsPerThread = 1 << 16, launches = eventsPerThread;

  explicit Trace(unsigned threadCount) : runs(launches) {
    threads.reserve(threadCount);
    for (unsigned t = 0; t < threadCount; ++t)
      threads.emplace_back(eventsPerThread);
  }

  std::vector<TraceRing<TraceEvent>> threads;
  TraceRing<TraceLaunch> runs;
  uint32_t launch = 0; ///< number of the current one
};

} // namespace dlrt

#endif
