// Runs that go on: folders, checkpoints, what is refused.
#include "runtime/state/Checkpoint.h"
#include "runtime/state/Safetensors.h"
#include "test/runtime/TestPlan.h"

#include <cstring>
#include <filesystem>

using namespace dlrt;
using namespace dlrt::test;
namespace fs = std::filesystem;

namespace {

struct Resume : testing::Test {
  TemporaryFolder folder;

  Resume() {
    writeRegressionData(folder, 10);
    writeFile(folder.path("model.plan"), seal(regressionPlan(10).plan));
  }
  Outcome dlrun(const std::string &arguments) {
    return runCommand("cd " + folder.string() + " && " TEST_DLRUN " " +
                      arguments);
  }
  void expectError(const std::string &arguments, int code,
                   const std::vector<std::string> &parts) {
    Outcome outcome = dlrun(arguments);
    EXPECT_EQ(outcome.exitCode, code) << arguments << ": " << outcome.err;
    for (const std::string &part : parts)
      EXPECT_NE(outcome.err.find(part), std::string::npos)
          << arguments << ": " << outcome.err;
  }
  void train(const std::string &arguments) {
    Outcome outcome = dlrun("model.plan --out run " + arguments);
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  }
  std::string checkpoint(int step) {
    char name[64];
    std::snprintf(name, sizeof(name), "run/checkpoints/step-%08d.safetensors",
                  step);
    return folder.path(name);
  }
  void rewriteFacts(int step, void (*change)(CheckpointFacts &)) {
    auto file = CheckpointFile::open(checkpoint(step));
    ASSERT_TRUE(file) << file.status().message();
    fb::PlanT plan = regressionPlan(10).plan;
    Bytes w(file->file.tensors.at("w").data.begin(),
            file->file.tensors.at("w").data.end());
    CheckpointFacts facts = file->facts;
    change(facts);
    HostArena states(plan, plan.arena_bytes);
    ASSERT_TRUE(states.write({plan.states[0]->buffer}, w).ok());
    ASSERT_TRUE(
        writeCheckpoint(setOf(plan), checkpoint(step), states, facts).ok());
  }
};

} // namespace

TEST_F(Resume, KeepsTheNewestAndGoesOnWithTheSameBits) {
  ASSERT_EQ(
      dlrun("model.plan --epochs 6 --save-final whole.safetensors -q").exitCode,
      0);
  train("--epochs 3 --every ckpt=2 --keep 2");
  EXPECT_FALSE(fs::exists(checkpoint(4)));
  for (int step : {6, 8, 9})
    EXPECT_EQ(fs::exists(checkpoint(step)), step != 6) << step;
  Outcome outcome = dlrun("resume run --epochs 6 --save-final two.safetensors");
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("9 of them done"), std::string::npos);
  EXPECT_EQ(readFile(folder.path("whole.safetensors")),
            readFile(folder.path("two.safetensors")));
}

TEST_F(Resume, CheckpointsByTime) {
  train("--steps 3 --every ckpt=0s");
  for (int step : {1, 2, 3})
    EXPECT_TRUE(fs::exists(checkpoint(step))) << step;
  // What is said later counts, in either unit.
  ASSERT_EQ(dlrun("resume run --steps 5 --every ckpt=1h -q").exitCode, 0);
  EXPECT_FALSE(fs::exists(checkpoint(4)));
  ASSERT_EQ(dlrun("resume run --steps 7 --every ckpt=6 -q").exitCode, 0);
  EXPECT_TRUE(fs::exists(checkpoint(6)));
}

TEST_F(Resume, AFinishedRunHasNothingToDo) {
  train("--epochs 2 --save-final w.safetensors --save-metrics m.safetensors");
  Bytes before = readFile(checkpoint(6));
  Bytes metrics = readFile(folder.path("m.safetensors"));
  fs::remove(folder.path("w.safetensors"));
  Outcome outcome = dlrun("resume run/");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_TRUE(fs::exists(folder.path("w.safetensors")));
  EXPECT_EQ(readFile(checkpoint(6)), before);
  EXPECT_EQ(readFile(folder.path("m.safetensors")), metrics);
}

