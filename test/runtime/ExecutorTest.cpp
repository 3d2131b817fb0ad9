#include "runtime/exec/Executor.h"
#include "runtime/exec/Cpu.h"
#include "test/runtime/TestPlan.h"

#include <bit>
#include <cstring>
#include <ctime>

using namespace dlrt;
using namespace dlrt::test;

namespace {

struct Ready {
  Bytes file;
  LoadedPlan loaded;
  std::unique_ptr<Executor> executor;

  Ready(const fb::PlanT &plan, unsigned threads)
      : file(seal(plan)), loaded(mustLoad(file)) {
    auto created = Executor::create(loaded, {threads, "", false, {}});
    EXPECT_TRUE(created) << created.status().message();
    executor = std::move(*created);
  }
  Status run(Launch launch = {}) {
    return executor->wait(executor->submit(launch)).takeError();
  }
  const int64_t *words(uint32_t buffer) {
    return reinterpret_cast<int64_t *>(executor->arenaAddress(buffer));
  }
};

constexpr uint64_t tiles = 1000;

/// squares -> two independent additions -> one that joins them.
struct Diamond {
  PlanBuilder b = singleProgramPlan();
  uint32_t squares, left, right, joined;

  explicit Diamond(bool serial = false) {
    uint64_t bytes = tiles * 8;
    squares = b.arena(bytes);
    left = b.arena(bytes);
    right = b.arena(bytes);
    joined = b.arena(bytes);
    fb::ProgramT &p = *b.plan.steps[0]->programs[0];
    uint32_t make = b.kernel("squares", tiles, {bytes}, {true});
    uint32_t add =
        b.kernel("add", tiles, {bytes, bytes, bytes}, {false, false, true});
    b.command(p, make, {squares}, {}, serial);
    b.command(p, add, {squares, squares, left}, {0}, serial);
    b.command(p, add, {squares, squares, right}, {0}, serial);
    b.command(p, add, {left, right, joined}, {1, 2}, serial);
  }
};

} // namespace

/// A copy of an odd number of bytes between odd places, longer than a tile.
TEST(Executor, CopiesRun) {
  constexpr uint64_t words = 40000, bytes = words * 8;
  for (unsigned threads : {1u, 3u})
    for (bool serial : {false, true}) {
      PlanBuilder b = singleProgramPlan();
      uint32_t made = b.arena(bytes), copied = b.arena(bytes + 8);
      uint32_t ramp = b.kernel("ramp", words, {bytes}, {true});
      b.plan.kernels[ramp]->constants = {{0, 0, 1}, {1, 1, 1}};
      fb::ProgramT &program = *b.plan.steps[0]->programs[0];
      b.command(program, ramp, {made});
      launchOf(*program.commands[0]).constants = {0, 1};
      b.copy(program, fb::Range(made, 11, bytes - 100),
             fb::Range(copied, 5, bytes - 100), {0}, serial);
      b.copy(program, fb::Range(made, 0, 0), fb::Range(copied, 0, 0), {1});
      Ready ready(b.plan, threads);
      ASSERT_TRUE(ready.run().ok());
      const uint8_t *from = ready.executor->arenaAddress(made);
      const uint8_t *to = ready.executor->arenaAddress(copied);
      EXPECT_EQ(std::memcmp(from + 11, to + 5, bytes - 100), 0);
      for (uint64_t i = 0; i < 5; ++i)
        EXPECT_EQ(to[i], 0);
      for (uint64_t i = bytes - 95; i < bytes; ++i)
        EXPECT_EQ(to[i], 0);
    }
}

TEST(Executor, OtherRanksThanTheMeshHasAreRefused) {
  PlanBuilder b = singleProgramPlan();
  b.axis("dp", 2);
  Bytes file = seal(b);
  LoadedPlan loaded = mustLoad(file);
  for (Ranks ranks : {Ranks{0, 1, 1}, Ranks{0, 2, 4}, Ranks{1, 2, 2},
                      Ranks{2, 1, 2}, Ranks{0, 0, 2}}) {
    auto created = Executor::create(loaded, {1, "", false, {}, ranks, {}});
    ASSERT_FALSE(created);
    EXPECT_EQ(created.status().code(), Code::Plan);
    EXPECT_NE(created.status().message().find("the plan is for 2 ranks"),
              std::string::npos);
  }
}

