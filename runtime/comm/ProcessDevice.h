// The device of a run of several processes: one rank here, all to ask for.
#ifndef DLRT_COMM_PROCESSDEVICE_H
#define DLRT_COMM_PROCESSDEVICE_H

#include "runtime/comm/Transport.h"
#include "runtime/device/Device.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

namespace dlrt {

/// What a rank is at. Files: reading or writing them, which takes as long as
/// it takes.
enum class RankPhase : uint8_t { Start, Steps, Files, End };

/// Written by the thread that runs steps, read by whoever wants to know.
struct RankProgress {
  std::atomic<RankPhase> phase = RankPhase::Start;
  std::atomic<uint64_t> step = 0;     ///< being done, from 1
  std::atomic<uint64_t> launches = 0; ///< programs begun

  /// What the rank's device is at, in words.
  std::string doing(bool &waits) const;

  mutable std::mutex mutex; ///< of the device
  const Device *device = nullptr;
};

/// The process's own rank on a device that has it alone, the others by asking:
/// all processes read the same places in the same order, and each gets the
/// bytes of the one that has them. Of writes each takes what is its own.
class ProcessDevice final : public Device {
public:
  /// Both must outlive it.
  ProcessDevice(std::unique_ptr<Device> own, Transport &transport,
                RankProgress &progress)
      : own(std::move(own)), transport(transport), progress(progress) {
    std::lock_guard lock(progress.mutex);
    progress.device = this;
  }

  uint32_t ranks() const override { return transport.size(); }
  size_t runsAhead() const override { return own->runsAhead(); }
  Ticket submit(const Launch &launch) override;
  Expected<Report> wait(Ticket ticket) override;
  Status read(const BufferPlace &from, std::span<uint8_t> into) const override;
  Status write(const BufferPlace &to, std::span<const uint8_t> from) override;

  /// Null for ranks of other processes, which load their own batches.
  uint8_t *inputAddress(const InputPlace &place) const override;
  uint32_t inputSlots(uint32_t step) const override {
    return own->inputSlots(step);
  }

  void setSetting(size_t index, double value) override {
    own->setSetting(index, value);
  }

  size_t image() const override { return own->image(); }
  uint64_t memoryBytes() const override { return own->memoryBytes(); }
  bool beginsAtZero() const override { return own->beginsAtZero(); }
  std::vector<uint64_t> tilesPerThread() const override {
    return own->tilesPerThread();
  }
  const std::string &library() const override { return own->library(); }
  const std::string &network() const override { return own->network(); }
  const std::vector<std::string> &notes() const override {
    return own->notes();
  }
  const Trace *trace() const override { return own->trace(); }
  const char *doing(bool &waits) const override { return own->doing(waits); }
  ~ProcessDevice() override;

private:
  std::unique_ptr<Device> own;
  Transport &transport;
  RankProgress &progress;
};

} // namespace dlrt

#endif
