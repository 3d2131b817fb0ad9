#include "runtime/train/Evaluation.h"
#include "runtime/train/StepRunner.h"
#include "test/runtime/TestPlan.h"

#include <cmath>
#include <cstring>

using namespace dlrt;
using namespace dlrt::test;

namespace {

/// A regression on disk, opened.
struct OpenRun {
  TemporaryFolder folder;
  std::unique_ptr<Session> session;

  OpenRun(uint64_t items, uint32_t accumulate, unsigned threads = 1) {
    writeRegressionData(folder, items);
    std::string path = folder.path("model.plan");
    writeFile(path, seal(regressionPlan(items, accumulate).plan));
    SessionOptions options;
    options.threads = threads;
    options.data = {folder.string()};
    auto opened = Session::open(path, options);
    EXPECT_TRUE(opened) << opened.status().message();
    session = std::move(*opened);
    std::vector<std::string> warnings;
    EXPECT_TRUE(session->beginStates(warnings).ok());
  }
  std::unique_ptr<StepRunner> runner(RunLength length) {
    auto created = StepRunner::create(*session, length);
    EXPECT_TRUE(created) << created.status().message();
    return std::move(*created);
  }
  std::vector<float> weights() {
    std::vector<float> w(3);
    uint32_t buffer = session->plan().states[0]->buffer;
    std::span<uint8_t> bytes(reinterpret_cast<uint8_t *>(w.data()), 12);
    EXPECT_TRUE(session->device().read({buffer}, bytes).ok());
    return w;
  }
};

/// The same training in plain code, f64.
struct Twin {
  double w[3] = {0, 0, 0};

  static void item(uint64_t i, double *x, double &y) {
    x[0] = double(i % 5) / 4;
    x[1] = double(i % 3) / 2 - 0.5;
    x[2] = double(i % 7) / 6;
    y = x[0] - 2 * x[1] + 3 * x[2];
  }
  double step(uint64_t begin, uint64_t end) {
    double g[3] = {0, 0, 0}, loss = 0;
    for (uint64_t i = begin; i < end; ++i) {
      double x[3], y;
      item(i, x, y);
      double r = x[0] * w[0] + x[1] * w[1] + x[2] * w[2] - y;
      loss += r * r / double(end - begin);
      for (int k = 0; k < 3; ++k)
        g[k] += 2 * r * x[k] / double(end - begin);
    }
    for (int k = 0; k < 3; ++k)
      w[k] -= 0.1 * g[k];
    return loss;
  }
};

} // namespace

TEST(Training, MatchesPlainCodeWithAShortLastBatch) {
  OpenRun run(10, 1);
  auto runner = run.runner({std::nullopt, 30});
  EXPECT_EQ(runner->first().perEpoch(), 3u);
  EXPECT_EQ(runner->totalSteps(), 90u);
  Twin twin;
  for (uint64_t s = 0; s < 90; ++s) {
    ASSERT_TRUE(runner->run().ok());
    uint64_t begin = s % 3 * 4;
    double loss = twin.step(begin, std::min<uint64_t>(begin + 4, 10));
    EXPECT_NEAR(runner->scalars()[0].value, loss, 1e-5);
    EXPECT_EQ(runner->epoch(), s / 3);
    EXPECT_EQ(runner->epochEnded(), s % 3 == 2);
    EXPECT_EQ(runner->lastItems(), s % 3 == 2 ? 2u : 4u);
  }
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(run.weights()[k], twin.w[k], 1e-4);
}

