// What runs, on what, said before the first step.
#ifndef DLRUN_STARTTABLE_H
#define DLRUN_STARTTABLE_H

#include "runtime/train/Session.h"
#include "tools/dlrun/Options.h"

#include <string>

namespace dlrun {

/// The table on stderr, or the "start" event with --json. `length` is the row
/// that says how long it will run; empty for none. `stepsDone` were done by an
/// earlier process.
void reportStart(dlrt::Session &session, const Options &options,
                 const std::string &length, uint64_t stepsDone = 0);

} // namespace dlrun

#endif
