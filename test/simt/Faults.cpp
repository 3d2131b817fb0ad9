// Signals that a kernel raises.
#include "test/simt/Block.h"

#include <csignal>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

namespace dlsimt {

namespace {
const int timeIsUp = SIGRTMIN + 7;
const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, timeIsUp};

struct Faults {
  bool on = false;
  pthread_t runner;
  struct sigaction before[5];
  stack_t stackBefore;
  int signal = 0;
  uintptr_t at = 0;
  bool writes = false;
  timer_t timer;
  double seconds = 0;
  alignas(16) uint8_t handlerStack[64 << 10], reportStack[64 << 10];
};
Faults faults;
} // namespace

/// Runs outside of the signal's handler, on a stack of its own.
[[noreturn]] static void report() {
  Block &b = block();
  if (faults.signal == SIGFPE)
    b.fail("divides an integer by zero");
  if (faults.signal == SIGILL)
    b.fail("comes to a trap");
  if (faults.signal == timeIsUp)
    b.fail("does not come to an end in " + std::to_string(int(faults.seconds)) +
           " seconds");
  if (b.stacks.guardHolds(faults.at))
    b.fail("its stack overflows");
  std::string does = faults.writes ? "writes " : "reads ";
  Span shared = b.shared.reserved();
  if (shared.holds(faults.at, 1))
    b.fail(does + "outside of its " + std::to_string(b.launch->sharedBytes) +
           " bytes of dynamic shared memory, at " +
           std::to_string(long(faults.at - b.shared.dynamicPart().first)));
  b.fail(does + b.launch->describe(faults.at));
}

static void handle(int signal, siginfo_t *info, void *context) {
  bool ours = faults.on && pthread_equal(faults.runner, pthread_self());
  if (!ours) { // the instruction faults again, in front of the handler before
               // us
    for (size_t i = 0; i < std::size(caught); ++i)
      if (caught[i] == signal)
        sigaction(signal, &faults.before[i], nullptr);
    return;
  }
  auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  // Anywhere else it may hold a lock; the timer comes again.
  if (signal == timeIsUp &&
      !block().shared.imagePart().holds(uintptr_t(registers[REG_RIP]), 1))
    return;
  faults.signal = signal;
  faults.at = uintptr_t(info->si_addr);
  faults.writes = registers[REG_ERR] & 2;
  registers[REG_RIP] = greg_t(&report);
  registers[REG_RSP] =
      greg_t(faults.reportStack + sizeof faults.reportStack - 8);
}

FaultsOfKernels::FaultsOfKernels(double seconds) {
  faults.runner = pthread_self();
  faults.signal = 0;
  faults.seconds = seconds;
  faults.on = true;
  stack_t stack = {};
  stack.ss_sp = faults.handlerStack;
  stack.ss_size = sizeof faults.handlerStack;
  sigaltstack(&stack, &faults.stackBefore);
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(caught); ++i)
    sigaction(caught[i], &action, &faults.before[i]);
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = timeIsUp;
  event._sigev_un._tid = gettid();
  timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &faults.timer);
  itimerspec times = {};
  times.it_value.tv_sec = time_t(seconds);
  times.it_value.tv_nsec = long((seconds - double(time_t(seconds))) * 1e9) + 1;
  times.it_interval.tv_nsec = 10'000'000;
  timer_settime(faults.timer, 0, &times, nullptr);
}

FaultsOfKernels::~FaultsOfKernels() {
  timer_delete(faults.timer);
  faults.on = false;
  for (size_t i = 0; i < std::size(caught); ++i)
    sigaction(caught[i], &faults.before[i], nullptr);
  sigaltstack(&faults.stackBefore, nullptr);
}

bool FaultsOfKernels::tookTooLong() const { return faults.signal == timeIsUp; }

} // namespace dlsimt
