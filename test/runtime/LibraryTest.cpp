// Training without the command line: the library alone, on two devices.
#include "runtime/train/Training.h"
#include "test/runtime/LazyDevice.h"
#include "test/runtime/TestPlan.h"

#include <filesystem>

using namespace dlrt;
using namespace dlrt::test;
namespace fs = std::filesystem;

namespace {

/// Notes all that it is told.
struct Notes : TrainingObserver {
  std::vector<double> losses;
  std::vector<Evaluation> evaluations;
  std::vector<uint64_t> checkpoints;
  std::vector<std::string> files, warnings;
  uint64_t stopAfter = ~uint64_t(0);
  uint64_t lasts = 0;
  Status answer;

  bool wantsToStop() override { return losses.size() + 1 >= stopAfter; }
  Status stepDone(StepRunner &runner, bool last) override {
    losses.push_back(runner.scalars()[0].value);
    lasts += last;
    return answer;
  }
  void evaluated(const Evaluation &result, TrainingPosition) override {
    evaluations.push_back(result);
  }
  void saved(const CheckpointFacts &facts, const std::string &) override {
    checkpoints.push_back(facts.step);
  }
  void wrote(const std::string &what, const std::string &) override {
    files.push_back(what);
  }
  void warning(const std::string &text) override { warnings.push_back(text); }
};

struct Library : testing::TestWithParam<DeviceFactory> {
  TemporaryFolder folder;

  Library() {
    writeRegressionData(folder, 10);
    writeFile(folder.path("model.plan"), seal(regressionPlan(10, 2).plan));
  }
  std::unique_ptr<Session> session(const DeviceFactory &device = GetParam()) {
    SessionOptions options;
    options.data = {folder.string()};
    options.device = device;
    auto opened = Session::open(folder.path("model.plan"), options);
    EXPECT_TRUE(opened) << opened.status().message();
    return std::move(*opened);
  }
  Status train(const TrainingOptions &options, Notes &notes,
               const DeviceFactory &device = GetParam()) {
    auto opened = session(device);
    Training training(*opened, options, notes);
    DLRT_TRY(training.prepare());
    return training.run();
  }
  TrainingOptions epochs(uint64_t count, const std::string &weights) {
    TrainingOptions options;
    options.epochs = count;
    options.saveFinal = folder.path(weights);
    return options;
  }
};

} // namespace

TEST_P(Library, TrainsAndEvaluates) {
  Notes notes;
  TrainingOptions options = epochs(20, "w.safetensors");
  options.saveMetrics = folder.path("m.safetensors");
  Status status = train(options, notes);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(notes.losses.size(), 40u); // batches of 4, 4, 2 in groups of two
  EXPECT_LT(notes.losses.back(), notes.losses.front() / 10);
  EXPECT_EQ(notes.lasts, 1u);
  ASSERT_EQ(notes.evaluations.size(), 20u);
  EXPECT_EQ(notes.evaluations[0].items, 10u);
  EXPECT_EQ(notes.files, (std::vector<std::string>{"weights", "metrics"}));
  EXPECT_EQ(notes.warnings, std::vector<std::string>());
}

TEST_P(Library, WritesTheBitsOfTheCpu) {
  Notes here, there;
  ASSERT_TRUE(train(epochs(7, "here.safetensors"), here).ok());
  ASSERT_TRUE(train(epochs(7, "there.safetensors"), there, cpuDevice).ok());
  EXPECT_EQ(here.losses, there.losses);
  EXPECT_EQ(readFile(folder.path("here.safetensors")),
            readFile(folder.path("there.safetensors")));
}

TEST_P(Library, ARunGoesOnToTheSameBits) {
  Notes whole, first, second;
  ASSERT_TRUE(train(epochs(6, "whole.safetensors"), whole).ok());
  TrainingOptions options = epochs(6, "parts.safetensors");
  options.run.folder = folder.path("run");
  options.run.length = "--epochs=6";
  options.checkpointEvery = 3;
  first.stopAfter = 7; // which it finds in the evaluation before
  ASSERT_TRUE(train(options, first).ok());
  EXPECT_EQ(first.losses.size(), 6u);
  EXPECT_EQ(first.evaluations.size(), 2u);
  EXPECT_EQ(first.checkpoints.back(), 6u);
  Status again = train(options, second);
  EXPECT_EQ(again.code(), Code::Usage) << "it was not told to go on";
  options.run.goesOn = true;
  ASSERT_TRUE(train(options, second).ok());
  EXPECT_EQ(second.losses.size(), 6u);
  EXPECT_EQ(second.evaluations.size(), 4u) << "the one that was stopped, too";
  EXPECT_EQ(readFile(folder.path("whole.safetensors")),
            readFile(folder.path("parts.safetensors")));
  for (const Notes *part : {&first, &second})
    EXPECT_EQ(part->warnings, std::vector<std::string>());
}

/// Steps that a device had begun ahead are run to their end, and counted.
TEST_P(Library, AStoppedRunHasTheWeightsOfItsSteps) {
  Notes stopped, whole;
  TrainingOptions options = epochs(20, "stopped.safetensors");
  options.evalEvery = 0;
  stopped.stopAfter = 3;
  ASSERT_TRUE(train(options, stopped).ok());
  EXPECT_EQ(stopped.lasts, 1u);
  EXPECT_GE(stopped.losses.size(), 3u);
  EXPECT_LE(stopped.losses.size(), 6u);
  options.steps = stopped.losses.size();
  options.saveFinal = folder.path("whole.safetensors");
  ASSERT_TRUE(train(options, whole, cpuDevice).ok());
  EXPECT_EQ(stopped.losses, whole.losses);
  EXPECT_EQ(readFile(folder.path("stopped.safetensors")),
            readFile(folder.path("whole.safetensors")));
}

TEST_P(Library, HaltsWhereItIsTold) {
  Notes notes;
  TrainingOptions options = epochs(20, "w.safetensors");
  auto condition = parseHaltCondition("loss<0.1");
  ASSERT_TRUE(condition);
  options.haltOn = {*condition};
  Status status = train(options, notes);
  EXPECT_EQ(status.code(), Code::Training);
  EXPECT_NE(status.message().find("(--halt-on loss<0.1)"), std::string::npos);
  EXPECT_LT(notes.losses.back(), 0.1);
  options.haltOn.clear();
  options.steps = notes.losses.size();
  options.saveFinal = folder.path("whole.safetensors");
  ASSERT_TRUE(train(options, notes).ok());
  EXPECT_EQ(readFile(folder.path("w.safetensors")),
            readFile(folder.path("whole.safetensors")));
}

TEST_P(Library, AnErrorOfItsObserverEndsIt) {
  Notes notes;
  notes.answer = {Code::Io, "the pipe is closed"};
  Status status = train(epochs(20, "w.safetensors"), notes);
  EXPECT_EQ(status.message(), "the pipe is closed");
  EXPECT_EQ(notes.losses.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    , Library, testing::Values<DeviceFactory>(cpuDevice, LazyDevice::create),
    [](const auto &info) { return info.index == 0 ? "Cpu" : "Lazy"; });

TEST(Session, HasTheRanksOfItsPlan) {
  TemporaryFolder folder;
  writeRegressionData(folder, 10);
  Bytes file = seal(regressionPlan(10).plan);
  SessionOptions options;
  options.ranks = {1, 1, 2};
  auto session = Session::open(mustLoad(file), "model.plan", options);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.status().code(), Code::Plan);
  EXPECT_EQ(session.status().message(),
            "model.plan: the plan is for 1 rank, not for 2");
}