TEST_F(Resume, SaysThatARunIsFinished) {
  train("--epochs 2");
  Outcome outcome = dlrun("resume run");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_NE(outcome.err.find("'run' is finished: 6 of 6 steps are done"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find("first one done"), std::string::npos);
  EXPECT_EQ(dlrun("resume run --steps 4 -q").err, "");
  Outcome events = dlrun("resume run --epochs 2 --json");
  EXPECT_EQ(events.exitCode, 0);
  EXPECT_NE(events.out.find("\"steps_done\":6"), std::string::npos);
  EXPECT_EQ(events.err, "");
}

TEST_F(Resume, RemembersItsLength) {
  ASSERT_EQ(
      dlrun("model.plan --epochs 6 --save-final whole.safetensors -q").exitCode,
      0);
  train("--steps 2");
  ASSERT_EQ(dlrun("resume run --epochs 6 -q").exitCode, 0);
  // As if that one had been killed on its way.
  for (int step : {2, 18})
    EXPECT_TRUE(fs::exists(checkpoint(step))) << step;
  fs::remove(checkpoint(18));
  ASSERT_EQ(dlrun("resume run -q --save-final two.safetensors").exitCode, 0);
  EXPECT_TRUE(fs::exists(checkpoint(18)));
  EXPECT_EQ(readFile(folder.path("whole.safetensors")),
            readFile(folder.path("two.safetensors")));
  // The same command again, but longer, as for a batch system.
  ASSERT_EQ(dlrun("model.plan --out run --resume=auto --steps 20 -q").exitCode,
            0);
  fs::remove(checkpoint(20));
  ASSERT_EQ(dlrun("resume run -q").exitCode, 0);
  EXPECT_TRUE(fs::exists(checkpoint(20)));
}

TEST_F(Resume, LooksInsideAsTrainingDoes) {
  train("--epochs 2 --trace first.json");
  fs::remove(folder.path("first.json"));
  ASSERT_EQ(dlrun("model.plan --epochs 3 --save-final a -q").exitCode, 0);
  fs::create_directory(folder.path("elsewhere"));
  Outcome outcome = runCommand(
      "cd " + folder.path("elsewhere") +
      " && " TEST_DLRUN
      " resume ../run --epochs 3 -q --poison --order=random:7 --threads 2 "
      "--trace t.json --save-final a");
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_EQ(readFile(folder.path("a")), readFile(folder.path("elsewhere/a")));
  EXPECT_TRUE(fs::exists(folder.path("elsewhere/t.json")));
  // They were asked of one process, not of the run.
  ASSERT_EQ(dlrun("resume run --epochs 4 -q").exitCode, 0);
  EXPECT_FALSE(fs::exists(folder.path("first.json")));
}

TEST_F(Resume, ConditionsToHaltAreReplaced) {
  expectError("model.plan --epochs 9 --out run --every log=1 --halt-on "
              "'loss<1e9'",
              1, {"step 1: loss is"});
  EXPECT_EQ(readFile(folder.path("run/events.jsonl")).back(), '\n');
  EXPECT_TRUE(fs::exists(checkpoint(1)));
  expectError("resume run", 1, {"step 2: loss is"});
  EXPECT_EQ(dlrun("resume run --halt-on nan").exitCode, 0);
  EXPECT_TRUE(fs::exists(checkpoint(27)));
}

TEST_F(Resume, AFolderWithARunIsNotOverwritten) {
  train("--epochs 1");
  expectError("model.plan --out run", 2, {"it holds a run", "resume run"});
  expectError("model.plan --out run --resume=never", 2, {"it holds a run"});
  Outcome outcome = dlrun("model.plan --out run --resume=auto --epochs 1");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
  expectError("model.plan --out run --resume=auto --seed 3", 2,
              {"--seed 3", "has seed 0"});
}

TEST_F(Resume, AnotherPlanIsRefused) {
  train("--epochs 1");
  PlanBuilder other = regressionPlan(10);
  other.plan.producer = "other";
  writeFile(folder.path("other.plan"), seal(other.plan));
  expectError("other.plan --out run --resume=auto", 5,
              {"other.plan", "not the plan of the run"});
  writeFile(folder.path("run/model.plan"), seal(other.plan));
  expectError("resume run", 5, {"model.plan", "not the plan of the run"});
  fs::remove(folder.path("run/model.plan"));
  expectError("resume run", 4, {"run/model.plan"});
}

TEST_F(Resume, TheModelMayBeCompiledAgainMeanwhile) {
  train("--epochs 1");
  writeFile(folder.path("model.plan"), Bytes(10));
  EXPECT_EQ(dlrun("resume run --epochs 2").exitCode, 0);
}

TEST_F(Resume, EveryDamagedByteOfACheckpointIsFound) {
  train("--epochs 2 --every ckpt=3");
  Bytes good = readFile(checkpoint(6));
  for (size_t at = 0; at < good.size(); ++at)
    for (uint8_t change : {0x01, 0x20, 0x80}) {
      Bytes damaged = good;
      damaged[at] ^= change;
      writeFile(folder.path("damaged"), damaged);
      auto opened = CheckpointFile::open(folder.path("damaged"));
      ASSERT_FALSE(opened) << at;
      ASSERT_EQ(opened.status().code(), Code::Io);
    }
  for (size_t size = 0; size < good.size(); size += 7) {
    writeFile(folder.path("damaged"), Bytes(good.begin(), good.begin() + size));
    ASSERT_FALSE(CheckpointFile::open(folder.path("damaged"))) << size;
  }
  // Nothing older is taken in silence.
  good.back() ^= 1;
  writeFile(checkpoint(6), good);
  expectError("resume run --epochs 3", 4,
              {"step-00000006.safetensors", "checksum does not match",
               "--from 3 goes on before it"});
  fs::remove(checkpoint(6));
  EXPECT_EQ(dlrun("resume run --epochs 3").exitCode, 0);
}

TEST_F(Resume, ACheckpointMustFitThePlanAndTheData) {
  train("--epochs 1");
  rewriteFacts(3, [](CheckpointFacts &facts) { facts.planHash = "12"; });
  expectError("resume run", 5, {"written by another plan", "hash 12"});
  fs::remove_all(folder.path("run"));
  train("--epochs 1");
  rewriteFacts(3, [](CheckpointFacts &facts) { facts.items = 11; });
  expectError("resume run", 1, {"trained on 11 items", "have 10 now"});
  fs::remove_all(folder.path("run"));
  train("--epochs 1");
  rewriteFacts(3, [](CheckpointFacts &facts) { facts.batch = 2; });
  expectError("resume run", 4, {"step 3 is not batch 2 of epoch 1"});
}

TEST_F(Resume, WrongShapesAndNamesAreRefused) {
  train("--epochs 1");
  LoadedPlan plan = mustLoad(seal(regressionPlan(10).plan));
  auto file = CheckpointFile::open(checkpoint(3));
  ASSERT_TRUE(file);
  struct Untouched : HostArena {
    using HostArena::HostArena;
    Status write(const BufferPlace &, std::span<const uint8_t>) override {
      ADD_FAILURE() << "a state was written";
      return {};
    }
  } states(plan.first(), plan.first().arena_bytes);
  auto refusal = [&] {
    Status status = restoreStates(plan, *file, "file", states);
    return status.message();
  };
  SafetensorsEntry &w = file->file.tensors.at("w");
  w.shape = {1, 3};
  EXPECT_EQ(refusal(), "file: 'w' has shape [1,3], the plan's is [3]");
  w.shape = {3};
  w.dtype = "I32";
  EXPECT_EQ(refusal(), "file: 'w' has dtype I32, the plan's is F32");
  w.dtype = "F32";
  file->file.tensors["more"] = w;
  EXPECT_EQ(refusal(), "file: it has 2 tensors, the plan has 1 states");
  file->file.tensors.erase("more");
  auto node = file->file.tensors.extract("w");
  node.key() = "v";
  file->file.tensors.insert(std::move(node));
  EXPECT_EQ(refusal(), "file: 'w' is missing");
}

TEST_F(Resume, FoldersThatHoldNoRun) {
  expectError("resume none", 4, {"none", "No such file"});
  fs::create_directory(folder.path("empty"));
  expectError("resume empty", 4, {"empty", "holds no run"});
  writeFile(folder.path("empty/run.json"), {'{', '}'});
  expectError("resume empty", 4, {"run.json"});
  expectError("model.plan --every ckpt=3", 2, {"--out"});
  expectError("model.plan --every ckpt=10min", 2, {"--out"});
  expectError("model.plan --every ckpt=10m --out run", 2,
              {"'10m' is not a whole number", "nor a time: 10min"});
  expectError("model.plan --keep 3", 2, {"--out"});
  expectError("resume run --seed 3", 2, {"not an option of 'dlrun resume'"});
  expectError("model.plan --out model.plan/x", 4, {"model.plan/x"});
}

TEST_F(Resume, ARefusedRunLeavesNothing) {
  fs::remove(folder.path("y.npy"));
  expectError("model.plan --out run", 4, {"y.npy"});
  EXPECT_FALSE(fs::exists(folder.path("run")));
}

TEST_F(Resume, RelativePathsAreThoseOfTheStart) {
  train("--epochs 1");
  Outcome outcome = runCommand("cd / && " TEST_DLRUN " resume " +
                               folder.path("run") + " --epochs 2");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_TRUE(fs::exists(checkpoint(6)));
}

TEST_F(Resume, WithoutACheckpointItStartsAgainAndSaysSo) {
  train("--epochs 1");
  fs::remove(checkpoint(3));
  writeFile(folder.path("run/checkpoints/step-00000003.safetensors.tmp.123"),
            Bytes(5));
  Outcome outcome = dlrun("resume run");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_NE(outcome.err.find("no checkpoint yet"), std::string::npos);
  EXPECT_TRUE(fs::exists(checkpoint(3)));
  EXPECT_FALSE(fs::exists(
      folder.path("run/checkpoints/step-00000003.safetensors.tmp.123")));
}

TEST_F(Resume, AnEmptyFolderGetsItsCheckpoints) {
  fs::create_directory(folder.path("run"));
  train("--epochs 1");
  EXPECT_TRUE(fs::exists(checkpoint(3)));
  fs::remove_all(folder.path("run/checkpoints"));
  Outcome outcome = dlrun("resume run --epochs 2");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_TRUE(fs::exists(checkpoint(6)));
}

TEST_F(Resume, FilesOfOthersAreKept) {
  const Bytes notes = {'m', 'i', 'n', 'e'};
  fs::create_directory(folder.path("run"));
  for (std::string name : {"train.csv", "events.jsonl", "model.plan"}) {
    writeFile(folder.path("run/" + name), notes);
    for (const char *option : {"", " --resume=auto"})
      expectError(std::string("model.plan --out run") + option, 2,
                  {"--out run: it holds '" + name + "', but no run"});
    EXPECT_EQ(readFile(folder.path("run/" + name)), notes);
    fs::remove(folder.path("run/" + name));
  }
  // Others' names do not matter, and a killed start has left its plan.
  for (const char *name : {"run/db.tmp.12", "run/notes.txt"})
    writeFile(folder.path(name), notes);
  writeFile(folder.path("run/model.plan.tmp.12"), notes);
  fs::copy(folder.path("model.plan"), folder.path("run/model.plan"));
  train("--epochs 1");
  ASSERT_EQ(dlrun("resume run --epochs 2").exitCode, 0);
  for (const char *name : {"run/db.tmp.12", "run/notes.txt"})
    EXPECT_EQ(readFile(folder.path(name)), notes);
  EXPECT_FALSE(fs::exists(folder.path("run/model.plan.tmp.12")));
}

TEST_F(Resume, FilesBesideCheckpointsArePassedOver) {
  train("--epochs 1 --keep 1");
  std::string copy = folder.path("run/checkpoints/step-1.safetensors");
  fs::copy(checkpoint(3), copy);
  fs::copy(checkpoint(3), folder.path("run/checkpoints/step-99.safetensors"));
  Outcome outcome = dlrun("resume run --epochs 2");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("3 of them done"), std::string::npos);
  EXPECT_TRUE(fs::exists(copy));
  EXPECT_FALSE(fs::exists(checkpoint(3)));
  EXPECT_TRUE(fs::exists(checkpoint(6)));
}

