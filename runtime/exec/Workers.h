// The threads that run a program's tiles.
#ifndef DLRT_EXEC_WORKERS_H
#define DLRT_EXEC_WORKERS_H

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/device/Trace.h"
#include "runtime/exec/Fault.h"
#include "runtime/exec/OwnCore.h"
#include "runtime/exec/PreparedProgram.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace dlrt {

/// Round to nearest, exceptions masked, denormals as asked for: the same bits
/// on all threads whatever the process did before. The destructor gives the
/// thread back the mode it had.
class FloatingPointMode {
public:
  explicit FloatingPointMode(Denormals denormals);
  ~FloatingPointMode();
  FloatingPointMode(const FloatingPointMode &) = delete;
  FloatingPointMode &operator=(const FloatingPointMode &) = delete;

private:
  unsigned before = 0;
  bool changed = false;
};

/// Starts a thread for each worker but number 0, which is the thread that runs
/// programs. Unavailable if the system gives fewer; those it gave are in
/// `threads`.
Status startHelpers(std::vector<std::thread> &threads, size_t workers,
                    const std::function<void(size_t)> &main);

/// Worker 0 is the thread that calls `run`; the others spin for a short time
/// when there is nothing to do, then sleep. All tiles of all commands whose
/// dependencies have finished are offered to everybody. Tiles write disjoint
/// bytes in a fixed way, so the results do not depend on who takes them.
class Workers {
public:
  ~Workers();

  /// Starts the threads; `scratch` has one pointer each. What they do is noted
  /// in `record`, if there is one.
  Status start(const std::vector<void *> &scratch, Trace *record,
               Denormals mode = Denormals::Keep);

  /// To be called once for each program, where it stays.
  void adopt(PreparedProgram &program);

  /// Runs a program to its end with the pointers of an input slot.
  void run(PreparedProgram &program, uint32_t slot);

  /// Watches over the thread that runs programs; may be null.
  std::unique_ptr<OwnCore> ownCore;

  /// Called by the thread that runs programs between two portions of tiles, and
  /// again and again while it waits for errands, which it may move on.
  std::function<void()> betweenCommands;
  /// Called before that thread sleeps until an errand has ended, or is away in
  /// a long portion.
  std::function<void()> beforeRest;
  /// For so long it looks for an end of errands, with its core on offer, before
  /// it sleeps.
  std::chrono::microseconds patience{50};

  /// What the thread that runs programs is at; null: nothing. Of one that waits
  /// for an errand, the errand's command.
  const char *doing(bool &waits) const;

  /// Tiles each thread has run so far.
  std::vector<uint64_t> tilesRun() const;

private:
  using Clock = std::chrono::steady_clock;

  struct alignas(64) Worker {
    void *scratch = nullptr;
    RunningKernel running;
    uint64_t tiles = 0;
    TraceRing<TraceEvent> *events = nullptr;
  };

  static constexpr uint32_t noCommand = ~0u;

  void runAlone(PreparedProgram &program, uint32_t slot);
  void runAloneTraced(PreparedProgram &program, uint32_t slot);
  void helperMain(Worker &self);
  /// Looks once for work of the current run and does it; false if none.
  bool look(Worker &self);
  bool spinForWork(Worker &self);
  void sleepUntilWoken(Worker &self);
  /// Runs one portion of tiles of run number `number`; false if there is none
  /// to take now.
  bool help(Worker &self, PreparedProgram &program, uint32_t slot,
            uint32_t number);
  void execute(Worker &self, const PreparedProgram &program,
               const PreparedCommand &command, uint32_t slot, uint32_t begin,
               uint32_t end);
  /// Tells the successors that a command has finished. Those that are ready now
  /// are offered, except for one serial one, which is returned for the calling
  /// worker if nothing in front of it is ready and no errand is to be looked
  /// after: its operands are in this core's cache.
  uint32_t finish(PreparedProgram &program, uint32_t command);
  bool hasReadyBefore(const PreparedProgram &program, uint32_t command) const;
  void offer(PreparedProgram &program, uint32_t command);
  /// What a command waited for has finished: it is offered, or its errand
  /// begins.
  void takeTurn(PreparedProgram &program, uint32_t command);
  /// Of the thread that runs a program in which errands are under way: sleeps
  /// until there is something to do.
  void restUntilWoken(Worker &self, PreparedProgram &program, uint32_t slot,
                      uint32_t number);
  void wakeSleepers();

  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  Trace *trace = nullptr;
  Denormals denormals = Denormals::Keep;

  // The current run. The numbers in the progress words keep a thread that
  // comes late from taking anything of a later run.
  alignas(64) std::atomic<uint32_t> runNumber = 0;
  std::atomic<PreparedProgram *> currentProgram = nullptr;
  std::atomic<uint32_t> currentSlot = 0;
  alignas(64) std::atomic<uint32_t> unfinished = 0;
  alignas(64) std::atomic<uint32_t> sleepers = 0;
  std::atomic<uint32_t> wakeWord = 0;
  std::atomic<bool> stopping = false;
  std::atomic<const char *> begun = nullptr; ///< the errand begun last
  std::atomic<bool> waiting = false;
};

} // namespace dlrt

#endif