TEST(Executor, EachLaunchHasItsConstants) {
  for (unsigned threads : {1u, 3u}) {
    PlanBuilder b = singleProgramPlan();
    uint64_t bytes = tiles * 8;
    uint32_t ramp = b.kernel("ramp", tiles, {bytes}, {true});
    b.plan.kernels[ramp]->constants = {{-100, 100, 1}, {0, 8, 2}};
    uint32_t up = b.arena(bytes), down = b.arena(bytes), none = b.arena(8);
    fb::ProgramT &program = *b.plan.steps[0]->programs[0];
    b.command(program, ramp, {up});
    b.command(program, b.kernel("bare", 1, {8}, {true}), {none});
    b.command(program, ramp, {down});
    launchOf(*program.commands[0]).constants = {5, 2};
    launchOf(*program.commands[2]).constants = {-7, 8};
    Ready ready(b.plan, threads);
    ASSERT_TRUE(ready.run().ok());
    for (uint64_t i = 0; i < tiles; ++i) {
      EXPECT_EQ(ready.words(up)[i], int64_t(5 + i * 2));
      EXPECT_EQ(ready.words(down)[i], int64_t(-7 + int64_t(i) * 8));
    }
    EXPECT_EQ(ready.words(none)[0], 1);
  }
}

TEST(Executor, SettingsAreReadInEachLaunch) {
  PlanBuilder b = singleProgramPlan();
  for (auto [name, value] :
       {std::pair("optim.lr", 0.5), {"optim.beta1", 3.0}}) {
    auto setting = std::make_unique<fb::SettingT>();
    setting->name = name;
    setting->value = value;
    b.plan.settings.push_back(std::move(setting));
  }
  uint32_t scalars = b.scalars(), product = b.arena(8);
  b.plan.buffers[scalars]->bytes = 80;
  b.command(*b.plan.steps[0]->programs[0],
            b.kernel("multiply_settings", 1, {80, 8}, {false, true}),
            {scalars, product});
  Ready ready(b.plan, 1);
  auto result = [&] {
    EXPECT_TRUE(ready.run().ok());
    return std::bit_cast<double>(ready.words(product)[0]);
  };
  EXPECT_EQ(result(), 1.5);
  ready.executor->setSetting(0, 0.25);
  EXPECT_EQ(result(), 0.75);
  EXPECT_EQ(result(), 0.75);
}

TEST(Executor, AnyNumberOfThreadsGivesTheSame) {
  for (unsigned threads : {1u, 2u, 3u, 8u})
    for (bool serial : {false, true}) {
      Diamond d(serial);
      Ready ready(d.b.plan, threads);
      for (int round = 0; round < 200; ++round) {
        std::memset(ready.executor->arenaAddress(d.joined), 0, tiles * 8);
        ASSERT_TRUE(ready.run().ok());
        for (uint64_t i = 0; i < tiles; ++i)
          ASSERT_EQ(ready.words(d.joined)[i], int64_t(4 * i * i))
              << threads << " threads, round " << round;
      }
      uint64_t total = 0;
      for (uint64_t count : ready.executor->tilesPerThread())
        total += count;
      EXPECT_EQ(total, 200 * 4 * tiles);
    }
}

TEST(Executor, AllThreadsTakePart) {
  PlanBuilder b = singleProgramPlan();
  uint32_t out = b.arena(64 * 8);
  b.command(*b.plan.steps[0]->programs[0],
            b.kernel("spin", 64, {64 * 8}, {true}), {out});
  Ready ready(b.plan, 2);
  // On a loaded machine the helper may need some rounds to get a core.
  std::vector<uint64_t> counts;
  for (int round = 0; round < 1000; ++round) {
    ASSERT_TRUE(ready.run().ok());
    counts = ready.executor->tilesPerThread();
    if (counts[0] != 0 && counts[1] != 0)
      break;
  }
  EXPECT_GT(counts[0], 0u);
  EXPECT_GT(counts[1], 0u);
}

