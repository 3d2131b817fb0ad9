#include "tools/dlrun/Signals.h"

#include "runtime/exec/Fault.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <unistd.h>

using namespace dlrun;
using namespace dlrt;

static void say(const char *text) {
  // Nothing can be done if even this fails.
  [[maybe_unused]] ssize_t written = write(2, text, std::strlen(text));
}

/// Any thread may be the one that is interrupted.
static std::atomic<int> stopped = 0;
static_assert(std::atomic<int>::is_always_lock_free);

/// (A terminal that goes away sends several SIGHUPs at once.)
static void onStop(int signal) {
  int error = errno; // of whomever it interrupts
  if (stopped.exchange(signal) != 0) {
    if (signal != SIGHUP)
      _exit(128 + signal);
  } else if (signal == SIGINT && isatty(STDERR_FILENO)) {
    say("\ndlrun: stopping; once more ends it at once\n");
  }
  errno = error;
}

static void stopOn(int signal) {
  struct sigaction action = {};
  action.sa_handler = onStop;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

bool dlrun::isIgnored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 &&
         action.sa_handler == SIG_IGN;
}

void dlrun::installStopSignals() {
  stopOn(SIGINT);
  stopOn(SIGTERM);
  if (!isIgnored(SIGHUP)) // as nohup wants it
    stopOn(SIGHUP);
}

void dlrun::surviveLostOutputs() {
  for (int signal : {SIGPIPE, SIGXFSZ})
    ::signal(signal, SIG_IGN);
}

void dlrun::installCheckpointSignal() { stopOn(SIGUSR1); }

static void onWatchedStop(int signal) {
  stopped = signal == SIGUSR1 ? SIGTERM : SIGINT;
}

static double monotonicSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

/// Of a user (`pkill dlrun`), or of a launcher that has lost another rank and
/// kills the others soon; some only pass it on, so that a later one ends this
/// process at once. Where all processes get one, ranks get two together.
static void onWatchedTerm(int signal) {
  static std::atomic<double> first = 0;
  int error = errno;
  double now = monotonicSeconds(), none = 0;
  if (!first.compare_exchange_strong(none, now) && now - none > 0.5)
    _exit(128 + signal);
  stopped = signal;
  errno = error;
}
static_assert(std::atomic<double>::is_always_lock_free);

void dlrun::installWatchedSignals() {
  struct sigaction action = {};
  action.sa_flags = SA_RESTART;
  action.sa_handler = onWatchedStop;
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGUSR2, &action, nullptr);
  action.sa_handler = onWatchedTerm;
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
}

int dlrun::stopSignal() { return stopped; }

static const char *nameOfFault(int signal) {
  switch (signal) {
  case SIGSEGV:
    return "invalid memory access";
  case SIGBUS:
    return "bus error";
  case SIGFPE:
    return "arithmetic fault";
  case SIGILL:
    return "illegal instruction";
  case SIGABRT:
    return "abort";
  default:
    return "trap";
  }
}

/// The first thread that faults tells its story; another one that faults at the
/// same time waits for the end.
static void takeTurn() {
  static std::atomic<int> owner = 0;
  int self = gettid(), nobody = 0;
  if (owner.compare_exchange_strong(nobody, self))
    return;
  if (nobody == self) // a fault in the handler itself
    _exit(70);
  for (;;)
    pause();
}

static void onFault(int signal, siginfo_t *info, void *) {
  takeTurn();
  const char *kernel = runningKernel();
  say("\ndlrun: error: ");
  say(nameOfFault(signal));
  if (kernel) {
    say(" in ");
    say(kernel);
    say("\n");
  } else if (signal == SIGBUS && info->si_code == BUS_ADRERR) {
    say(": a file got shorter while it was read\n");
    _exit(4);
  } else {
    say(" outside of kernels; this is a bug of dlrun\n");
  }
  _exit(70);
}

void dlrun::installFaultHandlers() {
  static SignalStack stack;
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
    sigaction(signal, &action, nullptr);
}
