// Counts the heap allocations of this process.
#ifndef DLRUN_ALLOCATIONS_H
#define DLRUN_ALLOCATIONS_H

#include <cstdint>

namespace dlrun {

/// Calls of the malloc family so far, all threads, C++'s new included. The
/// linker sends them through counters (--wrap).
uint64_t allocationCount();

} // namespace dlrun

#endif
