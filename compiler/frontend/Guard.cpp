#include "compiler/frontend/Guard.h"
#include "llvm/Support/ErrorHandling.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

using namespace dl::frontend;

// The state of the one evaluation of this process; signal handlers have no
// other way to find it.
static Reporter *reporter = nullptr;
static volatile sig_atomic_t depthInOurCode = 0;
static volatile sig_atomic_t timeIsOver = 0;
static double timeLimit = 0;
static uint64_t memoryLimit = 0;
static ProgramCounters lastThrow;

static constexpr rlim_t kReserve = rlim_t(256)
                                   << 20; // for reporting that memory ran out

/// The callers of interrupted code. Resolving expects return addresses, one
/// past the call; the interrupted instruction is made to look like one.
static ProgramCounters interruptedAt(const ucontext_t *context) {
  ProgramCounters counters = CallStack::capture();
  auto at = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
  for (void *&counter : counters)
    if (counter == reinterpret_cast<void *>(at))
      counter = reinterpret_cast<void *>(at + 1);
  // A call through a null pointer leaves no frame: its return address is on the
  // stack.
  if (at < 65536)
    counters.insert(counters.begin(), *reinterpret_cast<void **>(
                                          context->uc_mcontext.gregs[REG_RSP]));
  return counters;
}

[[noreturn]] static void failTimeout(const ProgramCounters &counters) {
  // Code interrupted within malloc() would make this wait for itself.
  std::signal(SIGALRM, SIG_DFL);
  alarm(5);
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", timeLimit);
  reporter->failAt(
      reporter->stack.userFrames(counters),
      "the model is still being evaluated after " + std::string(seconds) +
          " s; is this an endless loop? (--eval-timeout sets the limit)");
}

Guard::InOurCode::InOurCode() { depthInOurCode = depthInOurCode + 1; }
Guard::InOurCode::~InOurCode() {
  depthInOurCode = depthInOurCode - 1;
  if (timeIsOver && depthInOurCode == 0)
    failTimeout(CallStack::capture());
}

static const char *describe(int signal, const siginfo_t *info,
                            const ucontext_t *context) {
  auto address = reinterpret_cast<uint64_t>(info->si_addr);
  auto stackPointer =
      static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RSP]);
  if (signal == SIGSEGV && address > stackPointer - (1 << 20) &&
      address < stackPointer + (1 << 16))
    return "the stack overflowed; is this an endless recursion?";
  if (signal == SIGSEGV || signal == SIGBUS)
    return address < 65536
               ? "the model used a null pointer"
               : "the model used an invalid pointer; was memory freed "
                 "twice, or written beyond its end?";
  if (signal == SIGFPE)
    return "the model divided an integer by zero";
  if (signal == SIGILL || signal == SIGTRAP)
    return "the model ran into undefined behaviour";
  return "the model was aborted";
}

static void onCrash(int signal, siginfo_t *info, void *contextPointer) {
  // A second fault, here in the handler, or one that hangs, must end the
  // process.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int one : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGALRM})
    sigaction(one, &standard, nullptr);
  alarm(5);
  auto *context = static_cast<ucontext_t *>(contextPointer);
  ProgramCounters counters = interruptedAt(context);
  std::vector<Frame> frames = reporter->stack.userFrames(counters);
  if (depthInOurCode > 0)
    reporter->failAt(
        frames, "dlcc crashed while it built this; this is a bug of dlcc", 70);
  reporter->failAt(frames, describe(signal, info, context));
}

static void onTimer(int, siginfo_t *, void *context) {
  if (depthInOurCode == 0)
    failTimeout(interruptedAt(static_cast<ucontext_t *>(context)));
  timeIsOver = 1;
}

static void outOfMemory() {
  // Raise the soft limit: the message needs memory too.
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
  }
  std::set_new_handler(nullptr);
  reporter->fail("the model needs more than " +
                 std::to_string(memoryLimit >> 20) +
                 " MiB of memory while its graph is built");
}

void Guard::limitMemory(uint64_t bytes) {
  memoryLimit = bytes;
  // What is mapped now (libraries, mostly) does not count.
  uint64_t pages = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lu", &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  rlim_t used = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  rlimit limit = {used + bytes, used + bytes + kReserve};
  setrlimit(RLIMIT_AS, &limit);
}

void Guard::start(Reporter &theReporter, double timeLimitSeconds) {
  reporter = &theReporter;
  timeLimit = timeLimitSeconds;
  CallStack::capture(); // loads the unwinder now, not in a handler
  std::set_new_handler(outOfMemory);
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { outOfMemory(); });

  static char handlerStack[1 << 18];
  stack_t alternate = {};
  alternate.ss_sp = handlerStack;
  alternate.ss_size = sizeof handlerStack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = onCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int one : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
    sigaction(one, &action, nullptr);
  struct sigaction timer = {};
  timer.sa_sigaction = onTimer;
  timer.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGALRM, &timer, nullptr);
  itimerval interval = {};
  interval.it_value.tv_sec = static_cast<time_t>(timeLimitSeconds);
  interval.it_value.tv_usec = static_cast<suseconds_t>(
      (timeLimitSeconds - static_cast<double>(interval.it_value.tv_sec)) * 1e6);
  setitimer(ITIMER_REAL, &interval, nullptr);
}

void Guard::stop() {
  itimerval none = {};
  setitimer(ITIMER_REAL, &none, nullptr);
  depthInOurCode = 1;
}

llvm::ArrayRef<void *> Guard::throwSite() { return lastThrow; }

[[noreturn]] static void exitCalled(const char *what) {
  reporter->fail(std::string("the model called ") + what +
                 " while its graph is being built");
}

static void exitCalled(const char *function, int code) {
  exitCalled((function + ("(" + std::to_string(code)) + ")").c_str());
}
static void replacedExit(int code) { exitCalled("exit", code); }
static void replacedUnderscoreExit(int code) { exitCalled("_exit", code); }
static void replacedC99Exit(int code) { exitCalled("_Exit", code); }
static void replacedQuickExit(int code) { exitCalled("quick_exit", code); }
static void replacedAbort() { exitCalled("abort()"); }
static void replacedAssert(const char *assertion, const char *, unsigned,
                           const char *) {
  reporter->fail(std::string("the assertion `") + assertion +
                 "` does not hold");
}

extern "C" [[noreturn]] void __cxa_throw(void *exception, void *type,
                                         void (*destructor)(void *));

static void replacedThrow(void *exception, void *type,
                          void (*destructor)(void *)) {
  lastThrow = CallStack::capture();
  __cxa_throw(exception, type, destructor);
}

llvm::ArrayRef<Guard::Replacement> Guard::replacements() {
  static const Replacement all[] = {
      {"exit", reinterpret_cast<void *>(replacedExit)},
      {"_exit", reinterpret_cast<void *>(replacedUnderscoreExit)},
      {"_Exit", reinterpret_cast<void *>(replacedC99Exit)},
      {"quick_exit", reinterpret_cast<void *>(replacedQuickExit)},
      {"abort", reinterpret_cast<void *>(replacedAbort)},
      {"__assert_fail", reinterpret_cast<void *>(replacedAssert)},
      {"__cxa_throw", reinterpret_cast<void *>(replacedThrow)},
  };
  return all;
}
