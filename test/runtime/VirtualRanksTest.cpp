// All ranks of a mesh in one process.
#include "runtime/state/Parts.h"
#include "runtime/train/Training.h"
#include "test/runtime/LazyDevice.h"
#include "test/runtime/ParallelPlan.h"

#include <chrono>
#include <sys/resource.h>

using namespace dlrt;
using namespace dlrt::test;

namespace {

DeviceOptions withThreads(unsigned threads, uint32_t ranks) {
  DeviceOptions options;
  options.threads = threads;
  options.ranks = {0, ranks, ranks};
  return options;
}

std::unique_ptr<Executor> mustCreate(const LoadedPlan &loaded,
                                     const DeviceOptions &options) {
  auto executor = Executor::create(loaded, options);
  EXPECT_TRUE(executor) << executor.status().message();
  return std::move(*executor);
}

void expectSums(const AllSums &plan, const Executor &executor) {
  for (uint32_t rank = 0; rank < executor.ranks(); ++rank) {
    auto *words = reinterpret_cast<const int64_t *>(
        executor.arenaAddress(plan.sum, rank));
    for (uint64_t i = 0; i < plan.words; i += plan.words / 7)
      ASSERT_EQ(words[i], plan.expected(i)) << "rank " << rank << " at " << i;
  }
}

double cpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval &t) {
    return static_cast<double>(t.tv_sec) +
           1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

} // namespace

TEST(VirtualRanks, ExchangeAlongEachAxis) {
  // 20,000 words are three tiles of a copy.
  for (uint64_t words : {8, 20000})
    for (const Mesh &mesh : {Mesh{{{"dp", 2}}}, Mesh{{{"dp", 2}, {"tp", 2}}},
                             Mesh{{{"dp", 3}, {"pp", 1}, {"tp", 2}}}})
      for (unsigned threads : {1u, 2u, 4u}) {
        Mesh used = mesh;
        std::erase_if(used.axes, [](auto &axis) { return axis.size == 1; });
        AllSums plan(used, words);
        Bytes file = plan.file();
        LoadedPlan loaded = mustLoad(file);
        auto executor = mustCreate(loaded, withThreads(threads, used.ranks()));
        for (int run = 0; run < 20; ++run) {
          ASSERT_TRUE(executor->wait(executor->submit({})));
          expectSums(plan, *executor);
        }
      }
}

TEST(VirtualRanks, InRandomOrderAndPoisoned) {
  AllSums plan({{{"dp", 2}, {"tp", 3}}}, 20000);
  Bytes file = plan.file();
  LoadedPlan loaded = mustLoad(file);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    DeviceOptions options = withThreads(3, 6);
    options.checks.poison = true;
    options.checks.orderSeed = seed;
    auto executor = mustCreate(loaded, options);
    for (int run = 0; run < 3; ++run) {
      ASSERT_TRUE(executor->wait(executor->submit({})));
      expectSums(plan, *executor);
    }
  }
}

TEST(VirtualRanks, ManyRanksOnFewThreads) {
  AllSums plan({{{"dp", 64}}}, 100);
  Bytes file = plan.file();
  LoadedPlan loaded = mustLoad(file);
  auto executor = mustCreate(loaded, withThreads(2, 64));
  for (int run = 0; run < 20; ++run) {
    ASSERT_TRUE(executor->wait(executor->submit({})));
    expectSums(plan, *executor);
  }
}

TEST(VirtualRanks, EachRankHasBuffersOfItsOwn) {
  ParallelRegression plan(10);
  Bytes file = plan.file();
  LoadedPlan loaded = mustLoad(file);
  auto executor = mustCreate(loaded, withThreads(1, 2));
  EXPECT_EQ(executor->ranks(), 2u);
  uint32_t w = loaded.of(1).states[0]->buffer;
  Bytes two(8, 1), one(4, 2), back(4);
  EXPECT_TRUE(executor->write({w, 0, 0}, two).ok());
  EXPECT_TRUE(executor->write({w, 0, 1}, one).ok());
  EXPECT_TRUE(executor->read({w, 0, 1}, back).ok());
  EXPECT_EQ(back, one);
  EXPECT_FALSE(executor->write({w, 0, 1}, two).ok()); // it has less
  EXPECT_FALSE(executor->read({w, 0, 2}, back).ok());
  EXPECT_NE(executor->inputAddress({0, 0, 0, 0}),
            executor->inputAddress({0, 0, 0, 1}));
}

