// What the latest launches have reported.
#ifndef DLRT_DEVICE_REPORTRING_H
#define DLRT_DEVICE_REPORTRING_H

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/plan/StepPrograms.h"

#include <array>
#include <cstdint>
#include <vector>

namespace dlrt {

/// A value that a launch reports, at the start of a buffer.
struct ReportedValue {
  uint32_t rank; ///< of those at hand
  uint32_t buffer;
  uint32_t bytes;
  const fb::ErrorFlagT *flag; ///< null: a metric
};

/// What a program of a step, given by its index, reports: error flags of each
/// plan at hand first, then scalar metrics, which are the same on all ranks:
/// those of the first one at hand.
std::vector<ReportedValue> reportedValues(const PlanSet &set,
                                          const Ranks &ranks, size_t step,
                                          size_t program);

/// Copies of scalar metrics and error flags, so that later launches may write
/// theirs. Taken once; noting a launch allocates nothing unless it failed.
class ReportRing {
public:
  ReportRing(const PlanSet &set, const Ranks &ranks);

  /// Notes a launch that has run. `fetch(rank, buffer, bytes, into)` copies
  /// from the start of a buffer of a rank at hand.
  template <typename Fetch>
  void note(Ticket ticket, const Launch &launch, Fetch &&fetch) {
    Entry &entry = entries[ticket % entries.size()];
    entry.ticket = ticket;
    entry.places = &placesOf(launch);
    if (!entry.failure.ok())
      entry.failure = Status();
    size_t word = 0;
    for (const ReportedValue &value : entry.places->values) {
      entry.words[word] = 0;
      fetch(value.rank, value.buffer, value.bytes,
            reinterpret_cast<uint8_t *>(&entry.words[word++]));
    }
    judge(entry);
  }

  /// A launch that has been noted has failed, if it had not before.
  void refuse(Ticket ticket, Status why) {
    Status &failure = entries[ticket % entries.size()].failure;
    if (failure.ok())
      failure = std::move(why);
  }

  /// Of a launch that has been noted.
  Expected<Report> of(Ticket ticket) const;

private:
  struct Places {
    std::vector<ReportedValue> values;
    size_t flags = 0; ///< how many of them, at the front
    bool ofBatch = true;
  };
  struct Entry {
    Ticket ticket = 0;
    Status failure;
    const Places *places = nullptr;
    std::vector<uint64_t> words;
  };

  const Places &placesOf(const Launch &launch) const {
    return places[launch.step][static_cast<size_t>(launch.kind)];
  }
  void judge(Entry &entry) const;

  const PlanSet &set;
  std::vector<std::array<Places, programKinds>> places; ///< by step and kind
  std::array<Entry, Device::launchesAhead> entries;
};

} // namespace dlrt

#endif
