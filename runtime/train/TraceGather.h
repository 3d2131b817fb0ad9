// What the processes of a run have traced, brought together on one clock.
#ifndef DLRT_TRAIN_TRACEGATHER_H
#define DLRT_TRAIN_TRACEGATHER_H

#include "runtime/base/Status.h"
#include "runtime/comm/Transport.h"
#include "runtime/device/Trace.h"

#include <cstdint>
#include <span>
#include <vector>

namespace dlrt {

/// The trace of one process.
struct ProcessTrace {
  uint32_t rank = 0; ///< of several processes, this one's
  std::vector<std::vector<TraceEvent>> threads;
  std::vector<TraceLaunch> runs;
  uint64_t dropped = 0; ///< events that gave way to later ones
};

ProcessTrace traceOf(const Trace &trace, uint32_t rank);

std::vector<uint8_t> packTrace(const ProcessTrace &trace);
/// Bytes that packTrace did not make are an error.
Expected<ProcessTrace> unpackTrace(std::span<const uint8_t> bytes);

/// All ranks call it; rank 0 gets the traces of all, by rank, the others none.
/// Times are those of rank 0's clock: exact on its host, and as exact as ranks
/// leave a barrier together on others.
Expected<std::vector<ProcessTrace>> gatherTraces(Transport &transport,
                                                 ProcessTrace own);

} // namespace dlrt

#endif
