// What a run remembers of the data that it trains on.
#ifndef DLRT_TRAIN_SEENDATA_H
#define DLRT_TRAIN_SEENDATA_H

#include "runtime/train/Session.h"

#include <optional>
#include <string>

namespace dlrt {

/// "9c1185a5c5e9fc54 - items:in_order": a word for each component, where a dash
/// is one that this process does not read, then one for each training step.
std::string seenData(const Session &session);

/// What is to be said, besides that they are others: ": ..." or nothing. No
/// value if they may be those that the run has seen.
std::optional<std::string> otherData(const std::string &before,
                                     const std::string &now);

} // namespace dlrt

#endif
