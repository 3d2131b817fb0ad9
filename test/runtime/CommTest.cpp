// Facts that ranks compare, frames that they send, and what a watcher makes of
// them.
#include "runtime/comm/Agreement.h"
#include "runtime/comm/Heartbeat.h"
#include "runtime/comm/RunWatch.h"

#include <gtest/gtest.h>

using namespace dlrt;

static RankFacts facts(const std::string &host, const std::string &plan) {
  return {host, {{"plan", plan}, {"seed", "0"}}, {}};
}

TEST(Agreement, FactsGoThroughBytes) {
  RankFacts mine = facts("a", "m.dl (12)");
  mine.failure = {Code::Io, "cannot open 'x'"};
  RankFacts back = unpackFacts(packFacts(mine));
  EXPECT_EQ(back.host, "a");
  EXPECT_EQ(back.facts, mine.facts);
  EXPECT_EQ(back.failure.code(), Code::Io);
  EXPECT_EQ(back.failure.message(), "cannot open 'x'");
}

TEST(Agreement, BytesOfAnotherVersionAreAFailure) {
  std::vector<uint8_t> bytes = packFacts(facts("a", "p"));
  bytes.pop_back();
  EXPECT_EQ(unpackFacts(bytes).failure.code(), Code::Plan);
  EXPECT_EQ(unpackFacts({}).failure.code(), Code::Plan);
}

TEST(Agreement, EqualFactsAgree) {
  EXPECT_TRUE(compareFacts({facts("a", "p"), facts("b", "p")}).ok());
}

TEST(Agreement, WhoDiffersIsNamedWithHostAndValue) {
  Status status = compareFacts(
      {facts("a", "p"), facts("a", "p"), facts("b", "p"), facts("b", "q")});
  EXPECT_EQ(status.code(), Code::Plan);
  EXPECT_EQ(status.message(), "the ranks do not agree: plan: p on ranks 0 to 2 "
                              "(hosts a, b), q on rank 3 (host b)");
}

TEST(Agreement, AFailureOfAllIsTheirs) {
  std::vector<RankFacts> ranks = {facts("a", "p"), facts("b", "p")};
  for (RankFacts &rank : ranks)
    rank.failure = {Code::Io, "cannot open 'p'"};
  EXPECT_EQ(compareFacts(ranks).code(), Code::Io);
  EXPECT_EQ(compareFacts(ranks).message(), "cannot open 'p'");
  ranks[0].failure = {};
  EXPECT_EQ(compareFacts(ranks).code(), Code::Plan);
  EXPECT_EQ(compareFacts(ranks).message(), "rank 1 (host b): cannot open 'p'");
}

static RankStatus status(uint32_t rank, uint64_t launches) {
  RankStatus out;
  out.rank = rank;
  out.host = rank < 2 ? "a" : "b";
  out.process = 100 + rank;
  out.phase = RankPhase::Steps;
  out.step = out.launches = launches;
  out.op = "kernel 'k' (conv2d in 'c' at m.dl:3:4)";
  return out;
}

TEST(Heartbeat, FramesAreTakenOutOfTheText) {
  RankStatus sent = status(3, 12);
  sent.said = "ü \"x\"\n";
  sent.end = 6;
  std::string stream = "loss 1\n" + frameOf(sent) + "loss 2\n";
  FrameSplitter splitter;
  std::vector<RankStatus> got;
  std::string text;
  for (char c : stream)
    text +=
        splitter.add({&c, 1}, [&](const RankStatus &s) { got.push_back(s); });
  EXPECT_EQ(text, "loss 1\nloss 2\n");
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].rank, 3u);
  EXPECT_EQ(got[0].host, "b");
  EXPECT_EQ(got[0].step, 12u);
  EXPECT_EQ(got[0].op, sent.op);
  EXPECT_EQ(got[0].end, 6);
  EXPECT_EQ(got[0].said, sent.said);
}

TEST(Heartbeat, AFrameThatIsCutOffIsForgotten) {
  std::string frame = frameOf(status(0, 1));
  FrameSplitter splitter;
  int count = 0;
  splitter.add(frame.substr(0, 20) + frame,
               [&](const RankStatus &) { ++count; });
  EXPECT_EQ(count, 1);
  EXPECT_FALSE(parseFrame("{}"));
  EXPECT_FALSE(parseFrame("{\"rank\":-1}"));
}

namespace {

/// Four ranks that make a step each second until `stopAt`.
struct WatchedRun {
  RunWatch watch{4, 0};
  double now = 0;

