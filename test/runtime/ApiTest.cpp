// dlrun.h: plans as functions of arrays in memory, and what it refuses.
#include "runtime/api/dlrun.hpp"
#include "runtime/train/Training.h"
#include "test/runtime/TestPlan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>

using namespace dlrt;
using namespace dlrt::test;
using testing::HasSubstr;

namespace {

struct Losses : TrainingObserver {
  std::vector<double> train, test;

  Status stepDone(StepRunner &runner, bool) override {
    train.push_back(runner.scalars()[0].value);
    return {};
  }
  void evaluated(const Evaluation &result, TrainingPosition) override {
    test.push_back(result.metrics[0].value);
  }
};

/// Ten items, an epoch of which is an update of two batches of 4, and one of
/// the batch of 2 that is left.
struct Api : testing::Test {
  TemporaryFolder folder;
  std::vector<float> x, y;
  std::string plan = folder.path("model.plan");

  Api() {
    writeRegressionData(folder, 10);
    auto floats = [&](const char *name, size_t count) {
      Bytes file = readFile(folder.path(name));
      std::vector<float> values(count);
      std::memcpy(values.data(), file.data() + file.size() - 4 * count,
                  4 * count);
      return values;
    };
    x = floats("x.npy", 30);
    y = floats("y.npy", 10);
    writeFile(plan, seal(regressionPlan(10, 2).plan));
  }

  /// What dlrun does.
  Losses trained(uint64_t epochs) {
    SessionOptions options;
    options.shuffle = false;
    auto session = Session::open(plan, options);
    EXPECT_TRUE(session) << session.status().message();
    TrainingOptions wanted;
    wanted.epochs = epochs;
    wanted.saveFinal = folder.path("dlrun.safetensors");
    Losses losses;
    Training training(**session, wanted, losses);
    EXPECT_TRUE(training.prepare().ok());
    EXPECT_TRUE(training.run().ok());
    return losses;
  }

