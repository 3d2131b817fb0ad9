// --trace: what each thread did, as a file for ui.perfetto.dev.
#ifndef DLRUN_TRACEFILE_H
#define DLRUN_TRACEFILE_H

#include "runtime/base/Status.h"
#include "runtime/train/Session.h"
#include "tools/dlrun/Options.h"

namespace dlrun {

/// Writes the trace if the options name a file for it. To be called while
/// nothing runs.
dlrt::Status saveTrace(const Options &options, dlrt::Session &session);

} // namespace dlrun

#endif
