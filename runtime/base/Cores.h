// The cores that a thread may run on.
#ifndef DLRT_BASE_CORES_H
#define DLRT_BASE_CORES_H

#include <vector>

namespace dlrt {

/// Those of the process, as they were when it began.
const std::vector<int> &coresOfProcess();

/// The calling thread runs on these alone; no effect if the system refuses.
void runOn(const std::vector<int> &cores);

/// For a thread that another one started: it may be bound to a core, which the
/// new one would share with it for ever.
inline void runOnAnyCore() { runOn(coresOfProcess()); }

} // namespace dlrt

#endif