TEST(Training, AccumulatedGroupsAreMeansOverTheirItems) {
  // Batches of 4, 4, 2 in groups of two: steps over 8 and over 2 items.
  OpenRun run(10, 2);
  auto runner = run.runner({std::nullopt, 2});
  EXPECT_EQ(runner->first().perEpoch(), 2u);
  Twin twin;
  for (uint64_t epoch = 0; epoch < 2; ++epoch)
    for (auto [begin, end] : {std::pair(0, 8), std::pair(8, 10)}) {
      ASSERT_TRUE(runner->run().ok());
      EXPECT_NEAR(runner->scalars()[0].value, twin.step(begin, end), 1e-5);
      EXPECT_EQ(runner->lastItems(), uint64_t(end - begin));
      for (int k = 0; k < 3; ++k)
        EXPECT_NEAR(run.weights()[k], twin.w[k], 1e-5);
    }
}

TEST(Training, StepsEndWithinAnEpoch) {
  OpenRun run(10, 2);
  auto runner = run.runner({3, 1});
  EXPECT_EQ(runner->totalSteps(), 3u);
  for (int s = 0; s < 3; ++s)
    ASSERT_TRUE(runner->run().ok());
  EXPECT_EQ(runner->epoch(), 1u);
}

TEST(Training, MetricsOfAnyShape) {
  OpenRun run(8, 1);
  auto runner = run.runner({1, 1});
  ASSERT_TRUE(runner->run().ok());
  auto all = runner->last().allMetrics();
  ASSERT_TRUE(all) << all.status().message();
  const std::vector<MetricValues> &metrics = *all;
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[1].name, "w.grad");
  EXPECT_EQ(metrics[1].shape, (std::vector<uint64_t>{3}));
  float gradient;
  std::memcpy(&gradient, metrics[1].data.data(), 4);
  EXPECT_NEAR(run.weights()[0], -0.1 * gradient, 1e-6);
}

TEST(Training, ThreadsDoNotChangeTheBits) {
  OpenRun one(10, 1, 1), three(10, 1, 3);
  for (OpenRun *run : {&one, &three}) {
    auto runner = run->runner({50, 1});
    for (int s = 0; s < 50; ++s)
      ASSERT_TRUE(runner->run().ok());
  }
  EXPECT_EQ(one.weights(), three.weights());
}

TEST(Evaluation, IsAMeanOverItems) {
  OpenRun run(10, 1);
  auto result = evaluate(*run.session, 1, {}, [] { return true; });
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->name, "test");
  EXPECT_EQ(result->items, 10u);
  double expected = 0;
  for (uint64_t i = 0; i < 10; ++i) {
    double x[3], y;
    Twin::item(i, x, y);
    expected += y * y / 10; // the weights are zero
  }
  EXPECT_NEAR(result->metrics[0].value, expected, 1e-5);
}

TEST(Evaluation, CanBeStopped) {
  OpenRun run(10, 1);
  int batches = 0;
  auto result = evaluate(*run.session, 1, {}, [&] { return batches++ < 1; });
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->complete);
  EXPECT_EQ(result->items, 4u);
}

TEST(Session, UnderstandsDataArguments) {
  TemporaryFolder folder;
  writeRegressionData(folder, 10);
  std::string path = folder.path("model.plan");
  writeFile(path, seal(regressionPlan(10).plan));
  auto attempt = [&](std::vector<std::string> data) {
    SessionOptions options;
    options.data = std::move(data);
    auto session = Session::open(path, options);
    if (!session)
      return session.status().message();
    return (*session)->openData(0).message();
  };
  std::string root = folder.string();
  EXPECT_EQ(attempt({root}), "");
  EXPECT_EQ(attempt({"train=" + root}), "");
  EXPECT_EQ(attempt({root + "/x.npy," + root + "/y.npy"}), "");
  EXPECT_EQ(attempt({"test=" + root}), "") << "those beside the plan";
  EXPECT_NE(attempt({"train=/nowhere"}).find("/nowhere"), std::string::npos);
  EXPECT_NE(attempt({"tset=" + root}).find("did you mean 'test'?"),
            std::string::npos);
  EXPECT_NE(attempt({root + "/x.npy"}).find("1 files, the data set has 2"),
            std::string::npos);
}
