#include "runtime/plan/RaceVerifier.h"
#include "runtime/plan/CommandKinds.h"
#include "test/runtime/TestPlan.h"

#include <random>

using namespace dlrt;
using namespace dlrt::test;

namespace {

/// A program over buffers a, b, c, d of 64 bytes each.
struct Program {
  PlanBuilder b = singleProgramPlan();
  uint32_t buffers[4];
  uint32_t unary, binary;

  Program() {
    for (uint32_t &buffer : buffers)
      buffer = b.arena(64);
    unary = b.kernel("squares", 1, {64, 64}, {false, true});
    binary = b.kernel("add", 1, {64, 64, 64}, {false, false, true});
  }
  void map(int from, int to, std::vector<uint32_t> deps) {
    b.command(*b.plan.steps[0]->programs[0], unary,
              {buffers[from], buffers[to]}, deps);
  }
  void add(int x, int y, int to, std::vector<uint32_t> deps) {
    b.command(*b.plan.steps[0]->programs[0], binary,
              {buffers[x], buffers[y], buffers[to]}, deps);
  }
  std::string verdict() { return verifyNoRaces(b.plan).message(); }
};

} // namespace

TEST(RaceVerifier, DiamondNeedsEachOfItsEdges) {
  auto diamond = [](std::vector<uint32_t> left, std::vector<uint32_t> right,
                    std::vector<uint32_t> join) {
    Program p;
    p.map(0, 1, {});
    p.map(1, 2, left);
    p.map(1, 3, right);
    p.add(2, 3, 1, join);
    return p.verdict();
  };
  EXPECT_EQ(diamond({0}, {0}, {1, 2}), "");
  EXPECT_NE(diamond({}, {0}, {1, 2}).find("race"), std::string::npos);
  EXPECT_NE(diamond({0}, {}, {1, 2}).find("race"), std::string::npos);
  EXPECT_NE(diamond({0}, {0}, {2}).find("race"), std::string::npos);
  EXPECT_NE(diamond({0}, {0}, {1}).find("race"), std::string::npos);
}

TEST(RaceVerifier, NamesTheCommands) {
  Program p;
  p.map(0, 1, {});
  p.map(1, 2, {});
  EXPECT_EQ(p.verdict(),
            "wrong plan: step 'train' batch: race: command 1 (squares) reads "
            "bytes at arena offset 64 without waiting for command 0 (squares)");
}

TEST(RaceVerifier, OrdersThroughOthers) {
  Program p;
  p.map(0, 1, {});
  p.map(1, 2, {0});
  p.map(2, 3, {1});
  p.map(3, 1, {2}); // overwrites what 1 read, ordered through 2
  EXPECT_EQ(p.verdict(), "");
}

TEST(RaceVerifier, ReadersMayShare) {
  Program p;
  p.map(0, 1, {});
  p.map(0, 2, {});
  p.map(0, 3, {});
  EXPECT_EQ(p.verdict(), "");
}

TEST(RaceVerifier, WriteAfterRead) {
  Program p;
  p.map(0, 1, {});
  p.map(2, 0, {});
  EXPECT_NE(p.verdict().find("writes"), std::string::npos);
}

TEST(RaceVerifier, PartialOverlap) {
  Program p;
  p.map(0, 1, {});
  p.buffers[2] = p.b.arenaAt(64, 128); // b and c
  p.map(2, 3, {});
  EXPECT_NE(p.verdict().find("race"), std::string::npos);
}

TEST(RaceVerifier, InPlaceIsAllowedOnlyExactly) {
  Program p;
  p.map(0, 0, {});
  EXPECT_EQ(p.verdict(), "");
  Program q;
  q.buffers[1] = q.b.arenaAt(0, 128);
  q.buffers[0] = q.b.arenaAt(64, 64);
  q.map(0, 1, {});
  EXPECT_NE(q.verdict().find("overlap"), std::string::npos);
}

namespace {

/// Two commands write the halves of a buffer of 128 bytes, a third reads it
/// whole.
struct Halves {
  PlanBuilder b = singleProgramPlan();
  uint32_t source = b.arena(64), whole = b.arena(128), result = b.arena(128);

