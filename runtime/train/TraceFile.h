// What each thread did, as a file for ui.perfetto.dev.
#ifndef DLRT_TRAIN_TRACEFILE_H
#define DLRT_TRAIN_TRACEFILE_H

#include "runtime/base/Status.h"
#include "runtime/train/Session.h"

#include <string>

namespace dlrt {

/// Of a session that traces. To be called while nothing runs.
Status writeTrace(Session &session, const std::string &path);

} // namespace dlrt

#endif
