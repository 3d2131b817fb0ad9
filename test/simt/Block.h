// The state of the block that runs. Internal to the scheduler.
#ifndef DL_TEST_SIMT_BLOCK_H
#define DL_TEST_SIMT_BLOCK_H

#include "test/simt/Fibers.h"
#include "test/simt/Scheduler.h"
#include "test/simt/Shadow.h"
#include "test/simt/SharedMemory.h"

namespace dlsimt {

enum class State : uint8_t { Waiting, Ready, AtBarrier, AtCollective, Done };

/// A cp.async that has not landed.
struct Copy {
  void *to;
  const void *from;
  unsigned bytes, group;
};

struct Fiber {
  void *sp = nullptr;
  uint8_t *stack = nullptr; ///< null: it has not begun
  unsigned id = 0;
  Index3 index;
  State state = State::Waiting;
  Deposit *deposit = nullptr;
  unsigned group = 0;
  std::vector<Copy> copies;

  unsigned warp() const { return id / 32; }
  unsigned lane() const { return id % 32; }
};

/// Lanes on their way to a collective.
struct Meeting {
  Collective kind;
  unsigned mask, arrived;
};

struct Warp {
  unsigned alive = 0;
  uint32_t epoch = 0; ///< __syncwarp so far
  std::vector<Meeting> meetings;
};

struct Block {
  Machine machine;
  Stacks stacks;
  SharedMemory shared;
  Shadow shadow;
  DeviceShadow deviceShadow;
  const Launch *launch = nullptr;
  void *launcher = nullptr; ///< where `run` waits for the block
  Fiber *current = nullptr;
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  std::vector<unsigned> ready; ///< a stack: the last goes on next
  unsigned alive = 0, atBarrier = 0, withTrue = 0, counted = 0;
  bool counting = false;
  uint64_t random = 1;
  std::optional<std::string> error;

  uint64_t draw();
  /// Fibers in [first, end) whose state is `from` may go on.
  void wake(unsigned first, unsigned end, State from);
  /// Gives way to a fiber that can run.
  void leave();
  /// Ends the block with a message on the running thread.
  [[noreturn]] void fail(const std::string &what);
  void access(const void *at, size_t bytes, bool writes, const void *code);

  void syncThreads(bool counts, bool value);
  void meet(Collective kind, unsigned mask, Deposit &deposit);
  void startCopy(void *to, const void *from, unsigned bytes);
  void waitForCopies(unsigned pending);

  /// On the launcher's stack.
  void run(Index3 index);

private:
  [[noreturn]] static void threadMain();
  Fiber *next();
  void enter(Fiber &fiber);
  std::string deadlock() const;
};

Block &block();

/// Gives all lanes of a meeting what they take from it.
void deliver(Collective kind, unsigned mask, Fiber *lanes);

std::string text(Index3 index);

/// While one is alive, a signal that a kernel raises ends its block, and so
/// does the end of its time.
class FaultsOfKernels {
public:
  explicit FaultsOfKernels(double seconds);
  ~FaultsOfKernels();
  bool tookTooLong() const;
};

} // namespace dlsimt

#endif
