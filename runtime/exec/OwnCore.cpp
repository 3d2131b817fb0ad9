#include "runtime/exec/OwnCore.h"

#include "runtime/base/Cores.h"

#include <algorithm>
#include <ctime>

using namespace dlrt;

static constexpr auto shortestPause = std::chrono::milliseconds(5),
                      longest = std::chrono::milliseconds(640);
/// Of a core. Another rank that computes takes half of it, interrupts and who
/// gathers batches a quarter at most.
static constexpr double enough = 0.65;

static double secondsOfThread() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

OwnCore::OwnCore(unsigned number)
    : cores(coresOfProcess()), pause(shortestPause) {
  if (!cores.empty())
    std::rotate(cores.begin(), cores.begin() + number % cores.size(),
                cores.end());
}

OwnCore::~OwnCore() {
  if (bound)
    runOnAnyCore();
}

void OwnCore::end() {
  if (cores.size() < 2)
    return;
  Clock::time_point now = Clock::now();
  if (window != Clock::time_point()) {
    wanted += now - begun;
    if (now - window < pause)
      return;
  }
  double before = computed;
  computed = secondsOfThread();
  if (window != Clock::time_point()) {
    if (computed - before <
        enough * std::chrono::duration<double>(wanted).count())
      move();
    else // where it is, it may stay
      next = 0, pause = shortestPause;
  }
  window = now;
  wanted = {};
}

void OwnCore::move() {
  ++moved;
  bound = next < cores.size();
  if (bound) {
    runOn({cores[next++]});
    return;
  }
  // All cores are busy, perhaps: then to try again costs more than it gives.
  runOnAnyCore();
  next = 0;
  pause = std::min<Clock::duration>(2 * pause, longest);
}