/// A link's time passes without a thread that is busy.
TEST(VirtualRanks, LinksTakeTime) {
  AllSums plan({{{"dp", 2}}}, 20000); // 160,000 bytes each way
  Bytes file = plan.file();
  LoadedPlan loaded = mustLoad(file);
  for (unsigned threads : {1u, 2u}) {
    DeviceOptions options = withThreads(threads, 2);
    options.link = LinkSpeed{0.01, 16e6};
    auto executor = mustCreate(loaded, options);
    auto begin = std::chrono::steady_clock::now();
    double cpu = cpuSeconds();
    for (int run = 0; run < 10; ++run) {
      ASSERT_TRUE(executor->wait(executor->submit({})));
      expectSums(plan, *executor);
    }
    double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    EXPECT_GE(took, 10 * 0.02);
    EXPECT_LE(cpuSeconds() - cpu, took / 2);
  }
}

/// A rank's line carries one message after the other, and is free while one is
/// on its way: two that begin at once take the time of both in bytes, and of
/// one in latency.
TEST(VirtualRanks, MessagesShareALine) {
  PlanBuilder b = singleProgramPlan();
  b.axis("dp", 2);
  b.plan.ranks = {0, 1};
  for (uint64_t order : {0, 1}) {
    fb::Range own = b.whole(b.arena(160000));
    b.exchange(*b.plan.steps[0]->programs[0], {0}, order, {{0, own}, {1, own}},
               {{0, b.whole(b.arena(160000))}, {1, b.whole(b.arena(160000))}});
  }
  Bytes file = seal(b);
  LoadedPlan loaded = mustLoad(file);
  DeviceOptions options = withThreads(1, 2);
  options.link = LinkSpeed{0.2, 4e6}; // 40 ms for the bytes of each
  auto executor = mustCreate(loaded, options);
  auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(executor->wait(executor->submit({})));
  double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  EXPECT_GE(took, 0.2 + 0.08); // in turn it would be 0.48
}

TEST(VirtualRanks, TrainLikeOneRank) {
  TemporaryFolder folder;
  writeRegressionData(folder, 10); // the last batch of an epoch has two items
  auto train = [&](const Bytes &file, const DeviceFactory &device,
                   unsigned threads, std::vector<double> &losses) {
    SessionOptions options;
    options.device = device;
    options.threads = threads;
    options.data = {folder.string()};
    auto session = Session::open(mustLoad(file), "model.plan", options);
    ASSERT_TRUE(session) << session.status().message();
    auto runner = StepRunner::create(**session, {12, 1});
    ASSERT_TRUE(runner) << runner.status().message();
    ASSERT_TRUE((*session)->initialiseStates().ok());
    for (int step = 0; step < 12; ++step) {
      Status status = (*runner)->run();
      ASSERT_TRUE(status.ok()) << status.message();
      losses.push_back((*runner)->scalars()[0].value);
    }
    auto result = evaluate(**session, 1, {}, [] { return true; });
    ASSERT_TRUE(result);
    losses.push_back(result->metrics[0].value);
  };
  std::vector<double> one, two;
  train(seal(regressionPlan(10).plan), cpuDevice, 1, one);
  train(ParallelRegression(10).file(), cpuDevice, 1, two);
  ASSERT_EQ(one.size(), 13u);
  ASSERT_EQ(two.size(), 13u);
  for (size_t i = 0; i < 13; ++i)
    EXPECT_NEAR(one[i], two[i], 1e-5 * std::max(1.0, one[i]));
  EXPECT_LT(two[12], two[0] / 4);
  for (unsigned threads : {1u, 3u})
    for (const DeviceFactory &device :
         {DeviceFactory(cpuDevice), DeviceFactory(LazyDevice::create)}) {
      std::vector<double> again;
      train(ParallelRegression(10).file(), device, threads, again);
      EXPECT_EQ(again, two);
    }
}

