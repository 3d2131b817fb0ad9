#include "runtime/exec/OwnCore.h"
#include "runtime/base/Cores.h"

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

/// Windows in each of which the thread gets less than it asked for.
void starve(OwnCore &core, int windows) {
  for (int i = 0; i < windows; ++i) {
    core.begin();
    std::this_thread::sleep_for(10ms);
    core.end();
  }
}

} // namespace

TEST(OwnCore, WhoGetsTooLittleIsBoundAndInTheEndFree) {
  cpu_set_t before = affinity();
  int cores = CPU_COUNT(&before);
  if (cores < 2)
    GTEST_SKIP() << "one core";
  {
    OwnCore core(1);
    starve(core, 2); // the first one only begins
    EXPECT_EQ(core.moves(), 1u);
    cpu_set_t one = affinity();
    EXPECT_EQ(CPU_COUNT(&one), 1);
    std::thread other([&] {
      runOnAnyCore();
      cpu_set_t its = affinity();
      EXPECT_TRUE(CPU_EQUAL(&before, &its));
    });
    other.join();
    starve(core, 1);
    cpu_set_t next = affinity();
    EXPECT_EQ(CPU_COUNT(&next), 1);
    EXPECT_FALSE(CPU_EQUAL(&one, &next));
  }
  cpu_set_t after = affinity();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(OwnCore, WhoGetsNoCoreIsFreeAgain) {
  cpu_set_t before = affinity();
  int cores = CPU_COUNT(&before);
  if (cores < 2 || cores > 8)
    GTEST_SKIP() << cores << " cores";
  OwnCore core(0);
  starve(core, 2 + cores);
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