  /// An epoch by the library.
  Losses epoch(dlrun::Model &model) {
    Losses losses;
    dlrun::Step train = model.step("train");
    for (size_t first : {0, 8}) {
      size_t count = first == 0 ? 8 : 2;
      losses.train.push_back(train({{x.data() + 3 * first, 3 * count},
                                    {y.data() + first, count}})["loss"]
                                 .item());
    }
    losses.test.push_back(model.step("test")({x, y})["loss"].item());
    return losses;
  }
};

/// What a call throws.
template <typename Call> std::string refusal(dlrun_status status, Call call) {
  try {
    call();
  } catch (const dlrun::Error &error) {
    EXPECT_EQ(error.status(), status) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "it was accepted";
  return "";
}

} // namespace

TEST_F(Api, TrainsAndEvaluatesAsDlrunDoes) {
  Losses expected = trained(3), seen;
  dlrun::Model model(plan, {1});
  for (int e = 0; e < 3; ++e) {
    Losses one = epoch(model);
    seen.train.insert(seen.train.end(), one.train.begin(), one.train.end());
    seen.test.insert(seen.test.end(), one.test.begin(), one.test.end());
  }
  EXPECT_EQ(seen.train, expected.train);
  EXPECT_EQ(seen.test, expected.test);
  EXPECT_EQ(model.updates(), 6u);
  model.save_weights(folder.path("api.safetensors"));
  EXPECT_EQ(readFile(folder.path("api.safetensors")),
            readFile(folder.path("dlrun.safetensors")));
}

TEST_F(Api, SaysWhatAPlanHas) {
  dlrun::Model model(plan);
  ASSERT_EQ(model.steps().size(), 2u);
  dlrun::Step train = model.step("train"), test = model.steps()[1];
  EXPECT_EQ(train.kind(), DLRUN_TRAIN);
  EXPECT_EQ(train.batch_size(), 4u);
  EXPECT_EQ(train.update_items(), 8u);
  ASSERT_EQ(train.inputs().size(), 2u);
  EXPECT_EQ(train.inputs()[0].name, "x");
  EXPECT_EQ(train.inputs()[0].dtype, DLRUN_F32);
  EXPECT_EQ(train.inputs()[0].shape, std::vector<uint64_t>{3});
  EXPECT_EQ(train.inputs()[0].role, DLRUN_INPUT);
  EXPECT_EQ(train.inputs()[1].name, "y");
  EXPECT_EQ(train.inputs()[1].elements(), 1u);
  EXPECT_EQ(train.outputs()[0].name, "loss");
  EXPECT_EQ(test.name(), "test");
  EXPECT_EQ(test.kind(), DLRUN_EVAL);
}

TEST_F(Api, APlanInMemoryIsTheSame) {
  Losses expected = trained(1);
  Bytes file = readFile(plan);
  file.insert(file.begin(), 0); // at an odd address
  dlrun::Model model =
      dlrun::Model::from_bytes(file.data() + 1, file.size() - 1);
  std::ranges::fill(file, 0);
  EXPECT_EQ(epoch(model).train, expected.train);
  EXPECT_THAT(
      refusal(DLRUN_WRONG_PLAN,
              [&] { dlrun::Model::from_bytes(file.data(), file.size()); }),
      HasSubstr("the plan in memory: "));
}

TEST_F(Api, ConvertsWhatDlrunConverts) {
  dlrun::Model one(plan), two(plan);
  std::vector<double> wide(x.begin(), x.begin() + 24);
  auto narrow = one.step("train")({{x.data(), 24}, {y.data(), 8}});
  auto converted = two.step("train")({wide, {y.data(), 8}});
  EXPECT_EQ(narrow["loss"].item(), converted["loss"].item());
}

TEST_F(Api, RefusesWhatDoesNotFit) {
  dlrun::Model model(plan);
  dlrun::Step train = model.step("train"), test = model.step("test");
  auto refused = [](auto call) { return refusal(DLRUN_WRONG_USE, call); };
  EXPECT_EQ(refused([&] { model.step("tset"); }),
            "the plan has no step 'tset'; did you mean 'test'?; it has "
            "'train', 'test'");
  EXPECT_EQ(refused([&] { train({{x.data(), 24}, {y.data(), 7}}); }),
            "train: 'y' has 7 elements; 8 items of [] are 8");
  EXPECT_EQ(refused([&] { train({{x.data(), 25}, {y.data(), 8}}); }),
            "train: 'x' has 25 elements; 8 items of [3] are 24");
  EXPECT_EQ(refused([&] { train({{x.data(), 24}}); }),
            "train: 'y' is read, and no array is given");
  EXPECT_EQ(refused([&] { train({x, y}); }),
            "train: 10 items; one update takes up to 8");
  EXPECT_EQ(refused([&] { train({x, y, y}); }),
            "train: 3 arrays are given, the step has 2 inputs");
  EXPECT_EQ(refused([&] { train(std::vector<dlrun::Array>()); }),
            "train: no items are given");
  std::vector<int32_t> whole(24);
  EXPECT_EQ(refused([&] { train({whole, {y.data(), 8}}); }),
            "train: 'x' is f32, and i32 is given");
  EXPECT_EQ(refused([&] { train({{x.data(), 9}, {y.data(), 3}}); }),
            "train: 3 items; the plan has programs for batches of 4 and 2");
  EXPECT_EQ(refused([&] { test({x, y})["los"]; }),
            "there is no result 'los'; there are 'loss'");
  double small;
  dlrun_array arrays[] = {{x.data(), 24, DLRUN_F32}, {y.data(), 8, DLRUN_F32}};
  dlrun_buffer room = {&small, 7};
  EXPECT_EQ(dlrun_run(model.handle(), 0, arrays, 2, 8, &room, 1),
            DLRUN_WRONG_USE);
  EXPECT_STREQ(dlrun_error(), "train: 'loss' has 8 bytes, there is room for 7");
  EXPECT_EQ(dlrun_run(model.handle(), 2, arrays, 2, 8, nullptr, 0),
            DLRUN_WRONG_USE);
  EXPECT_EQ(dlrun_run(model.handle(), 0, nullptr, 2, 8, nullptr, 0),
            DLRUN_WRONG_USE);
  EXPECT_EQ(dlrun_run(nullptr, 0, arrays, 2, 8, nullptr, 0), DLRUN_WRONG_USE);
  EXPECT_EQ(dlrun_run(model.handle(), 0, arrays, 2, ~size_t(0), nullptr, 0),
            DLRUN_WRONG_USE);
  EXPECT_EQ(model.updates(), 0u) << "nothing was done";
}

TEST_F(Api, GoesOnFromACheckpoint) {
  Losses expected = trained(4), seen;
  dlrun::Model first(plan);
  epoch(first);
  epoch(first);
  first.save_checkpoint(folder.path("c.safetensors"));
  dlrun::Model second(plan, {1, 77});
  second.load_checkpoint(folder.path("c.safetensors"));
  EXPECT_EQ(second.updates(), 4u);
  epoch(second);
  epoch(second);
  second.save_weights(folder.path("api.safetensors"));
  EXPECT_EQ(readFile(folder.path("api.safetensors")),
            readFile(folder.path("dlrun.safetensors")));
  EXPECT_THAT(refusal(DLRUN_WRONG_FILE,
                      [&] { second.load_checkpoint(folder.path("none")); }),
              HasSubstr("none"));
}

TEST_F(Api, ReadsAndWritesStates) {
  trained(2);
  dlrun::Model model(plan), other(plan);
  model.load_weights(folder.path("dlrun.safetensors"));
  std::vector<dlrun::TensorInfo> states = model.states();
  ASSERT_FALSE(states.empty());
  for (const dlrun::TensorInfo &state : states)
    other.write(state.name, model.read(state.name));
  other.save_weights(folder.path("other.safetensors"));
  EXPECT_EQ(readFile(folder.path("other.safetensors")),
            readFile(folder.path("dlrun.safetensors")));
  float none[64];
  EXPECT_EQ(dlrun_read_state(model.handle(), states[0].name.c_str(), none, 1),
            DLRUN_WRONG_USE);
  EXPECT_THAT(dlrun_error(), HasSubstr("bytes; 1 are given"));
  EXPECT_EQ(dlrun_read_state(model.handle(), "wieght", none, 4),
            DLRUN_WRONG_USE);
  const dlrun::TensorInfo &first = states[0];
  EXPECT_EQ(first.role, DLRUN_PARAMETER);
  std::vector<int32_t> whole(first.elements());
  EXPECT_THAT(refusal(DLRUN_WRONG_USE, [&] { model.write(first.name, whole); }),
              HasSubstr("or of another dtype"));
}

TEST_F(Api, CallersMayHaveOlderOrNewerHeaders) {
  dlrun_options options = {};
  options.size = offsetof(dlrun_options, seed);
  options.threads = 1;
  options.seed = 5; // behind the end of what it says it has
  dlrun_model *model;
  ASSERT_EQ(dlrun_open(plan.c_str(), &options, &model), DLRUN_OK);
  dlrun_step_info step = {};
  step.size = offsetof(dlrun_step_info, batch_size);
  step.batch_size = 77;
  EXPECT_EQ(dlrun_get_step(model, 0, &step), DLRUN_OK);
  EXPECT_STREQ(step.name, "train");
  EXPECT_EQ(step.batch_size, 77u);
  step.size = 0;
  EXPECT_EQ(dlrun_get_step(model, 0, &step), DLRUN_WRONG_USE);
  EXPECT_EQ(dlrun_get_step(model, 0, nullptr), DLRUN_WRONG_USE);
  dlrun_close(model);
  struct {
    dlrun_options known;
    uint64_t more;
  } newer = {{sizeof(newer), 1, 0, 0, nullptr, nullptr}, 0};
  ASSERT_EQ(dlrun_open(plan.c_str(), &newer.known, &model), DLRUN_OK);
  dlrun_close(model);
  newer.more = 1; // what this version cannot do
  EXPECT_EQ(dlrun_open(plan.c_str(), &newer.known, &model), DLRUN_WRONG_USE);
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(dlrun_open(nullptr, nullptr, &model), DLRUN_WRONG_USE);
  EXPECT_STREQ(dlrun_error(), "the plan's path is a null pointer");
  dlrun_close(nullptr);
}

TEST_F(Api, AStepKeepsItsModelOpen) {
  std::optional<dlrun::Model> model(plan);
  dlrun::Step train = model->step("train");
  model.reset();
  EXPECT_GT(train({{x.data(), 24}, {y.data(), 8}})["loss"].item(), 0);
  double loss = 0;
  train.run_into({{x.data(), 24}, {y.data(), 8}}, {{&loss, sizeof(loss)}});
  EXPECT_GT(loss, 0);
}

TEST_F(Api, WhatTheCallersWarningThrowsComesThrough) {
  dlrun::Model(plan).save_checkpoint(folder.path("c.safetensors"));
  dlrun::Options options;
  std::vector<std::string> said;
  options.warn = [&](const std::string &text) {
    said.push_back(text);
    throw 42;
  };
  dlrun::Model same(plan, options);
  same.load_checkpoint(folder.path("c.safetensors"));
  EXPECT_TRUE(said.empty()) << "it is this plan's";
  writeFile(plan, seal(regressionPlan(12, 2).plan)); // with the same states
  dlrun::Model other(plan, options);
  EXPECT_THROW(other.load_checkpoint(folder.path("c.safetensors")), int);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], HasSubstr("this is a checkpoint of another plan"));
  other.save_weights(folder.path("w.safetensors")); // nothing is thrown again
}

TEST_F(Api, NumbersThatAreNoneAreNoSettings) {
  dlrun::Model model(plan);
  for (double value : {std::nan(""), HUGE_VAL})
    EXPECT_THAT(refusal(DLRUN_WRONG_USE, [&] { model.set("lr", value); }),
                HasSubstr("'lr' cannot be"));
}