/// What is written is the same from any mesh, and any mesh reads it.
TEST(VirtualRanks, WeightsAndCheckpointsAreLogical) {
  TemporaryFolder folder;
  writeRegressionData(folder, 10);
  SessionOptions options;
  options.data = {folder.string()};
  auto open = [&](const Bytes &file) {
    auto session = Session::open(mustLoad(file), "model.plan", options);
    EXPECT_TRUE(session) << session.status().message();
    EXPECT_TRUE((*session)->initialiseStates().ok());
    return std::move(*session);
  };
  Bytes one = seal(regressionPlan(10).plan),
        two = ParallelRegression(10).file();
  std::string first = folder.path("first"), second = folder.path("second");
  Bytes values = floatBytes({1, 2, 3});
  ASSERT_TRUE(writeSafetensors(first, {{"w", {"F32", {3}, values}}}).ok());
  options.init = {{first, {}}};

  auto many = open(two);
  std::vector<std::string> warnings;
  ASSERT_TRUE(many->beginStates(warnings).ok());
  Bytes part(8), last(4);
  uint32_t w = many->plans().of(1).states[0]->buffer;
  ASSERT_TRUE(many->device().read({w, 0, 0}, part).ok());
  ASSERT_TRUE(many->device().read({w, 0, 1}, last).ok());
  EXPECT_EQ(part, floatBytes({1, 2}));
  EXPECT_EQ(last, floatBytes({3}));

  auto runner = StepRunner::create(*many, {3, 1});
  ASSERT_TRUE(runner);
  for (int step = 0; step < 3; ++step)
    ASSERT_TRUE((*runner)->run().ok());
  auto metrics = (*runner)->last().allMetrics();
  ASSERT_TRUE(metrics);
  ASSERT_EQ(metrics->size(), 2u);
  EXPECT_EQ((*metrics)[1].name, "w.grad");
  EXPECT_EQ((*metrics)[1].shape, (std::vector<uint64_t>{3}));
  EXPECT_EQ((*metrics)[1].data.size(), 12u);

  StateSnapshot snapshot(many->plans());
  ASSERT_TRUE(snapshot.take(many->device()).ok());
  ASSERT_TRUE(writeCheckpoint(many->plans(), second, snapshot, {}).ok());
  ASSERT_TRUE(saveWeights(many->plans(), first, many->device()).ok());
  auto whole = readWhole(partsOf(many->plans(), *many->plan().states[0]),
                         many->device());
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->size(), 12u);
  EXPECT_NE(*whole, values);

  auto checkpoint = CheckpointFile::open(second);
  ASSERT_TRUE(checkpoint) << checkpoint.status().message();
  for (const Bytes &file : {one, two}) {
    auto other = open(file);
    ASSERT_TRUE(
        restoreStates(other->plans(), *checkpoint, second, other->device())
            .ok());
    auto read = readWhole(partsOf(other->plans(), *other->plan().states[0]),
                          other->device());
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, *whole);
  }
  auto weights = SafetensorsFile::open(first);
  ASSERT_TRUE(weights);
  const SafetensorsEntry &saved = weights->tensors.at("w");
  EXPECT_EQ(Bytes(saved.data.begin(), saved.data.end()), *whole);
}

/// A matrix in six blocks, each of them stored by columns.
TEST(VirtualRanks, PartsOfAMatrix) {
  PlanSet set;
  set.mesh = {{{"a", 3}, {"b", 2}}};
  set.planOfRank.assign(6, 0);
  auto state = [&](uint32_t rank) {
    auto out = std::make_unique<fb::StateT>();
    out->name = "m";
    out->shape = {7, 5};
    for (uint32_t dim : {0u, 1u}) {
      out->split.push_back(std::make_unique<fb::DimSplitT>());
      out->split[dim]->dim = dim;
      out->split[dim]->axes = {dim};
    }
    Box box = boxOf(set.mesh, out->shape, out->split, rank);
    out->layout = {fb::PhysicalDim(1, 1, box.extent[1], box.extent[0]),
                   fb::PhysicalDim(0, 1, box.extent[0], 1)};
    return out;
  };
  struct PerRank : Buffers {
    std::map<uint32_t, Bytes> bytes;
    Status read(const BufferPlace &from,
                std::span<uint8_t> into) const override {
      const Bytes &own = bytes.at(from.rank);
      std::copy_n(own.begin(), into.size(), into.begin());
      return {};
    }
    Status write(const BufferPlace &to,
                 std::span<const uint8_t> from) override {
      bytes[to.rank].assign(from.begin(), from.end());
      return {};
    }
  } buffers;
  for (uint32_t rank = 0; rank < 6; ++rank) {
    set.planOfRank[rank] = rank;
    set.plans.push_back(std::make_unique<fb::PlanT>());
    set.plans[rank]->ranks = {rank};
    set.plans[rank]->states.push_back(state(rank));
    set.plans[rank]->buffers.push_back(std::make_unique<fb::BufferT>());
    set.plans[rank]->buffers[0]->bytes = 64;
  }
  std::vector<float> values(35);
  for (size_t i = 0; i < 35; ++i)
    values[i] = static_cast<float>(i);
  Bytes bytes = floatBytes(values);
  PartedTensor tensor = partsOf(set, *set.plans[0]->states[0]);
  ASSERT_EQ(tensor.parts.size(), 6u);
  ASSERT_TRUE(writeWhole(tensor, bytes.data(), buffers).ok());
  // Rank 5: rows from 6 on, columns from 3 on.
  EXPECT_EQ(Bytes(buffers.bytes[5].begin(), buffers.bytes[5].begin() + 8),
            floatBytes({33, 34}));
  auto whole = readWhole(tensor, buffers);
  ASSERT_TRUE(whole);
  EXPECT_EQ(*whole, bytes);
}
