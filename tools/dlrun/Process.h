// What this process knows about itself.
#ifndef DLRUN_PROCESS_H
#define DLRUN_PROCESS_H

#include <cstdint>

namespace dlrun {

/// Notes when the process began. To be called first in main.
void noteProcessStart();
/// Seconds since the process was started, exec included.
double secondsSinceStart();
/// The largest resident memory so far.
uint64_t peakResidentBytes();

} // namespace dlrun

#endif
