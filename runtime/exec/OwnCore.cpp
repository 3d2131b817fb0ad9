#include "runtime/exec/OwnCore.h"

#include <algorithm>
#include <ctime>
#include <sched.h>

using namespace dlrt;

static constexpr auto shortest = std::chrono::milliseconds(5),
                      longest = std::chrono::milliseconds(640);
/// Of a core. Less is shared with somebody: interrupts take a few per cent.
static constexpr double enough = 0.85;

static double secondsOfThread() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

OwnCore::OwnCore(unsigned number) : pause(shortest) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set))
      cores.push_back(core);
  if (!cores.empty())
    std::rotate(cores.begin(), cores.begin() + number % cores.size(),
                cores.end());
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
      next = 0, pause = shortest;
  }
  window = now;
  wanted = {};
}

/// To one core alone, and at once to all again, which moves nothing.
void OwnCore::move() {
  cpu_set_t one, all;
  CPU_ZERO(&one);
  CPU_ZERO(&all);
  for (int core : cores)
    CPU_SET(core, &all);
  CPU_SET(cores[next], &one);
  sched_setaffinity(0, sizeof(one), &one);
  sched_setaffinity(0, sizeof(all), &all);
  ++moved;
  // All cores are busy, perhaps: then to try again costs more than it gives.
  if (++next == cores.size())
    next = 0, pause = std::min<Clock::duration>(2 * pause, longest);
}
