// Launches that have been submitted and are yet to be waited for.
#ifndef DLRT_TRAIN_UNDERWAY_H
#define DLRT_TRAIN_UNDERWAY_H

#include "runtime/device/Device.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace dlrt {

/// First in, first out, with what `Note` says of each.
template <typename Note> class UnderWay {
public:
  struct Entry {
    Ticket ticket = 0;
    Note note = {};
  };

  /// As many as it pays to have for a step; half of its input slots are left to
  /// the loader.
  UnderWay(const Device &device, uint32_t step)
      : most(std::clamp<size_t>(std::min<size_t>(device.runsAhead() + 1,
                                                 device.inputSlots(step) / 2),
                                1, Device::launchesAhead)) {}

  bool isFull() const { return count == most; }
  bool isEmpty() const { return count == 0; }
  void add(Ticket ticket, const Note &note) {
    entries[(first + count++) % entries.size()] = {ticket, note};
  }
  Entry takeOldest() {
    Entry oldest = entries[first];
    first = (first + 1) % entries.size();
    --count;
    return oldest;
  }

private:
  std::array<Entry, Device::launchesAhead> entries;
  size_t first = 0, count = 0;
  const size_t most;
};

} // namespace dlrt

#endif