TEST(Executor, SleepersWakeUp) {
  Diamond d;
  Ready ready(d.b.plan, 3);
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(ready.run().ok());
    struct timespec pause = {0, 2'000'000}; // longer than helpers spin
    nanosleep(&pause, nullptr);
  }
  EXPECT_EQ(ready.words(d.joined)[7], 196);
}

TEST(Executor, WideGraph) {
  // 300 independent commands, each followed by one that reads it.
  PlanBuilder b = singleProgramPlan();
  fb::ProgramT &p = *b.plan.steps[0]->programs[0];
  uint32_t make = b.kernel("squares", 8, {64}, {true});
  uint32_t add = b.kernel("add", 8, {64, 64, 64}, {false, false, true});
  std::vector<uint32_t> sums;
  for (uint32_t i = 0; i < 300; ++i) {
    uint32_t from = b.arena(64);
    sums.push_back(b.arena(64));
    b.command(p, make, {from});
    b.command(p, add, {from, from, sums.back()}, {2 * i}, i % 2 == 0);
  }
  for (unsigned threads : {1u, 4u}) {
    Ready ready(b.plan, threads);
    for (int round = 0; round < 50; ++round)
      ASSERT_TRUE(ready.run().ok());
    for (uint32_t sum : sums)
      ASSERT_EQ(ready.words(sum)[7], 98);
  }
}

TEST(Executor, PassesScalars) {
  PlanBuilder b = singleProgramPlan();
  uint32_t copy = b.arena(64), scalars = b.scalars();
  b.command(*b.plan.steps[0]->programs[0],
            b.kernel("copy_scalars", 1, {64, 64}, {false, true}),
            {scalars, copy});
  Ready ready(b.plan, 1);
  Launch launch;
  launch.scalars = {11, 12, 13, 14, 15};
  ASSERT_TRUE(ready.run(launch).ok());
  EXPECT_EQ(ready.words(copy)[0], 11);
  EXPECT_EQ(ready.words(copy)[4], 15);
}

TEST(Executor, QueueKeepsItsOrder) {
  PlanBuilder b = singleProgramPlan();
  uint32_t copy = b.arena(64), scalars = b.scalars();
  b.command(*b.plan.steps[0]->programs[0],
            b.kernel("copy_scalars", 1, {64, 64}, {false, true}),
            {scalars, copy});
  Ready ready(b.plan, 1);
  Launch launch;
  Ticket last = 0;
  for (int64_t i = 1; i <= 10; ++i) {
    launch.scalars[0] = i;
    last = ready.executor->submit(launch);
  }
  ASSERT_TRUE(ready.executor->wait(last));
  EXPECT_EQ(ready.words(copy)[0], 10);
}

TEST(Executor, ErrorFlagsNameTheirOp) {
  PlanBuilder b = singleProgramPlan();
  fb::ProgramT &p = *b.plan.steps[0]->programs[0];
  uint32_t in = b.input(0, 16), flag = b.arena(4);
  b.command(p, b.kernel("check_positive", 1, {16, 4}, {false, true}),
            {in, flag});
  auto error = std::make_unique<fb::ErrorFlagT>();
  error->buffer = flag;
  error->message = "value below zero";
  error->source = b.source("check", "loss", "model.dl:9:3");
  p.errors.push_back(std::move(error));
  Ready ready(b.plan, 2);
  float *x = reinterpret_cast<float *>(ready.executor->inputAddress({0, 0, 0}));
  EXPECT_TRUE(ready.run().ok());
  x[2] = -1;
  Status status = ready.run();
  EXPECT_EQ(status.code(), Code::Training);
  EXPECT_EQ(status.message(),
            "value below zero (check in 'loss' at model.dl:9:3)");
  x[2] = 1;
  EXPECT_TRUE(ready.run().ok()) << "an error is that launch's alone";
}

TEST(Executor, InputSlotsAreSeparate) {
  PlanBuilder b = regressionPlan(8);
  Ready ready(b.plan, 1);
  uint32_t slots = ready.executor->inputSlots(0);
  EXPECT_GE(slots, 4u);
  for (uint32_t slot = 0; slot < slots; ++slot)
    for (size_t c : {0, 1}) {
      uint8_t *at = ready.executor->inputAddress({0, slot, c});
      EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % 64, 0u);
      std::memset(at, int(slot), c == 0 ? 48 : 16);
    }
  for (uint32_t slot = 0; slot < slots; ++slot)
    EXPECT_EQ(ready.executor->inputAddress({0, slot, 0})[47], slot);
}