  void live(double seconds, uint32_t except = ~0u, bool advance = true) {
    for (double end = now + seconds; now < end; now += 0.5)
      for (uint32_t r = 0; r < 4; ++r)
        if (r != except) {
          RankStatus s = status(r, advance ? 1 + uint64_t(now) : frozen);
          s.waits = !advance && r != busy;
          watch.note(s, now);
        }
    frozen = advance ? 1 + uint64_t(now) : frozen;
  }
  uint64_t frozen = 0;
  uint32_t busy = ~0u;
};

} // namespace

TEST(RunWatch, ARunThatGoesOnDoesNotHang) {
  WatchedRun run;
  run.live(100);
  EXPECT_FALSE(run.watch.hang(run.now));
  EXPECT_NEAR(run.watch.limit(), 20, 1); // 20 steps of a second
}

TEST(RunWatch, AStoppedRankIsNamed) {
  WatchedRun run;
  run.live(100);
  for (int i = 0; i < 15; ++i) {
    run.live(1, 2, false);
    EXPECT_FALSE(run.watch.hang(run.now)) << i;
  }
  run.live(10, 2, false);
  auto hang = run.watch.hang(run.now);
  ASSERT_TRUE(hang);
  EXPECT_NE(hang->find("rank 2 (host b, process 102) has not answered"),
            std::string::npos)
      << *hang;
  EXPECT_NE(hang->find("in step 100, at kernel 'k'"), std::string::npos);
}

TEST(RunWatch, TheRankThatDoesNotWaitIsToBlame) {
  WatchedRun run;
  run.live(40);
  run.busy = 1;
  run.live(40, ~0u, false);
  auto hang = run.watch.hang(run.now);
  ASSERT_TRUE(hang);
  EXPECT_NE(hang->find("rank 1 (host a, process 101) has made no progress"),
            std::string::npos)
      << *hang;
}

TEST(RunWatch, WritingFilesIsNoHang) {
  WatchedRun run;
  run.live(40);
  RankStatus writes = status(0, 41);
  writes.phase = RankPhase::Files;
  for (int i = 0; i < 100; ++i) {
    run.live(1, 0, false);
    run.watch.note(writes, run.now);
    EXPECT_FALSE(run.watch.hang(run.now));
  }
}

TEST(RunWatch, TheLauncherTellsWhoDied) {
  WatchedRun run;
  run.live(5);
  run.watch.launcherSaid(
      "mpirun noticed that process rank 3 with PID 0 on node "
      "b exited on signal 9 (Killed).\n");
  RunWatch::Ending end = run.watch.ending(137);
  EXPECT_EQ(end.code, 6);
  EXPECT_EQ(end.said,
            "rank 3 (host b, process 103) was killed by signal 9 (Killed) in "
            "step 5, at kernel 'k' (conv2d in 'c' at m.dl:3:4)");
}

TEST(RunWatch, WithoutALaunchersWordTheFirstSilenceTells) {
  WatchedRun run;
  run.live(5);
  run.live(3, 1);
  EXPECT_EQ(run.watch.ending(1).said.rfind("rank 1 (host a", 0), 0u);
  WatchedRun mpich;
  mpich.live(5);
  mpich.watch.launcherSaid("=   PID 102 RUNNING AT b\n=   EXIT CODE: 9\n");
  EXPECT_EQ(mpich.watch.ending(9).said.rfind("rank 2 (host b", 0), 0u);
}

TEST(RunWatch, AnEndThatRanksExplainIsTheirs) {
  WatchedRun run;
  run.live(5);
  for (uint32_t r = 0; r < 4; ++r) {
    RankStatus last = status(r, 6);
    last.end = 0;
    run.watch.note(last, run.now);
  }
  EXPECT_EQ(run.watch.ending(0).code, 0);
  RankStatus failed = status(2, 6);
  failed.end = 4;
  run.watch.note(failed, run.now);
  EXPECT_EQ(run.watch.ending(4).code, 4);
  EXPECT_EQ(run.watch.ending(4).said, "");
}

TEST(RunWatch, AReasonCountsMoreThanALoss) {
  WatchedRun run;
  run.live(5);
  for (auto [rank, code] : {std::pair(0u, 6), {2u, 1}, {1u, 6}, {3u, 4}}) {
    RankStatus last = status(rank, 6);
    last.end = code;
    run.watch.note(last, run.now);
  }
  EXPECT_EQ(run.watch.ending(6).code, 1);
}
