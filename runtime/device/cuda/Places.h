// Where everything lies: in the device's one allocation, and in the host's,
// which the device reads from and writes to on its own.
#ifndef DLRT_DEVICE_CUDA_PLACES_H
#define DLRT_DEVICE_CUDA_PLACES_H

#include "runtime/device/Device.h"
#include "runtime/device/ReportRing.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace dlrt::cuda {

/// Adds up the parts of an allocation; each begins where anything may, and is
/// followed by the slack that kernels may read into.
class Parts {
public:
  /// The offset of a new part.
  uint64_t add(uint64_t bytes);
  /// The sum, or no value if it overflowed.
  bool total(uint64_t &bytes) const {
    bytes = end;
    return !overflow;
  }

private:
  uint64_t end = 0;
  bool overflow = false;
};

/// Equal parts, one behind the other.
struct Row {
  uint64_t first = 0, stride = 0;
  uint64_t operator[](uint64_t index) const { return first + index * stride; }
};

/// Bytes of the device that come back after each run of a program: its scalar
/// metrics and error flags, and what lies between two that are near each other.
struct ReportRange {
  uint64_t deviceOffset, bytes;
  uint64_t at; ///< in the report
};

struct ProgramPlaces {
  /// On the device, by rank at hand and command.
  std::vector<std::vector<uint64_t>> scratch;
  std::vector<ReportRange> reported;
  struct Reported {
    uint32_t rank, buffer;
    uint64_t at; ///< in the report
  };
  std::vector<Reported> buffers;
  uint64_t reportBytes = 0;
  Row reports; ///< of the host, by slot

  /// Position in the report of a buffer that is in it.
  uint64_t positionOf(uint32_t rank, uint32_t buffer) const;
};

/// The ranks' parts of a batch stand behind the scalars and settings that go
/// with it: an area. The host has one for each input slot.
struct StepPlaces {
  uint32_t slots = 0;
  /// Areas of the device. With one, graphs copy to it; with several, a stream
  /// of its own fills the next one while a step runs.
  uint32_t areas = 1;
  /// In an area, by rank at hand; or `unused`.
  std::vector<std::vector<uint64_t>> components;
  static constexpr uint64_t unused = ~uint64_t(0);
  uint64_t areaBytes = 0;
  Row device, host;
  /// Of updates and initial values, which have no batch: their scalars and
  /// settings.
  uint64_t updateDevice = 0;
  Row updateHost;
  std::vector<ProgramPlaces> programs; ///< as in the plan
};

struct Places {
  /// Of (checked) ranks of a checked plan.
  Places(const PlanSet &set, const Ranks &ranks);

  std::vector<StepPlaces> steps; ///< as in the plan
  uint64_t deviceBytes = 0, hostBytes = 0;
  std::vector<uint64_t> arenas; ///< on the device, by rank at hand
  uint64_t valueBytes = 0;      ///< scalars and settings
  bool fits = false;            ///< there are addresses for all of it

  /// So many updates may be under way.
  static constexpr uint32_t updateSlots = 2;

private:
  void addStep(const PlanSet &set, const Ranks &ranks, size_t step,
               Parts &device, Parts &host);
  void addBatch(const PlanSet &set, const Ranks &ranks, size_t step,
                StepPlaces &out);
  void addProgram(const PlanSet &set, const Ranks &ranks, size_t step,
                  size_t program, Parts &device, ProgramPlaces &out) const;
  void layOutReport(const PlanSet &set, const Ranks &ranks,
                    const std::vector<ReportedValue> &values,
                    ProgramPlaces &out) const;
};

} // namespace dlrt::cuda

#endif
