#include "runtime/exec/OwnCore.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

using namespace dlrt;
using namespace std::chrono_literals;

namespace {

cpu_set_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  return set;
}

/// A few windows in each of which the thread gets less than it asked for.
void starve(OwnCore &core) {
  for (int i = 0; i < 4; ++i) {
    core.begin();
    std::this_thread::sleep_for(10ms);
    core.end();
  }
}

} // namespace

TEST(OwnCore, WhoGetsTooLittleIsMovedAndNotBound) {
  cpu_set_t before = affinity();
  if (CPU_COUNT(&before) < 2)
    GTEST_SKIP() << "one core";
  OwnCore core(1);
  starve(core);
  EXPECT_GE(core.moves(), 1u);
  cpu_set_t after = affinity();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(OwnCore, SleepOutsideOfRunsIsNotCounted) {
  OwnCore core(0);
  for (int i = 0; i < 4; ++i) {
    core.begin();
    core.end();
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(core.moves(), 0u);
}

TEST(OwnCore, ARunInWhichTheThreadSleptTellsNothing) {
  OwnCore core(0);
  for (int i = 0; i < 4; ++i) {
    core.begin();
    std::this_thread::sleep_for(10ms);
    core.slept();
    core.end();
  }
  EXPECT_EQ(core.moves(), 0u);
}
