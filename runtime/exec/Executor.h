// Runs the programs of a plan on the processor's cores.
#ifndef DLRT_EXEC_EXECUTOR_H
#define DLRT_EXEC_EXECUTOR_H

#include "runtime/base/Status.h"
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

struct ExecutorOptions {
  unsigned threads = 1;
  std::string isa; ///< "v3", "v4"; empty: the best that runs here
  bool trace = false;
  CheckOptions checks;
};

/// One run of one program.
struct Launch {
  enum class Phase : uint32_t { Batch, ShortBatch, Update };

  uint32_t step = 0;
  Phase phase = Phase::Batch;
  uint32_t slot = 0; ///< of the step's input ring
  /// 0 seed, 1 updates done before, 2 micro-batch, 3 items of the group,
  /// 4 epoch.
  std::array<int64_t, 8> scalars = {};
};

using Ticket = uint64_t;

class Executor {
public:
  /// `loaded` must outlive the executor.
  static Expected<std::unique_ptr<Executor>>
  create(const LoadedPlan &loaded, const ExecutorOptions &options);

  /// Queues a launch. Launches run in the order of their submission. On the
  /// CPU the thread that waits is worker 0 and lends itself to the queue, so
  /// a step costs no switch of threads; a full queue runs its oldest launch.
  Ticket submit(const Launch &launch);

  /// Returns when the launch has finished: its outputs can be read until the
  /// next one runs. An error flag raised by the data gives an error, once.
  Status wait(Ticket ticket);

  /// Where the loader puts a component of a batch. Valid for a ring slot below
  /// `inputSlots` of the step.
  uint8_t *inputAddress(uint32_t step, uint32_t slot, size_t component) const;
  uint32_t inputSlots(uint32_t step) const { return steps[step].input.slots; }

  /// Bytes of a buffer in the arena.
  uint8_t *arenaAddress(uint32_t buffer) const;

  /// Index of the kernel image in use.
  size_t image() const { return imageIndex; }
  /// Everything allocated: arena, rings, scratch.
  uint64_t memoryBytes() const { return allocated; }
  std::vector<uint64_t> tilesPerThread() const {
    return checked ? checked->tilesRun() : workers.tilesRun();
  }
  /// What the threads did, if that was asked for; null otherwise. To be read
  /// while nothing runs.
  const Trace *trace() const { return record.get(); }

private:
  struct Input {
    std::vector<uint64_t> offsets; ///< per component, within slot 0
    uint64_t slotBytes = 0;
    uint32_t slots = 0;
  };
  struct Step {
    std::vector<PreparedProgram> micro;
    PreparedProgram update;
    Input input;
  };
  static constexpr size_t queueLength = 2;

  Executor(const LoadedPlan &loaded) : plan(*loaded.plan) {}
  Status loadKernels(const LoadedPlan &loaded, const std::string &isa);
  Status layOut(unsigned threads, bool guarded);
  Input layOutInput(const fb::StepT &step, ArenaLayout &layout) const;
  Status startWorkers(const ExecutorOptions &options);
  void prepareSteps(unsigned threads);
  void prepareChecks();
  void describeForChecks(const PreparedProgram &prepared,
                         const fb::ProgramT &program,
                         const std::vector<bool> &isPinned,
                         const std::vector<MemoryRange> &dead);
  void runProgram(const Launch &launch, PreparedProgram &program,
                  uint32_t slot);
  void describeKernels();
  void runOldest();
  Status checkErrorFlags(const Launch &launch) const;

  const fb::PlanT &plan;
  ElfImage kernels;
  size_t imageIndex = 0;
  std::vector<KernelEntry> entries;
  std::vector<std::string> descriptions;

  Arena arena;
  uint64_t allocated = 0;
  uint64_t scalarsOffset = 0;
  std::vector<uint64_t> scratchOffsets;
  uint64_t scratchBytes = 0; ///< of each thread
  std::vector<Step> steps;
  std::unique_ptr<Trace> record;
  Workers workers;
  std::unique_ptr<CheckedWorkers> checked; ///< in place of `workers`

  std::array<Launch, queueLength> queue;
  Ticket submitted = 0, finished = 0;
  Status failure;
};

/// "conv2d in 'conv1' at mnist.dl:14:17"
std::string sourceText(const fb::SourceT &source);

} // namespace dlrt

#endif