  Halves(std::vector<uint32_t> join = {0, 1}, uint64_t second = 64) {
    uint32_t half = b.kernel("squares", 1, {64, 64}, {false, true});
    uint32_t both = b.kernel("add", 1, {128, 128}, {false, true});
    fb::ProgramT &p = *b.plan.steps[0]->programs[0];
    b.commandOn(p, half, {b.whole(source), fb::Range(whole, 0, 64)});
    b.commandOn(p, half, {b.whole(source), fb::Range(whole, second, 64)});
    b.command(p, both, {whole, result}, join);
  }
  std::string verdict() { return verifyNoRaces(b.plan).message(); }
};

} // namespace

TEST(RaceVerifier, HalvesOfABufferAreIndependent) {
  EXPECT_EQ(Halves().verdict(), "");
  EXPECT_NE(Halves({0}).verdict().find("race: command 2 (add) reads bytes at "
                                       "arena offset 128 without waiting for "
                                       "command 1 (squares)"),
            std::string::npos);
  EXPECT_NE(Halves({1}).verdict().find("race"), std::string::npos);
  // The halves meet.
  EXPECT_NE(Halves({0, 1}, 60).verdict().find("writes"), std::string::npos);
  // A buffer is moved over another.
  Halves moved;
  moved.b.plan.buffers[moved.result]->offset = 128;
  EXPECT_NE(moved.verdict().find("overlap"), std::string::npos);
  Halves below;
  below.b.plan.buffers[below.source]->offset = 128;
  EXPECT_NE(below.verdict().find("race"), std::string::npos);
}

TEST(RaceVerifier, PlansOfTheReaderAreChecked) {
  PlanBuilder b = regressionPlan(8);
  b.plan.steps[0]->programs[0]->commands[1]->deps.clear();
  EXPECT_NE(verdict(b.plan).find("race"), std::string::npos);
}

/// The definition, pair by pair.
static bool racesByDefinition(const fb::PlanT &plan) {
  const fb::ProgramT &program = *plan.steps[0]->programs[0];
  size_t count = program.commands.size();
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
  for (size_t c = 0; c < count; ++c)
    for (uint32_t dep : program.commands[c]->deps) {
      before[c][dep] = true;
      for (size_t a = 0; a < count; ++a)
        if (before[dep][a])
          before[c][a] = true;
    }
  auto conflict = [&](const fb::CommandT &x, const fb::CommandT &y) {
    for (const Access &a : accessesOf(plan, x))
      for (const Access &b : accessesOf(plan, y)) {
        uint64_t atA =
            plan.buffers[a.range.buffer()]->offset + a.range.offset();
        uint64_t atB =
            plan.buffers[b.range.buffer()]->offset + b.range.offset();
        bool meet = atA < atB + b.range.bytes() && atB < atA + a.range.bytes();
        if (meet && (a.writes || b.writes))
          return true;
      }
    return false;
  };
  for (size_t c = 0; c < count; ++c)
    for (size_t a = 0; a < c; ++a)
      if (!before[c][a] && conflict(*program.commands[a], *program.commands[c]))
        return true;
  return false;
}

