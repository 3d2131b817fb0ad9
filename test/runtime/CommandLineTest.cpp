// dlrun as users meet it: output, files, exit codes.
#include "runtime/base/JsonReader.h"
#include "runtime/state/Safetensors.h"
#include "test/runtime/TestPlan.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

using namespace dlrt;
using namespace dlrt::test;

namespace {

struct CommandLine : testing::Test {
  TemporaryFolder folder;
  std::string plan = folder.path("model.plan");

  CommandLine() {
    writeRegressionData(folder, 10);
    writeFile(plan, seal(regressionPlan(10).plan));
  }
  Outcome dlrun(const std::string &arguments) {
    return runCommand("cd " + folder.string() + " && " TEST_DLRUN " " +
                      arguments);
  }
  void expectError(const std::string &arguments, int code,
                   const std::string &part) {
    Outcome outcome = dlrun(arguments);
    EXPECT_EQ(outcome.exitCode, code) << arguments << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos)
        << arguments << ": " << outcome.err;
    EXPECT_EQ(outcome.err.rfind("dlrun: error: "), size_t(0)) << outcome.err;
  }
};

std::vector<JsonValue> events(const std::string &text) {
  std::vector<JsonValue> found;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    auto json = parseJson(text.substr(at, end - at));
    EXPECT_TRUE(json) << text.substr(at, end - at);
    found.push_back(std::move(*json));
    at = end + 1;
  }
  return found;
}

std::string name(const JsonValue &event) { return event.find("event")->text; }

} // namespace

TEST_F(CommandLine, TrainsWithEvents) {
  Outcome outcome = dlrun("model.plan --epochs 2 --threads 2 --json --every "
                          "log=1");
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  auto list = events(outcome.out);
  ASSERT_EQ(list.size(), 1 + 6 + 2 + 2 + 1u);
  EXPECT_EQ(name(list[0]), "start");
  EXPECT_EQ(list[0].find("plan")->text, "model.plan");
  EXPECT_EQ(list[0].find("parameters")->text, "3");
  EXPECT_EQ(list[0].find("threads")->text, "2");
  EXPECT_EQ(name(list[1]), "step");
  EXPECT_EQ(list[1].find("step")->text, "1");
  EXPECT_EQ(list[1].find("epoch")->text, "0");
  ASSERT_TRUE(list[1].find("loss"));
  EXPECT_EQ(list[1].find("w.grad"), nullptr) << "only scalars are logged";
  EXPECT_EQ(name(list[4]), "epoch");
  EXPECT_EQ(list[4].find("mean_of_steps")->text, "3");
  EXPECT_TRUE(list[4].find("loss"));
  EXPECT_EQ(name(list[5]), "eval");
  EXPECT_EQ(list[5].find("name")->text, "test");
  EXPECT_EQ(list[5].find("step")->text, "3");
  EXPECT_EQ(name(list.back()), "end");
  EXPECT_EQ(list.back().find("steps")->text, "6");
  EXPECT_TRUE(list.back().find("first_step_ms"));
  EXPECT_TRUE(list.back().find("peak_rss_bytes"));
}

TEST_F(CommandLine, TalksOnStderrAndResultsOnStdout) {
  Outcome outcome = dlrun("model.plan");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.out.rfind("test: loss ", 0), 0u) << outcome.out;
  EXPECT_NE(outcome.err.find("step 3/3 | epoch 0 | loss "), std::string::npos);
  EXPECT_EQ(outcome.err.find('\r'), std::string::npos) << "no progress bar";
  EXPECT_EQ(dlrun("model.plan -q").err, "");
}

TEST_F(CommandLine, SavesAndLoads) {
  ASSERT_EQ(dlrun("model.plan --epochs 40 --save-final w.safetensors "
                  "--save-metrics m.safetensors -q")
                .exitCode,
            0);
  auto weights = SafetensorsFile::open(folder.path("w.safetensors"));
  ASSERT_TRUE(weights);
  ASSERT_EQ(weights->tensors.size(), 1u);
  float w;
  std::memcpy(&w, weights->tensors.at("w").data.data(), 4);
  EXPECT_NEAR(w, 1, 0.2);
  auto metrics = SafetensorsFile::open(folder.path("m.safetensors"));
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->tensors.at("w.grad").shape, std::vector<uint64_t>{3});
  EXPECT_EQ(metrics->tensors.at("loss").shape, std::vector<uint64_t>{});

  // The evaluation of the saved weights is the one at the end of training.
  std::string last = dlrun("eval model.plan --init w.safetensors --json").out;
  std::string direct = dlrun("model.plan --epochs 40 --json").out;
  auto lossOf = [](const std::string &text) {
    std::string loss;
    for (const JsonValue &event : events(text))
      if (name(event) == "eval")
        loss = event.find("loss")->text;
    return loss;
  };
  EXPECT_EQ(lossOf(last), lossOf(direct));
}

