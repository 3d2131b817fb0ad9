// A device as far from the host as a test can put it.
#ifndef DLRT_TEST_LAZYDEVICE_H
#define DLRT_TEST_LAZYDEVICE_H

#include "runtime/exec/Executor.h"

#include <deque>
#include <memory>
#include <vector>

namespace dlrt::test {

/// Its memory faults when the host touches it, batches are copied from memory
/// of the host, and nothing runs before somebody waits for it. The kernels are
/// those of the CPU, so that all results must be the same bits.
class LazyDevice final : public Device {
public:
  static Expected<std::unique_ptr<Device>> create(const LoadedPlan &loaded,
                                                  const DeviceOptions &options);
  ~LazyDevice() override;

  uint32_t ranks() const override { return range.count; }
  size_t runsAhead() const override { return 3; }
  Ticket submit(const Launch &launch) override;
  Expected<Report> wait(Ticket ticket) override;
  Status read(const BufferPlace &from, std::span<uint8_t> into) const override;
  Status write(const BufferPlace &to, std::span<const uint8_t> from) override;
  void setSetting(size_t index, double value) override {
    settings[index] = value;
  }
  uint8_t *inputAddress(const InputPlace &place) const override;
  uint32_t inputSlots(uint32_t step) const override {
    return inner->inputSlots(step);
  }
  size_t image() const override { return inner->image(); }
  uint64_t memoryBytes() const override { return inner->memoryBytes(); }
  std::vector<uint64_t> tilesPerThread() const override {
    return inner->tilesPerThread();
  }
  const Trace *trace() const override { return inner->trace(); }

  /// Where a buffer lies, which the host must not touch.
  const uint8_t *deviceAddress(uint32_t buffer) const {
    return inner->arenaAddress(buffer);
  }

private:
  /// Lets this process touch the memory while it lives.
  class Access;

  LazyDevice(const LoadedPlan &loaded, const Ranks &ranks,
             std::unique_ptr<Executor> executor);
  void runOldest();
  void copyBatch(const Launch &launch, uint32_t rank);

  const PlanSet &set;
  const Ranks range;
  std::unique_ptr<Executor> inner;
  /// Batches in the host's memory, slot after slot.
  struct Staging {
    std::vector<uint64_t> offsets, bytes; ///< of the components
    uint64_t slotBytes = 0;
    mutable std::vector<uint8_t> memory;
  };
  std::vector<std::vector<Staging>> staging; ///< by step and rank
  std::vector<double> settings;              ///< by position in the plan
  /// A launch with the settings at its submission.
  struct Queued {
    Launch launch;
    std::vector<double> settings;
  };
  std::deque<Queued> queue;
  Ticket finished = 0;
};

} // namespace dlrt::test

#endif