TEST(RaceVerifier, AgreesWithTheDefinitionOnRandomPrograms) {
  std::mt19937 random(1);
  int racing = 0, clean = 0;
  for (int round = 0; round < 3000; ++round) {
    PlanBuilder b = singleProgramPlan();
    // Buffers of one to three lines of an arena of eight.
    std::vector<uint32_t> buffers;
    for (int i = 0; i < 8; ++i)
      buffers.push_back(b.arenaAt(random() % 8 * 64, (1 + random() % 3) * 64));
    uint32_t kernel = b.kernel("k", 1, {1, 1}, {false, true});
    fb::ProgramT &program = *b.plan.steps[0]->programs[0];
    uint32_t count = 2 + random() % 6;
    for (uint32_t c = 0; c < count; ++c) {
      std::vector<uint32_t> deps;
      for (uint32_t a = 0; a < c; ++a)
        if (random() % 3 != 0)
          deps.push_back(a);
      // Pieces of 16 bytes of a buffer.
      auto anyRange = [&] {
        uint32_t buffer = buffers[random() % buffers.size()];
        uint64_t pieces = b.plan.buffers[buffer]->bytes / 16;
        uint64_t first = random() % pieces;
        return fb::Range(buffer, first * 16,
                         (1 + random() % (pieces - first)) * 16);
      };
      auto begin = [&](const fb::Range &range) {
        return b.plan.buffers[range.buffer()]->offset + range.offset();
      };
      fb::Range from, to;
      do {
        from = anyRange();
        to = anyRange();
      } while (from.bytes() > to.bytes() ||
               (begin(from) + from.bytes() > begin(to) &&
                begin(to) + to.bytes() > begin(from)));
      if (random() % 4 == 0)
        b.copy(program, from, fb::Range(to.buffer(), to.offset(), from.bytes()),
               deps);
      else
        b.commandOn(program, kernel, {from, to}, deps);
    }
    bool expected = racesByDefinition(b.plan);
    ASSERT_EQ(!verifyNoRaces(b.plan).ok(), expected) << "round " << round;
    ++(expected ? racing : clean);
  }
  EXPECT_GT(racing, 100);
  EXPECT_GT(clean, 100);
}

TEST(RaceVerifier, LongProgramsAreQuick) {
  PlanBuilder b = singleProgramPlan();
  uint32_t kernel = b.kernel("k", 1, {1, 1}, {false, true});
  std::vector<uint32_t> buffers;
  for (int i = 0; i < 1000; ++i)
    buffers.push_back(b.arena(64));
  fb::ProgramT &program = *b.plan.steps[0]->programs[0];
  for (uint32_t c = 0; c < 50000; ++c)
    b.command(program, kernel, {buffers[c % 1000], buffers[(c + 1) % 1000]},
              c == 0 ? std::vector<uint32_t>{} : std::vector<uint32_t>{c - 1});
  EXPECT_TRUE(verifyNoRaces(b.plan).ok());
}

/// Independent commands, one that waits for all of them, and as many again that
/// write over what the first ones wrote.
static PlanBuilder widePlan(uint32_t width) {
  PlanBuilder b = singleProgramPlan();
  uint32_t kernel = b.kernel("k", 1, {1, 1}, {false, true});
  uint32_t source = b.arena(64), joined = b.arena(64);
  uint32_t all = b.arena(uint64_t(width) * 64);
  fb::ProgramT &program = *b.plan.steps[0]->programs[0];
  std::vector<uint32_t> first;
  auto writePieces = [&](std::vector<uint32_t> deps) {
    for (uint32_t c = 0; c < width; ++c)
      b.commandOn(program, kernel,
                  {b.whole(source), fb::Range(all, c * uint64_t(64), 64)},
                  deps);
  };
  writePieces({});
  for (uint32_t c = 0; c < width; ++c)
    first.push_back(c);
  b.command(program, kernel, {all, joined}, first);
  writePieces({width});
  return b;
}

TEST(RaceVerifier, WideProgramsAreVerified) {
  constexpr uint32_t width = 20000;
  PlanBuilder b = widePlan(width);
  EXPECT_EQ(verifyNoRaces(b.plan).message(), "");
  // One of the many edges is missing.
  fb::ProgramT &program = *b.plan.steps[0]->programs[0];
  std::erase(program.commands[width]->deps, 12345u);
  EXPECT_NE(verifyNoRaces(b.plan).message().find(
                "race: command 20000 (k) reads bytes at arena offset 790208 "
                "without waiting for command 12345 (k)"),
            std::string::npos)
      << verifyNoRaces(b.plan).message();
}

TEST(RaceVerifier, WorkIsBounded) {
  // Pieces times readers of all of them: more than any compiler writes.
  PlanBuilder b = widePlan(10000);
  fb::ProgramT &program = *b.plan.steps[0]->programs[0];
  fb::CommandT join(*program.commands[10000]);
  program.commands.resize(10000);
  for (int c = 0; c < 8000; ++c)
    program.commands.push_back(std::make_unique<fb::CommandT>(join));
  EXPECT_NE(verifyNoRaces(b.plan).message().find("too many pieces"),
            std::string::npos);
}
