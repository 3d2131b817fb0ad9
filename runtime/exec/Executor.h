// Runs the programs of a plan on the processor's cores.
#ifndef DLRT_EXEC_EXECUTOR_H
#define DLRT_EXEC_EXECUTOR_H

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/device/ReportRing.h"
#include "runtime/exec/Arena.h"
#include "runtime/exec/CheckedWorkers.h"
#include "runtime/exec/ElfImage.h"
#include "runtime/exec/Link.h"
#include "runtime/exec/PreparedProgram.h"
#include "runtime/exec/Workers.h"
#include "runtime/plan/PlanReader.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dlrt {

/// The CPU's device. The thread that waits is worker 0 and lends itself to the
/// queue, so that a step costs no switch of threads. The programs of all ranks
/// at hand are one, over one pool of threads; each rank has an arena.
class Executor final : public Device {
public:
  /// `loaded` must outlive the executor.
  static Expected<std::unique_ptr<Executor>>
  create(const LoadedPlan &loaded, const DeviceOptions &options);

  uint32_t ranks() const override { return range.count; }
  Ticket submit(const Launch &launch) override;
  Expected<Report> wait(Ticket ticket) override;
  Status read(const BufferPlace &from, std::span<uint8_t> into) const override;
  Status write(const BufferPlace &to, std::span<const uint8_t> from) override;

  /// In the arena: batches are gathered where kernels read them.
  uint8_t *inputAddress(const InputPlace &place) const override;
  uint32_t inputSlots(uint32_t step) const override {
    return steps[step].slots;
  }

  size_t image() const override { return imageIndex; }
  uint64_t memoryBytes() const override { return allocated; }
  bool beginsAtZero() const override { return true; } // pages of the system's
  std::vector<uint64_t> tilesPerThread() const override {
    return checked ? checked->tilesRun() : workers.tilesRun();
  }
  const Trace *trace() const override { return record.get(); }
  const char *doing(bool &waits) const override { return workers.doing(waits); }

  void setSetting(size_t index, double value) override {
    settings[index] = value;
  }

  /// Bytes of a buffer in the arena of a rank at hand.
  uint8_t *arenaAddress(uint32_t buffer, uint32_t rank = 0) const;
  /// All of a rank's memory, in whole pages; threads' scratch is with the
  /// first's.
  MemoryRange memory(uint32_t rank = 0) const {
    return memories[rank].arena.range();
  }

private:
  struct Input {
    /// Per component, within slot 0; or `unused`.
    std::vector<uint64_t> offsets;
    static constexpr uint64_t unused = ~uint64_t(0);
    uint64_t slotBytes = 0;
  };
  /// What one rank has.
  struct Memory {
    Arena arena;
    uint64_t scalarsOffset = 0;
    std::vector<Input> inputs; ///< by step
  };
  struct Step {
    std::vector<PreparedProgram> programs;             ///< as in the plan
    std::vector<std::vector<PreparedAccess>> accesses; ///< for checks
    uint32_t slots = 0;                                ///< of the input ring
  };

  Executor(const LoadedPlan &loaded, const Ranks &ranks)
      : set(loaded), range(ranks), plan(loaded.first()),
        reports(loaded, ranks) {
    for (const auto &setting : plan.settings)
      settings.push_back(setting->value);
    queuedSettings.fill(settings); // room for all launches
  }
  Status loadKernels(const LoadedPlan &loaded, const std::string &isa);
  Status layOut(unsigned threads, bool guarded);
  ArenaLayout layOutRank(uint32_t rank, unsigned threads, bool guarded);
  Input layOutInput(uint32_t rank, uint32_t step, ArenaLayout &layout) const;
  Status startWorkers(const DeviceOptions &options);
  Status prepareSteps(const DeviceOptions &options);
  uint8_t *addressOf(uint32_t rank, uint32_t step, uint32_t buffer,
                     uint32_t slot) const;
  void prepareChecks();
  void describeForChecks(PreparedProgram &prepared,
                         const std::vector<PreparedAccess> &accesses,
                         const std::vector<std::vector<bool>> &isPinned,
                         const std::vector<MemoryRange> &dead);
  void describeFloats(uint32_t step, const PreparedProgram &prepared,
                      const std::vector<PreparedAccess> &accesses,
                      const std::vector<std::vector<bool>> &isPinned);
  void runProgram(const Launch &launch, PreparedProgram &program,
                  uint32_t slot);
  void describeKernels();
  void runOldest();

  const fb::PlanT &planOf(uint32_t rank) const {
    return set.of(range.first + rank);
  }

  const PlanSet &set;
  const Ranks range;
  const fb::PlanT &plan; ///< for what all say alike
  ElfImage kernels;
  size_t imageIndex = 0;
  std::vector<KernelEntry> entries;
  std::vector<std::string> descriptions;

  std::vector<Memory> memories; ///< by rank at hand
  uint64_t allocated = 0;
  std::vector<double> settings; ///< by position in the plan
  std::vector<uint64_t> scratchOffsets;
  uint64_t scratchBytes = 0;  ///< of each thread
  std::unique_ptr<Link> link; ///< has errands of the steps under way
  std::vector<Step> steps;
  std::unique_ptr<Trace> record;
  Workers workers;
  std::unique_ptr<CheckedWorkers> checked; ///< in place of `workers`
  std::unique_ptr<AnomalyFinder> anomalies;

  std::array<Launch, launchesAhead> queue;
  std::array<std::vector<double>, launchesAhead> queuedSettings;
  Ticket submitted = 0, finished = 0;
  ReportRing reports;
};

} // namespace dlrt

#endif
