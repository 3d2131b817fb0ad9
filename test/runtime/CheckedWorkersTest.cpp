#include "runtime/exec/CheckedWorkers.h"
#include "runtime/exec/Executor.h"
#include "test/runtime/TestPlan.h"

#include <algorithm>
#include <set>

using namespace dlrt;
using namespace dlrt::test;

namespace {

struct Checked {
  Bytes file;
  LoadedPlan loaded;
  std::unique_ptr<Executor> executor;

  Checked(const fb::PlanT &plan, unsigned threads, const CheckOptions &checks)
      : file(seal(plan)), loaded(mustLoad(file)) {
    auto created = Executor::create(loaded, {threads, "", true, checks});
    EXPECT_TRUE(created) << created.status().message();
    executor = std::move(*created);
  }
  void run() { ASSERT_TRUE(executor->wait(executor->submit({}))); }
  int64_t word(uint32_t buffer) {
    return *reinterpret_cast<int64_t *>(executor->arenaAddress(buffer));
  }
  /// Commands in the order in which they began, over all runs.
  std::vector<uint32_t> order() {
    std::vector<TraceEvent> events;
    for (const auto &thread : executor->trace()->threads)
      thread.forEach([&](const TraceEvent &e) { events.push_back(e); });
    std::sort(events.begin(), events.end(),
              [](auto &a, auto &b) { return a.begin < b.begin; });
    std::vector<uint32_t> commands;
    for (const TraceEvent &event : events)
      commands.push_back(event.command);
    return commands;
  }
};

/// sum = dead + dead, where nobody wrote `dead`, which the loader cannot know.
struct ReadsUnwritten {
  PlanBuilder b = singleProgramPlan();
  uint32_t dead = b.arena(8), sum = b.arena(8);
  ReadsUnwritten() {
    fb::ProgramT &p = *b.plan.steps[0]->programs[0];
    b.command(p, b.kernel("add", 1, {8, 8, 8}, {false, false, true}),
              {dead, dead, sum});
    b.metric(p, "sum", sum, {2}); // two f32 of an i64: only the bytes count
  }
};

} // namespace

TEST(CheckedWorkers, BytesAreDeadBeforeTheirDefinition) {
  ReadsUnwritten plan;
  Checked plain(plan.b.plan, 1, {}), poisoned(plan.b.plan, 1, {true, {}});
  plain.run();
  poisoned.run();
  EXPECT_EQ(plain.word(plan.sum), 0);
  EXPECT_EQ(poisoned.word(plan.sum), -2); // all bits set, twice
}

TEST(CheckedWorkers, BytesAreDeadAfterTheirLastUse) {
  // squares -> first -> copy of it; then `late` reads the same bytes through
  // another buffer, as if an offset were wrong.
  PlanBuilder b = singleProgramPlan();
  fb::ProgramT &p = *b.plan.steps[0]->programs[0];
  uint32_t first = b.arena(64),
           late = b.arenaAt(b.plan.buffers[first]->offset, 64);
  uint32_t copy = b.arena(64), wrong = b.arena(64);
  uint32_t add = b.kernel("add", 8, {64, 64, 64}, {false, false, true});
  b.command(p, b.kernel("squares", 8, {64}, {true}), {first});
  b.command(p, add, {first, first, copy}, {0});
  b.command(p, add, {late, late, wrong}, {1});
  b.metric(p, "copy", copy, {16});
  b.metric(p, "wrong", wrong, {16});
  Checked plain(b.plan, 2, {}), poisoned(b.plan, 2, {true, 7});
  plain.run();
  poisoned.run();
  auto last = [](Checked &run, uint32_t buffer) {
    return reinterpret_cast<int64_t *>(run.executor->arenaAddress(buffer))[7];
  };
  EXPECT_EQ(last(plain, wrong), 2 * 49); // unseen
  EXPECT_EQ(last(poisoned, copy), 2 * 49);
  EXPECT_EQ(last(poisoned, wrong), -2); // seen
}

TEST(CheckedWorkers, PiecesOfABufferDieOnTheirOwn) {
  // squares -> one half of `whole`, squares -> the other one; a copy out of
  // the first half; then `late` reads that half through another buffer, and
  // somebody the second one as it should.
  PlanBuilder b = singleProgramPlan();
  fb::ProgramT &p = *b.plan.steps[0]->programs[0];
  uint32_t whole = b.arena(128), copied = b.arena(64);
  uint32_t late = b.arenaAt(b.plan.buffers[whole]->offset, 64);
  uint32_t dead = b.arena(64), end = b.arena(64);
  uint32_t make = b.kernel("squares", 8, {64}, {true});
  b.commandOn(p, make, {fb::Range(whole, 0, 64)});
  b.commandOn(p, make, {fb::Range(whole, 64, 64)});
  b.copy(p, fb::Range(whole, 0, 64), b.whole(copied), {0});
  b.copy(p, b.whole(late), b.whole(dead), {2});
  b.copy(p, fb::Range(whole, 64, 64), b.whole(end), {1, 3});
  for (uint32_t result : {copied, dead, end})
    b.metric(p, std::to_string(result), result, {16});
  for (uint64_t seed : {1, 2, 3}) {
    Checked run(b.plan, 2, {true, seed});
    run.run();
    auto last = [&](uint32_t buffer) {
      return reinterpret_cast<int64_t *>(run.executor->arenaAddress(buffer))[7];
    };
    EXPECT_EQ(last(copied), 49);
    EXPECT_EQ(last(dead), -1);
    EXPECT_EQ(last(end), 49);
  }
}

TEST(CheckedWorkers, OrdersDifferAndKeepDependencies) {
  // 12 independent pairs of producer and consumer.
  PlanBuilder b = singleProgramPlan();
  fb::ProgramT &p = *b.plan.steps[0]->programs[0];
  uint32_t make = b.kernel("squares", 8, {64}, {true});
  uint32_t add = b.kernel("add", 8, {64, 64, 64}, {false, false, true});
  std::vector<uint32_t> sums;
  for (uint32_t i = 0; i < 12; ++i) {
    uint32_t from = b.arena(64);
    sums.push_back(b.arena(64));
    b.command(p, make, {from});
    b.command(p, add, {from, from, sums.back()}, {2 * i});
    b.metric(p, "sum" + std::to_string(i), sums.back(), {16});
  }
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Checked run(b.plan, 3, {true, seed});
    run.run();
    for (uint32_t sum : sums)
      EXPECT_EQ(run.word(sum), 0);
    for (uint32_t sum : sums)
      EXPECT_EQ(reinterpret_cast<int64_t *>(run.executor->arenaAddress(sum))[7],
                2 * 49);
    orders.insert(run.order());
  }
  EXPECT_EQ(orders.size(), 20u);
}

TEST(CheckedWorkers, OneSeedOnOneThreadIsOneOrder) {
  PlanBuilder b = singleProgramPlan();
  fb::ProgramT &p = *b.plan.steps[0]->programs[0];
  uint32_t make = b.kernel("squares", 8, {64}, {true});
  for (uint32_t i = 0; i < 12; ++i)
    b.command(p, make, {b.arena(64)});
  auto orderOf = [&](uint64_t seed) {
    Checked run(b.plan, 1, {false, seed});
    run.run();
    run.run();
    return run.order();
  };
  EXPECT_EQ(orderOf(3), orderOf(3));
  EXPECT_NE(orderOf(3), orderOf(4));
}