TEST(Executor, AllThreadsRoundTheSameWay) {
  PlanBuilder b = singleProgramPlan();
  uint32_t out = b.arena(400);
  b.command(*b.plan.steps[0]->programs[0],
            b.kernel("control_word", 100, {400}, {true}), {out});
  unsigned before = __builtin_ia32_stmxcsr();
  unsigned flushing = before | 0x8040; // denormals, as some hosts do
  __builtin_ia32_ldmxcsr(flushing);
  Ready ready(b.plan, 2);
  Status status = ready.run();
  unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(after, flushing) << "the caller keeps its own mode";
  auto *words = reinterpret_cast<uint32_t *>(ready.executor->arenaAddress(out));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(words[i], 0x1f80u);
}

TEST(Executor, RefusesMissingKernels) {
  Diamond d;
  d.b.plan.kernels[0]->variants[0]->entry = "no_such_kernel";
  Bytes file = seal(d.b.plan);
  LoadedPlan loaded = mustLoad(file);
  auto created = Executor::create(loaded, {});
  ASSERT_FALSE(created);
  EXPECT_EQ(created.status().code(), Code::Plan);
  EXPECT_NE(created.status().message().find("no_such_kernel"),
            std::string::npos);
}

TEST(Executor, RefusesImpossibleMemory) {
  Diamond d;
  d.b.plan.arena_bytes = uint64_t(1) << 59;
  Bytes file = seal(d.b.plan);
  LoadedPlan loaded = mustLoad(file);
  auto created = Executor::create(loaded, {});
  ASSERT_FALSE(created);
  EXPECT_EQ(created.status().code(), Code::Unavailable);
}

/// VDPBF16PS is for those that have no AMX, unless there is nothing else.
TEST(Executor, ChoosesAmongVariantsForBf16) {
  Diamond d;
  fb::PlanT &plan = d.b.plan;
  plan.images.resize(2);
  plan.images[0]->features = "x86-64-v4+avx512bf16";
  plan.images[1]->features = "x86-64-v4";
  auto level = [&](const std::string &wanted) {
    auto choice = chooseImage(plan, wanted);
    return choice ? plan.images[*choice]->features : "none";
  };
  if (!cpuSupports("x86-64-v4+avx512bf16"))
    GTEST_SKIP() << "the processor has no AVX512-BF16";
  bool amx = cpuSupports("x86-64-v4+amxbf16");
  EXPECT_EQ(level(""), amx ? "x86-64-v4" : "x86-64-v4+avx512bf16");
  EXPECT_EQ(level("v4+avx512bf16"), "x86-64-v4+avx512bf16");
  plan.images.pop_back();
  EXPECT_EQ(level(""), "x86-64-v4+avx512bf16");
  plan.images[0]->features = "x86-64-v4+amxbf16";
  EXPECT_EQ(level(""), amx ? "x86-64-v4+amxbf16" : "none");
}

TEST(Executor, ChoosesTheVariant) {
  Diamond d;
  fb::PlanT &plan = d.b.plan;
  auto level = [&](const std::string &wanted) {
    auto choice = chooseImage(plan, wanted);
    return choice ? plan.images[*choice]->features : "none";
  };
  EXPECT_EQ(level(""), cpuSupports("x86-64-v4")   ? "x86-64-v4"
                       : cpuSupports("x86-64-v3") ? "x86-64-v3"
                                                  : "x86-64");
  if (cpuSupports("x86-64-v3")) {
    EXPECT_EQ(level("v3"), "x86-64-v3");
  }
  plan.images.erase(plan.images.begin(), plan.images.begin() + 2);
  EXPECT_EQ(level(""), "x86-64");
  EXPECT_EQ(level("v4"), "none");
  plan.images[0]->features = "riscv";
  auto none = chooseImage(plan, "");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.status().code(), Code::Plan);
}
