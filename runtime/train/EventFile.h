// TensorBoard's event files: TFRecords of two small protobuf messages.
#ifndef DLRT_TRAIN_EVENTFILE_H
#define DLRT_TRAIN_EVENTFILE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlrt {

/// One record around `data`: its length, the length's checksum, the data and
/// their checksum.
std::string tfRecord(std::string_view data);

/// The record every event file begins with.
std::string eventFileVersion(double wallTime);

/// A record with scalars of one step, by their tags: "train/loss".
std::string
eventOfScalars(double wallTime, int64_t step,
               const std::vector<std::pair<std::string, double>> &scalars);

} // namespace dlrt

#endif