TEST_F(CommandLine, WritesThroughLinksAndIntoPipes) {
  namespace fs = std::filesystem;
  fs::create_directory(folder.path("store"));
  fs::create_symlink("store/real", folder.path("second"));
  fs::create_symlink("second", folder.path("link"));
  for (int run = 0; run < 2; ++run) {
    Outcome outcome = dlrun("model.plan -q --save-final link");
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    EXPECT_TRUE(fs::is_symlink(folder.path("link")));
    EXPECT_TRUE(fs::is_symlink(folder.path("second")));
    EXPECT_TRUE(fs::is_regular_file(folder.path("store/real")));
  }
  fs::create_symlink("loop", folder.path("loop"));
  expectError("model.plan -q --save-final loop", 4, "cannot write 'loop'");
  fs::create_symlink("nowhere/file", folder.path("dangling"));
  expectError("model.plan -q --save-final dangling", 4, "'nowhere'");

  Outcome outcome = runCommand(
      "cd " + folder.string() +
      " && mkfifo pipe && { timeout 20 cat pipe > got & timeout 20 " TEST_DLRUN
      " model.plan -q --save-final pipe; code=$?; wait; exit $code; }");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_TRUE(fs::is_fifo(folder.path("pipe")));
  EXPECT_EQ(readFile(folder.path("got")), readFile(folder.path("store/real")));
}

TEST_F(CommandLine, ThreadsAndRepetitionsGiveEqualFiles) {
  for (const char *run : {"a --threads 1", "b --threads 2", "c --threads 4"})
    ASSERT_EQ(dlrun(std::string("model.plan --steps 50 -q --save-final ") + run)
                  .exitCode,
              0);
  EXPECT_EQ(readFile(folder.path("a")), readFile(folder.path("b")));
  EXPECT_EQ(readFile(folder.path("a")), readFile(folder.path("c")));
}

TEST_F(CommandLine, EvaluatesEverySoManySteps) {
  auto count = [&](const std::string &arguments) {
    auto list = events(dlrun("model.plan --json " + arguments).out);
    return std::count_if(list.begin(), list.end(),
                         [](auto &e) { return name(e) == "eval"; });
  };
  EXPECT_EQ(count("--epochs 3"), 3);
  EXPECT_EQ(count("--steps 2"), 1) << "the last step is evaluated";
  EXPECT_EQ(count("--steps 2 --every eval=0"), 0);
  EXPECT_EQ(count("--steps 8 --every eval=3"), 3);
  EXPECT_EQ(count("--steps 8 --every eval=2"), 4);
  EXPECT_EQ(count("--epochs 3 --every eval=0,log=5"), 0);
}

TEST_F(CommandLine, Bench) {
  Outcome outcome = dlrun("bench model.plan --steps 300 --threads 2 --json");
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  auto list = events(outcome.out);
  const JsonValue &bench = list.back();
  EXPECT_EQ(name(bench), "bench");
  EXPECT_EQ(bench.find("steps")->text, "300");
  EXPECT_EQ(bench.find("allocations")->text, "0");
  EXPECT_EQ(bench.find("tiles_per_thread")->items.size(), 2u);
  for (const char *key : {"median_ms", "p10_ms", "p90_ms", "items_per_s",
                          "loss", "arena_bytes", "peak_rss_bytes"})
    EXPECT_TRUE(bench.find(key)) << key;
}