TEST_F(Resume, RowsWithoutACheckpointAreSetAside) {
  train("--epochs 1 --every log=1");
  for (const char *old : {"run/old-1", "run/old-2"}) {
    Bytes rows = readFile(folder.path("run/train.csv"));
    fs::remove(checkpoint(3));
    Outcome outcome = dlrun("resume run");
    EXPECT_EQ(outcome.exitCode, 0);
    EXPECT_NE(outcome.err.find(old), std::string::npos) << outcome.err;
    EXPECT_EQ(readFile(folder.path(old + std::string("/train.csv"))), rows);
    EXPECT_EQ(dlrun("resume run -q").err, ""); // once, not always
  }
}

TEST_F(Resume, TheFirstWeightsMayBeGone) {
  ASSERT_EQ(dlrun("model.plan -q --save-final w.safetensors").exitCode, 0);
  train("--epochs 1 --init w.safetensors");
  fs::remove(folder.path("w.safetensors"));
  Outcome outcome = dlrun("resume run --epochs 2");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
  // Without a checkpoint they are needed.
  for (int step : {3, 6})
    fs::remove(checkpoint(step));
  expectError("resume run", 4, {"w.safetensors"});
}

TEST_F(Resume, TheStepThatHaltsIsLogged) {
  Bytes huge = floatBytes({3e38f, 3e38f, 3e38f});
  ASSERT_TRUE(
      writeSafetensors(folder.path("huge"), {{"w", {"F32", {3}, huge}}}).ok());
  Outcome outcome = dlrun("model.plan --epochs 9 --init huge --out run --json "
                          "--halt-on nan --trace t.json");
  EXPECT_EQ(outcome.exitCode, 1) << outcome.err;
  EXPECT_NE(outcome.out.find("\"loss\":\"nan\""), std::string::npos);
  Bytes log = readFile(folder.path("run/train.csv"));
  EXPECT_NE(std::string(log.begin(), log.end()).find(",nan\n"),
            std::string::npos);
  EXPECT_TRUE(fs::exists(folder.path("t.json")));
}

TEST_F(Resume, NoStepHasNoMetrics) {
  train("--epochs 1");
  Outcome outcome = dlrun("resume run -q --save-metrics m.safetensors");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_NE(outcome.err.find("m.safetensors: nothing was written"),
            std::string::npos)
      << outcome.err;
  EXPECT_FALSE(fs::exists(folder.path("m.safetensors")));
}

TEST_F(Resume, ACheckpointGivesWeights) {
  train("--epochs 1 --save-final w.safetensors");
  Outcome a = dlrun("eval model.plan --json --init w.safetensors");
  Outcome b = dlrun("eval model.plan --json --init " + checkpoint(3));
  ASSERT_EQ(b.exitCode, 0) << b.err;
  auto loss = [](const std::string &out) {
    size_t at = out.find("\"loss\"");
    return out.substr(at, out.find('}', at) - at);
  };
  EXPECT_EQ(loss(a.out), loss(b.out));
}
