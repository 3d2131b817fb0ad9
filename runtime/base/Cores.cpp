#include "runtime/base/Cores.h"

#include <sched.h>

using namespace dlrt;

static std::vector<int> coresNow() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set))
        cores.push_back(core);
  return cores;
}

/// Asked for before `main`, while nobody can have bound the thread.
static const std::vector<int> atStart = coresNow();

const std::vector<int> &dlrt::coresOfProcess() { return atStart; }

void dlrt::runOn(const std::vector<int> &cores) {
  if (cores.empty())
    return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores)
    CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
}