TEST_F(CommandLine, Info) {
  Outcome text = dlrun("info model.plan");
  EXPECT_EQ(text.exitCode, 0);
  for (const char *part : {"gradient4", "step train", "short batch"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  Outcome json = dlrun("info model.plan --json");
  auto document = parseJson(json.out);
  ASSERT_TRUE(document) << document.status().message();
  EXPECT_EQ(document->find("states")->items.size(), 2u);
  const JsonValue &program =
      document->find("steps")->items[0].find("programs")->items[0];
  EXPECT_EQ(program.find("commands")->items[1].find("deps")->items[0].text,
            "0");
}

TEST_F(CommandLine, WrongUse) {
  expectError("", 2, "which plan?");
  expectError("model.plan --lr 0.1", 2, "--set optim.lr=VALUE");
  expectError("model.plan --batch-size 4", 2, "compiled into the plan");
  expectError("model.plan --epohcs 3", 2, "did you mean '--epochs'?");
  expectError("model.plan --epochs", 2, "value is missing");
  expectError("model.plan --epochs 0", 2, "from 1");
  expectError("model.plan --epochs x", 2, "'x' is not a whole number");
  expectError("model.plan --epochs 1 --steps 2", 2, "give one of them");
  expectError("bnech model.plan", 2, "did you mean 'bench'?");
  expectError("eval model.plan --epochs 3", 2, "not an option of 'dlrun eval'");
  expectError("model.plan --json=1", 2, "takes no value");
  expectError("model.plan --every lgo=1", 2, "none of log=N");
  expectError("model.plan --data tset=.", 2, "did you mean 'test'?");
}

TEST_F(CommandLine, Help) {
  Outcome shorter = dlrun("-h"), longer = dlrun("--help");
  EXPECT_EQ(shorter.exitCode, 0);
  EXPECT_LT(shorter.out.find("Examples:"), shorter.out.find("Usage:"));
  EXPECT_NE(longer.out.find("--save-metrics"), std::string::npos);
  EXPECT_EQ(dlrun("--version").out.rfind("dlrun ", 0), 0u);
}

TEST_F(CommandLine, MissingAndWrongFiles) {
  expectError("nowhere.plan", 4, "No such file");
  expectError("x.npy", 5, "not a plan file");
  expectError("model.plan --data /nowhere", 4, "no such folder");
  expectError("model.plan --init nowhere", 4, "No such file");
  expectError("model.plan --init x.npy", 4, "safetensors");
  expectError("model.plan --save-final nowhere/w", 4, "nowhere");
  Bytes damaged = readFile(plan);
  damaged.resize(damaged.size() / 2);
  writeFile(folder.path("half.plan"), damaged);
  expectError("half.plan", 5, "damaged");
  writeRegressionData(folder, 11);
  expectError(
      "model.plan --save-final w", 1,
      "11 items end in a batch of 3, and the plan, compiled for 10 items");
  EXPECT_FALSE(std::filesystem::exists(folder.path("w")));
}

TEST_F(CommandLine, FullOutput) {
  Outcome outcome =
      runCommand("cd " + folder.string() +
                 " && (" TEST_DLRUN " model.plan --json > /dev/full)");
  EXPECT_EQ(outcome.exitCode, 4);
  EXPECT_NE(outcome.err.find("No space left"), std::string::npos);
}

TEST_F(CommandLine, NotANumber) {
  // Weights that overflow: the loss becomes infinite, then not a number.
  Bytes huge = floatBytes({3e38f, 3e38f, 3e38f});
  ASSERT_TRUE(
      writeSafetensors(folder.path("huge"), {{"w", {"F32", {3}, huge}}}).ok());
  Outcome outcome = dlrun("model.plan --init huge --json --every log=1");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_NE(outcome.out.find("\"loss\":\"inf\""), std::string::npos);
  EXPECT_NE(outcome.out.find("\"loss\":\"nan\""), std::string::npos);
  expectError("model.plan --init huge -q --halt-on nan --save-final w", 1,
              "loss is nan");
  EXPECT_FALSE(std::filesystem::exists(folder.path("w")));
  expectError("model.plan --init huge -q --halt-on inf", 1,
              "step 1: loss is "
              "inf");
}

TEST_F(CommandLine, HaltsOnConditions) {
  auto halts = [&](const std::string &condition, const std::string &said) {
    expectError("model.plan -q --epochs 9 --save-final w --halt-on '" +
                    condition + "'",
                1, said + " (--halt-on " + condition + ")");
    EXPECT_TRUE(std::filesystem::remove(folder.path("w")));
  };
  Outcome outcome = dlrun("model.plan --epochs 9 --json --every log=1");
  std::string first = events(outcome.out)[1].find("loss")->text;
  halts("loss>=" + first, "step 1: loss is " + first);
  halts("loss<=" + first, "step 1: loss is " + first);
  halts("loss<1e30", "step 1: loss is " + first);
  halts("loss>-1", "step 1: loss is " + first);
  for (std::string never : {"loss>1e30", "loss<-1,nan,inf", "loss>=inf"})
    EXPECT_EQ(dlrun("model.plan -q --halt-on '" + never + "'").exitCode, 0)
        << never;
  expectError("model.plan --halt-on 'lss>1'", 2, "did you mean 'loss'?");
  expectError("model.plan --halt-on 'w.grad>1'", 2,
              "no step has a scalar metric 'w.grad'");
  expectError("model.plan --halt-on 'loss>x'", 2, "'x' is not a number");
  expectError("model.plan --halt-on 'loss>nan'", 2, "'nan' is not a number");
  expectError("model.plan --halt-on '>1'", 2, "none of nan, inf");
  expectError("model.plan --halt-on nan,", 2, "'' is none of nan, inf");
}

TEST_F(CommandLine, OptionsOfOtherVersions) {
  for (const char *option :
       {"--time 2h", "--dump=w", "--log csv", "--device cuda:0"})
    expectError(std::string("model.plan ") + option, 3, "not in this version");
  expectError("model.plan --dry-run", 2, "it goes with -np N");
  expectError("model.plan --ranks 2", 5, "the plan is for one rank");
  for (const char *link : {"", "latency", "latency=5", "bandwidth=0GB/s",
                           "bandwidth=1GB/s,speed=3us"})
    expectError(std::string("model.plan --link '") + link + "'", 2,
                "none of latency=20us, bandwidth=1GB/s");
  expectError("model.plan --accumulate=4", 2, "dlcc --accumulate=N");
}

TEST_F(CommandLine, SignalsEndTheRunAfterItsStep) {
  for (auto [signal, code] : {std::pair("INT", 130), std::pair("TERM", 143)}) {
    Outcome outcome = runCommand(
        "cd " + folder.string() +
        " && { " TEST_DLRUN " model.plan --steps 1000000000 -q --save-final " +
        signal + " & p=$!; sleep 0.5; kill -" + signal + " $p; wait $p; }");
    EXPECT_EQ(outcome.exitCode, code) << outcome.err;
    auto weights = SafetensorsFile::open(folder.path(signal));
    EXPECT_TRUE(weights) << weights.status().message();
  }
}

TEST_F(CommandLine, AnInterruptedEvaluationHasItsTrace) {
  writeRegressionData(folder, 1000000);
  writeFile(plan, seal(regressionPlan(1000000).plan));
  Outcome outcome = runCommand(
      "cd " + folder.string() +
      " && { " TEST_DLRUN " eval model.plan -q --threads 1 --order random:1 "
      "--trace t.json & p=$!; sleep 0.5; kill -INT $p; wait $p; }");
  EXPECT_EQ(outcome.exitCode, 130) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(folder.path("t.json")));
}

TEST_F(CommandLine, ATraceTakesTheMemoryThatItFills) {
  Outcome outcome = dlrun("model.plan --json --threads 64 --trace t.json");
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  auto list = events(outcome.out);
  EXPECT_LT(std::stoull(list.back().find("peak_rss_bytes")->text), 80u << 20);
}

TEST_F(CommandLine, NamesThatAreNotText) {
  std::filesystem::copy(plan, folder.path("\xe9\xc3\xa9.plan"));
  Outcome outcome = dlrun("\xe9\xc3\xa9.plan --json");
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_EQ(events(outcome.out)[0].find("plan")->text,
            "\xef\xbf\xbd\xc3\xa9.plan");
  // A record that gives other bytes back would start another run.
  expectError("\xe9\xc3\xa9.plan --out run", 2, "is not UTF-8");
  EXPECT_FALSE(std::filesystem::exists(folder.path("run")));
}

TEST_F(CommandLine, KindsOfCommands) {
  PlanBuilder unknown = regressionPlan(10);
  unknown.plan.steps[0]->programs[0]->commands[0]->work.type = fb::Work(9);
  writeFile(folder.path("unknown.plan"), seal(unknown.plan));
  expectError("unknown.plan", 5, "unknown kind 9");
  expectError("info unknown.plan", 5, "unknown kind 9");
  PlanBuilder many = singleProgramPlan();
  many.axis("dp", 2);
  uint32_t a = many.arena(64), c = many.arena(64), d = many.arena(64);
  many.exchange(*many.plan.steps[0]->programs[0], {0}, 0,
                {{0, many.whole(a)}, {1, many.whole(a)}},
                {{0, many.whole(c)}, {1, many.whole(d)}});
  writeFile(folder.path("many.plan"), seal(many));
  expectError("bench many.plan --ranks 3", 5,
              "the plan is for a mesh of dp=2, which is 2");
  Outcome info = dlrun("info many.plan");
  EXPECT_EQ(info.exitCode, 0);
  EXPECT_NE(info.out.find("exchange 0"), std::string::npos) << info.out;
  Outcome json = dlrun("info many.plan --json");
  EXPECT_NE(json.out.find("\"member\": 1"), std::string::npos) << json.out;
}

TEST_F(CommandLine, FaultsNameTheirKernel) {
  PlanBuilder b = singleProgramPlan();
  uint32_t out = b.arena(64);
  b.source("gather", "emb", "model.dl:7:9");
  uint32_t kernel = b.kernel("crash", 4, {64}, {true});
  b.plan.kernels[kernel]->ops = {1};
  b.command(*b.plan.steps[0]->programs[0], kernel, {out});
  writeFile(folder.path("crash.plan"), seal(b.plan));
  // Several threads often fault at once.
  for (const char *threads : {"1", "2", "2", "4", "4", "4"}) {
    Outcome outcome =
        dlrun(std::string("bench crash.plan -q --threads ") + threads);
    EXPECT_EQ(outcome.exitCode, 70);
    EXPECT_NE(outcome.err.find("invalid memory access in kernel 'crash' "
                               "(gather in 'emb' at model.dl:7:9)"),
              std::string::npos)
        << outcome.err;
  }
}
