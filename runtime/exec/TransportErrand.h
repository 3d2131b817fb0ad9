// A communication with ranks of other processes.
#ifndef DLRT_EXEC_TRANSPORTERRAND_H
#define DLRT_EXEC_TRANSPORTERRAND_H

#include "runtime/comm/Transport.h"
#include "runtime/exec/Errand.h"

#include <memory>

namespace dlrt {

/// Ends when the meeting's messages have arrived and gone; null if it has none.
/// The process must have one rank.
Expected<std::unique_ptr<Errand>> transportErrand(Transport &transport,
                                                  const Meeting &meeting,
                                                  const MeetingPlaces &places);

} // namespace dlrt

#endif
