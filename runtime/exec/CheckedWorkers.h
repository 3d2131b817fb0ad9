// Runs programs in ways that bring hidden dependencies to light.
#ifndef DLRT_EXEC_CHECKEDWORKERS_H
#define DLRT_EXEC_CHECKEDWORKERS_H

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/exec/AnomalyFinder.h"
#include "runtime/exec/Arena.h"
#include "runtime/exec/Fault.h"
#include "runtime/exec/PreparedProgram.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace dlrt {

/// Takes the place of Workers where speed does not matter: one lock around
/// everything but the kernels themselves. Results must be the same.
class CheckedWorkers {
public:
  explicit CheckedWorkers(const CheckOptions &options);
  ~CheckedWorkers();

  Status start(const std::vector<MemoryRange> &scratch, Trace *record,
               Denormals mode = Denormals::Keep);

  /// A piece of a buffer that is dead before its first and after its last use.
  struct Temporary {
    uint32_t number; ///< of the piece
    MemoryRange range;
  };
  /// What is dead when a program begins, the temporaries of its commands, and
  /// what each of these receives. To be called once, where the program stays.
  void describe(PreparedProgram &program, std::vector<MemoryRange> dead,
                const std::vector<std::vector<Temporary>> &temporaries,
                std::vector<std::vector<MemoryRange>> received);

  void run(PreparedProgram &program, uint32_t slot);
  std::vector<uint64_t> tilesRun() const;

  AnomalyFinder *finder = nullptr; ///< looks at each command that has run
  /// Called before a program runs: these workers sleep, and look after nobody's
  /// messages.
  std::function<void()> beforeRun;

private:
  struct Worker {
    MemoryRange scratch;
    RunningKernel running;
    uint64_t tiles = 0;
    TraceRing<TraceEvent> *events = nullptr;
  };
  /// Of one program: who must have run before bytes are dead.
  struct Lives {
    std::vector<MemoryRange> deadAtStart, temporaries;
    std::vector<uint32_t> uses;                     ///< by temporary
    std::vector<std::vector<uint32_t>> ofCommand;   ///< its temporaries
    std::vector<uint32_t> left;                     ///< uses to come
    std::vector<std::vector<MemoryRange>> received; ///< by command
  };
  struct CommandState {
    uint32_t waiting, next, done;
  };
  using Lock = std::unique_lock<std::mutex>;

  void begin(PreparedProgram &program, uint32_t slot);
  void helperMain(Worker &self);
  void work(Worker &self, Lock &lock);
  void runPortion(Worker &self, Lock &lock);
  void finish(uint32_t command);
  void takeTurn(uint32_t command);
  void poisonReceived(uint32_t command);
  void beginErrand(Lock &lock);
  uint64_t random(uint64_t below);

  const CheckOptions options;
  Denormals denormals = Denormals::Keep;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  Trace *trace = nullptr;
  std::unordered_map<const PreparedProgram *, Lives> livesOf;

  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  uint64_t randomState;
  PreparedProgram *program = nullptr;
  Lives *lives = nullptr;
  std::vector<CommandState> states;
  std::vector<uint32_t> ready;
  std::vector<Errand *> errands; ///< to begin
  uint32_t slot = 0;
  uint32_t unfinished = 0;
};

} // namespace dlrt

#endif
