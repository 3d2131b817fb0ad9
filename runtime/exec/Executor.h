// Runs the programs of a plan on the processor's cores.
#ifndef DLRT_EXEC_EXECUTOR_H
#define DLRT_EXEC_EXECUTOR_H

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/device/ReportRing.h"
#include "runtime/exec/Arena.h"
#include "runtime/exec/CheckedWorkers.h"
#include "runtime/exec/ElfImage.h"
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
/// queue, so that a step costs no switch of threads.
class Executor final : public Device {
public:
  /// `loaded` must outlive the executor.
  static Expected<std::unique_ptr<Executor>>
  create(const LoadedPlan &loaded, const DeviceOptions &options);

  Ticket submit(const Launch &launch) override;
  Expected<Report> wait(Ticket ticket) override;
  Status read(const BufferPlace &from, std::span<uint8_t> into) const override;
  Status write(const BufferPlace &to, std::span<const uint8_t> from) override;

  /// In the arena: batches are gathered where kernels read them.
  uint8_t *inputAddress(const InputPlace &place) const override;
  uint32_t inputSlots(uint32_t step) const override {
    return steps[step].input.slots;
  }

  size_t image() const override { return imageIndex; }
  uint64_t memoryBytes() const override { return allocated; }
  std::vector<uint64_t> tilesPerThread() const override {
    return checked ? checked->tilesRun() : workers.tilesRun();
  }
  const Trace *trace() const override { return record.get(); }

  void setSetting(size_t index, double value) override {
    settings[index] = value;
  }

  /// Bytes of a buffer in the arena.
  uint8_t *arenaAddress(uint32_t buffer) const;
  /// All of its memory, in whole pages.
  MemoryRange memory() const { return arena.range(); }

private:
  struct Input {
    std::vector<uint64_t> offsets; ///< per component, within slot 0
    uint64_t slotBytes = 0;
    uint32_t slots = 0;
  };
  struct Step {
    std::vector<PreparedProgram> programs; ///< as in the plan
    Input input;
  };

  Executor(const LoadedPlan &loaded)
      : plan(loaded.first()), reports(loaded.first()) {
    for (const auto &setting : plan.settings)
      settings.push_back(setting->value);
    queuedSettings.fill(settings); // room for all launches
  }
  Status loadKernels(const LoadedPlan &loaded, const std::string &isa);
  Status layOut(unsigned threads, bool guarded);
  Input layOutInput(const fb::StepT &step, ArenaLayout &layout) const;
  Status startWorkers(const DeviceOptions &options);
  Status prepareSteps(unsigned threads);
  void prepareChecks();
  void describeForChecks(const PreparedProgram &prepared,
                         const fb::ProgramT &program,
                         const std::vector<bool> &isPinned,
                         const std::vector<MemoryRange> &dead);
  void runProgram(const Launch &launch, PreparedProgram &program,
                  uint32_t slot);
  void describeKernels();
  void runOldest();

  const fb::PlanT &plan;
  ElfImage kernels;
  size_t imageIndex = 0;
  std::vector<KernelEntry> entries;
  std::vector<std::string> descriptions;

  Arena arena;
  uint64_t allocated = 0;
  uint64_t scalarsOffset = 0;
  std::vector<double> settings; ///< by position in the plan
  std::vector<uint64_t> scratchOffsets;
  uint64_t scratchBytes = 0; ///< of each thread
  std::vector<Step> steps;
  std::unique_ptr<Trace> record;
  Workers workers;
  std::unique_ptr<CheckedWorkers> checked; ///< in place of `workers`

  std::array<Launch, launchesAhead> queue;
  std::array<std::vector<double>, launchesAhead> queuedSettings;
  Ticket submitted = 0, finished = 0;
  ReportRing reports;
};

} // namespace dlrt

#endif
