// A GPU as a device: one allocation with all that the ranks at hand keep, and
// one graph of all their commands for each program and input slot, so that a
// launch is a call and its end an event.
#ifndef DLRT_DEVICE_CUDA_CUDADEVICE_H
#define DLRT_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"
#include "runtime/device/ReportRing.h"
#include "runtime/device/cuda/Binding.h"
#include "runtime/device/cuda/Communicator.h"
#include "runtime/device/cuda/Context.h"
#include "runtime/device/cuda/Graph.h"
#include "runtime/device/cuda/OneByOne.h"
#include "runtime/device/cuda/Places.h"

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace dlrt::cuda {

class CudaDevice : public Device {
public:
  static Expected<std::unique_ptr<CudaDevice>>
  create(const LoadedPlan &loaded, const DeviceOptions &options);
  ~CudaDevice() override;

  uint32_t ranks() const override { return range.count; }

  /// A graph takes about as long to be launched as a small one to run.
  size_t runsAhead() const override { return oneByOne ? 0 : 3; }
  Ticket submit(const Launch &launch) override;
  Expected<Report> wait(Ticket ticket) override;
  void setSetting(size_t index, double value) override {
    settings[index] = value;
  }

  Status read(const BufferPlace &from, std::span<uint8_t> into) const override;
  Status write(const BufferPlace &to, std::span<const uint8_t> from) override;

  uint8_t *inputAddress(const InputPlace &place) const override;
  uint32_t inputSlots(uint32_t step) const override {
    return places.steps[step].slots;
  }

  size_t image() const override { return imageIndex; }
  uint64_t memoryBytes() const override {
    return places.deviceBytes + places.hostBytes;
  }
  std::vector<uint64_t> tilesPerThread() const override { return {blocksRun}; }
  const Trace *trace() const override { return record.get(); }
  const std::string &library() const override { return products.library(); }
  const std::string &network() const override { return communicator.name(); }
  const std::vector<std::string> &notes() const override {
    return products.notes();
  }
  /// With processes nobody can say whether it is the device that is waited for
  /// or another rank.
  const char *doing(bool &waits) const override {
    const char *text = current.load(std::memory_order_relaxed);
    waits = text && communicator;
    return text;
  }

private:
  /// A program in one input slot.
  struct Run {
    Exec exec = nullptr;
    BoundProgram bound; ///< where commands run one by one
    RunPlaces places;
    Ticket last = 0; ///< launch that used it
  };
  struct Program {
    const ProgramPlaces *places = nullptr;
    std::vector<Run> runs;          ///< by slot
    size_t kernels = 0;             ///< launches of one
    const Kernel *kernel = nullptr; ///< one of them
    uint64_t blocks = 0;
    uint32_t updates = 0; ///< launched, of updates
    std::string description;
  };
  struct Step {
    std::vector<Program> programs; ///< as in the plan
    std::vector<Ticket> areaUsers; ///< the latest, by area
  };
  struct Queued {
    Launch launch;
    Program *program = nullptr;
    Run *run = nullptr;
  };

  CudaDevice(const LoadedPlan &loaded, const Ranks &ranks, const Driver &cuda,
             DeviceFacts facts);
  Status prepare(const LoadedPlan &loaded, const DeviceOptions &options);
  Status allocate();
  Status prepareProgram(uint32_t step, size_t index);
  Status prepareRun(Run &run);
  Status settle();
  bool destroyGraphs();
  void disconnect();
  Status describe(Program &program, BoundProgram &bound);
  Pointer addressOf(const BufferPlace &place) const;
  Status enter() const;

  Run &runOf(const Launch &launch, Program &program);
  Status start(const Launch &launch, Program &program, Run &run);
  Result bringBatch(uint32_t step, const Run &run);
  void finishOldest();
  void lose(Status status, Ticket ticket);
  Status failure(const Program &program, Result result) const;

  const PlanSet &set;
  const Ranks range;
  const fb::PlanT &plan; ///< for what all say alike
  const Driver &cuda;
  const DeviceFacts facts;
  Places places;
  std::vector<double> settings; ///< by position in the plan

  ContextScope context;
  mutable std::thread::id thread; ///< that has entered it
  DeviceMemory memory;
  HostMemory pinned;
  Modules modules;
  Products products;
  Communicator communicator; ///< with ranks of other processes
  size_t imageIndex = 0;
  StreamScope stream, copies;
  std::array<EventScope, launchesAhead> done, copied;
  std::vector<Step> steps;
  std::unique_ptr<OneByOne> oneByOne; ///< in place of graphs
  std::unique_ptr<Trace> record;

  std::array<Queued, launchesAhead> queue;
  Ticket submitted = 0, finished = 0;
  Status lost;          ///< what ended the device's use
  Ticket firstLost = 0; ///< the launch that found it; 0: none
  uint64_t blocksRun = 0;
  std::atomic<const char *> current = nullptr;
  ReportRing reports;
};

} // namespace dlrt::cuda

#endif
