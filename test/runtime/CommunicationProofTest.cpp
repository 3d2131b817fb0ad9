// What one rank says differently from what the others expect is refused before
// anything runs, and it is the abstract execution that refuses it.
#include "runtime/plan/CommunicationProof.h"
#include "runtime/plan/RaceVerifier.h"
#include "test/runtime/TestPlan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

using namespace dlrt;
using namespace dlrt::test;

namespace {

fb::ProgramT &batch(fb::PlanT &plan) { return *plan.steps[0]->programs[0]; }

/// Exchanges one after the other, each of another length: along an axis, where
/// each member gives each a part, or its own to the other; or from one stage to
/// the other.
enum class Kind { Gather, Swap, Forward, Backward };

class StagePlan : public PlanBuilder {
public:
  StagePlan(uint32_t stage, const std::vector<Kind> &kinds)
      : PlanBuilder(singleProgramPlan()) {
    for (size_t e = 0; e < kinds.size(); ++e) {
      uint64_t bytes = 64 * (e + 1);
      bool sends = (kinds[e] == Kind::Forward) == (stage == 0);
      std::vector<uint32_t> deps;
      if (e != 0)
        deps = {static_cast<uint32_t>(e) - 1};
      if (kinds[e] == Kind::Gather) {
        fb::Range own = whole(arena(bytes));
        exchange(batch(plan), {1}, 10 * e, {{0, own}, {1, own}},
                 {{0, whole(arena(bytes))}, {1, whole(arena(bytes))}}, deps);
      } else if (kinds[e] == Kind::Swap) {
        exchange(batch(plan), {1}, 10 * e, {{1, whole(arena(bytes))}},
                 {{1, whole(arena(bytes))}}, deps);
        batch(plan).commands.back()->work.AsCommunicate()->relative = true;
      } else if (sends) {
        exchange(batch(plan), {0}, 10 * e, {{1 - stage, whole(arena(bytes))}},
                 {}, deps);
      } else {
        exchange(batch(plan), {0}, 10 * e, {},
                 {{1 - stage, whole(arena(bytes))}}, deps);
      }
    }
  }
};

/// Ranks 0 and 1 are the first stage, 2 and 3 the second.
const Mesh stages = {{{"pp", 2}, {"dp", 2}}};

using Random = std::minstd_rand;

uint32_t below(Random &random, size_t count) {
  return static_cast<uint32_t>(random() / 7 % count);
}

fb::CommunicateT &exchangeAt(fb::ProgramT &program, size_t index) {
  return *program.commands[index]->work.AsCommunicate();
}

void drop(fb::ProgramT &program, uint32_t at) {
  std::vector<uint32_t> before = program.commands[at]->deps;
  program.commands.erase(program.commands.begin() + at);
  for (auto &command : program.commands) {
    if (std::erase(command->deps, at) != 0)
      command->deps.insert(command->deps.end(), before.begin(), before.end());
    for (uint32_t &dep : command->deps)
      dep -= dep > at;
  }
}

void repeat(fb::ProgramT &program, uint32_t at) {
  auto copy = std::make_unique<fb::CommandT>(*program.commands[at]);
  copy->work.AsCommunicate()->order += 5;
  for (auto &command : program.commands)
    for (uint32_t &dep : command->deps)
      dep += dep >= at;
  copy->deps = {at};
  program.commands.insert(program.commands.begin() + at + 1, std::move(copy));
}

/// Changes one communication of a program.
std::string change(fb::ProgramT &program, Random &random) {
  uint32_t at = below(random, program.commands.size());
  fb::CommunicateT &exchange = exchangeAt(program, at);
  auto &list = exchange.sends.empty() ||
                       (!exchange.receives.empty() && below(random, 2) == 0)
                   ? exchange.receives
                   : exchange.sends;
  uint32_t transfer = below(random, list.size());
  fb::Range range = list[transfer].range();
  uint32_t member = list[transfer].member();
  switch (below(random, 5)) {
  case 0:
    drop(program, at);
    return "dropped";
  case 1:
    repeat(program, at);
    return "doubled";
  case 2: {
    uint32_t other = (at + 1 + below(random, program.commands.size() - 1)) %
                     program.commands.size();
    std::swap(program.commands[at]->work, program.commands[other]->work);
    if (below(random, 2) == 0) // each place keeps its number
      std::swap(exchangeAt(program, at).order,
                exchangeAt(program, other).order);
    return "swapped";
  }
  case 3:
    range = fb::Range(range.buffer(), range.offset(), range.bytes() - 4);
    list[transfer] = toOne(member, range);
    return "resized";
  default:
    list[transfer] = toOne(1 - member, range);
    return "sent elsewhere";
  }
}

PlanSet gather(const Mesh &mesh, const std::vector<const fb::PlanT *> &plans) {
  std::vector<uint8_t> bytes = packPlans(mesh, plans);
  fb::PlanFileT file;
  fb::GetPlanFile(bytes.data())->UnPackTo(&file);
  Expected<PlanSet> set = gatherPlans(std::move(file));
  EXPECT_TRUE(set) << set.status().message();
  return std::move(*set);
}

/// Everything the reader checks but the abstract execution.
bool othersAccept(const PlanSet &set) {
  if (!validatePlans(set,
                     {{SectionKind::Metadata, {}}, {SectionKind::Image, {}}})
           .ok())
    return false;
  return std::all_of(set.plans.begin(), set.plans.end(), [](auto &plan) {
    return verifyNoRaces(*plan).ok() && checkCommunicationOrder(*plan).ok();
  });
}

} // namespace

TEST(CommunicationProof, EachChangeOfOneRankIsRefused) {
  Random random(1);
  size_t acceptedByOthers = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<Kind> kinds(2 + below(random, 7));
    for (Kind &kind : kinds)
      kind = Kind(below(random, 4));
    StagePlan first(0, kinds), second(1, kinds);
    first.plan.ranks = {0, 1};
    second.plan.ranks = {2, 3};
    if (round % 50 == 0) {
      ASSERT_EQ(verdict(seal(stages, {&first.plan, &second.plan})), "");
    }

    // One rank becomes a class of its own.
    uint32_t rank = below(random, 4);
    fb::PlanT changed = rank < 2 ? first.plan : second.plan;
    changed.ranks = {rank};
    std::erase(rank < 2 ? first.plan.ranks : second.plan.ranks, rank);
    std::vector<const fb::PlanT *> plans = {&first.plan, &second.plan,
                                            &changed};
    std::sort(plans.begin(), plans.end(),
              [](auto *a, auto *b) { return a->ranks < b->ranks; });
    ASSERT_TRUE(executeCommunication(gather(stages, plans)).ok());
    std::string what = change(batch(changed), random);
    std::string refusal = verdict(seal(stages, plans));
    EXPECT_NE(refusal, "") << "round " << round << ": " << what;
    PlanSet set = gather(stages, plans);
    EXPECT_FALSE(executeCommunication(set).ok())
        << "round " << round << ": " << what;
    acceptedByOthers += othersAccept(set);
  }
  // All but those whose order is wrong by itself.
  EXPECT_GT(acceptedByOthers, 850u);
}

TEST(CommunicationProof, SaysWhoDisagrees) {
  std::vector<Kind> kinds = {Kind::Gather, Kind::Forward};
  auto refusal = [&](const std::function<void(fb::ProgramT &)> &change) {
    StagePlan first(0, kinds), second(1, kinds);
    first.plan.ranks = {0, 1};
    second.plan.ranks = {2, 3};
    change(batch(second.plan));
    return verdict(seal(stages, {&first.plan, &second.plan}));
  };
  EXPECT_EQ(refusal([](auto &) {}), "");
  EXPECT_EQ(refusal([](auto &p) {
              auto &receive = exchangeAt(p, 1).receives[0];
              receive = toOne(0, fb::Range(receive.range().buffer(), 0, 32));
            }),
            "wrong plan: step 'train' batch: exchange 10: rank 0 sends 128 "
            "bytes to rank 2, which waits for 32 bytes from it");
  EXPECT_NE(refusal([](auto &p) {
              exchangeAt(p, 1).axes = {1};
            }).find("ranks 0 and 2 go along different axes in exchange 10"),
            std::string::npos);
  EXPECT_NE(refusal([](auto &p) {
              std::swap(exchangeAt(p, 0).order, exchangeAt(p, 1).order);
            })
                .find("ranks wait for one another for ever: rank 0 in exchange "
                      "0, rank 2 in exchange 10"),
            std::string::npos);
}

/// Several may be under way, but a device that takes them one by one takes them
/// in the order of their numbers.
TEST(CommunicationProof, NumbersAscend) {
  auto verdictWith = [](uint64_t before, uint64_t after) {
    PlanBuilder b = singleProgramPlan();
    b.axis("dp", 2);
    for (uint64_t order : {before, after}) {
      fb::Range sent = b.whole(b.arena(64)), got = b.whole(b.arena(64));
      b.exchange(batch(b.plan), {0}, order, {{0, sent}, {1, sent}},
                 {{0, got}, {1, b.whole(b.arena(64))}});
    }
    return verdict(b);
  };
  EXPECT_EQ(verdictWith(0, 10), "");
  EXPECT_NE(verdictWith(10, 5).find("exchange 5 comes after exchange 10"),
            std::string::npos)
      << verdictWith(10, 5);
}

TEST(CommunicationProof, SeveralTransfersOfOneMember) {
  auto of = [](std::vector<uint64_t> sent, std::vector<uint64_t> received) {
    PlanBuilder b = singleProgramPlan();
    b.axis("dp", 2);
    std::vector<MemberRange> sends, receives;
    for (uint32_t member : {0u, 1u}) {
      for (uint64_t bytes : sent)
        sends.emplace_back(member, b.whole(b.arena(bytes)));
      for (uint64_t bytes : received)
        receives.emplace_back(member, b.whole(b.arena(bytes)));
    }
    b.exchange(batch(b.plan), {0}, 0, sends, receives);
    return verdict(b);
  };
  EXPECT_EQ(of({64, 32}, {64, 32}), "");
  EXPECT_NE(of({64, 32}, {32, 64})
                .find("sends 64 + 32 bytes to rank 0, which "
                      "waits for 32 + 64 bytes"),
            std::string::npos);
  EXPECT_NE(of({64, 32}, {64}).find("64 + 32 bytes"), std::string::npos);
  EXPECT_NE(of({64}, {}).find("waits for nothing"), std::string::npos);
}

/// What each gives to the member that many further comes from as many before.
TEST(CommunicationProof, RelativeMembers) {
  auto of = [](uint32_t ranks, uint32_t to, uint32_t from) {
    PlanBuilder b = singleProgramPlan();
    b.axis("dp", ranks);
    b.exchange(batch(b.plan), {0}, 0, {{to, b.whole(b.arena(64))}},
               {{from, b.whole(b.arena(64))}});
    batch(b.plan).commands.back()->work.AsCommunicate()->relative = true;
    return verdict(b);
  };
  EXPECT_EQ(of(2, 1, 1), "");
  EXPECT_EQ(of(3, 1, 2), "");
  EXPECT_EQ(of(3, 2, 1), "");
  EXPECT_EQ(of(64, 1, 63), "");
  EXPECT_NE(of(3, 1, 1).find("rank 0 sends 64 bytes to rank 1, which waits "
                             "for nothing from it"),
            std::string::npos)
      << of(3, 1, 1);
  EXPECT_NE(of(2, 1, 0), "");
  EXPECT_NE(of(64, 1, 1), "");
}

/// An exchange that a whole group leaves out leaves nobody waiting.
TEST(CommunicationProof, WhatIsReadHasBeenWritten) {
  auto of = [](bool exchanged, bool copied) {
    PlanBuilder b = singleProgramPlan();
    b.axis("dp", 2);
    uint32_t kernel = b.kernel("add", 1, {64, 64}, {false, true});
    uint32_t own = b.bufferOf(b.state("w", {16})), got = b.arena(64);
    uint32_t read = copied ? b.arena(64) : got;
    std::vector<uint32_t> deps;
    if (exchanged) {
      fb::Range half(own, 0, 32);
      b.exchange(batch(b.plan), {0}, 0, {{0, half}, {1, half}},
                 {{0, fb::Range(got, 0, 32)}, {1, fb::Range(got, 32, 32)}});
      deps = {0};
    }
    if (copied) {
      b.copy(batch(b.plan), b.whole(got), b.whole(read), deps);
      deps = {static_cast<uint32_t>(batch(b.plan).commands.size()) - 1};
    }
    b.command(batch(b.plan), kernel, {read, b.arena(64)}, deps);
    return verdict(b);
  };
  for (bool copied : {false, true}) {
    EXPECT_EQ(of(true, copied), "");
    EXPECT_NE(of(false, copied).find("which nothing before it writes"),
              std::string::npos);
  }
}

/// The time is printed; nothing fails by it.
TEST(CommunicationProof, ManyRanks) {
  auto build = [](const Mesh &mesh, size_t plans, size_t commands) {
    std::vector<PlanBuilder> builders;
    for (size_t p = 0; p < plans; ++p) {
      PlanBuilder &b = builders.emplace_back(singleProgramPlan());
      uint32_t ranks = mesh.ranks() / static_cast<uint32_t>(plans);
      b.plan.ranks.clear();
      for (uint32_t r = 0; r < ranks; ++r)
        b.plan.ranks.push_back(static_cast<uint32_t>(p) * ranks + r);
      uint32_t kernel = b.kernel("add", 1, {64, 64}, {false, true});
      uint32_t own = b.arena(64);
      uint32_t other = b.bufferOf(b.state("w", {16}));
      for (uint32_t c = 0; c < commands; ++c) {
        std::vector<uint32_t> deps;
        if (c != 0)
          deps = {c - 1};
        uint32_t axis = c / 10 % 2, size = mesh.axes[axis].size;
        if (c % 10 != 0 || size == 1) {
          b.command(batch(b.plan), kernel, {other, own}, deps);
          continue;
        }
        std::vector<MemberRange> sends, receives;
        uint32_t all = b.arena(64 * size);
        for (uint32_t m = 0; m < size; ++m) {
          sends.emplace_back(m, b.whole(own));
          receives.emplace_back(m, fb::Range(all, 64 * m, 64));
        }
        b.exchange(batch(b.plan), {axis}, c, sends, receives, deps);
      }
    }
    std::vector<const fb::PlanT *> all;
    for (PlanBuilder &b : builders)
      all.push_back(&b.plan);
    return gather(mesh, all);
  };
  auto check = [](const PlanSet &set) {
    auto begin = std::chrono::steady_clock::now();
    for (const auto &plan : set.plans)
      EXPECT_EQ(verifyNoRaces(*plan).message(), "");
    auto middle = std::chrono::steady_clock::now();
    EXPECT_EQ(verifyCommunication(set).message(), "");
    auto end = std::chrono::steady_clock::now();
    using Ms = std::chrono::duration<double, std::milli>;
    std::printf("%u ranks, %zu plans: races %.0f ms, communication %.0f ms\n",
                set.mesh.ranks(), set.plans.size(), Ms(middle - begin).count(),
                Ms(end - middle).count());
  };
  check(build({{{"pp", 8}, {"tp", 8}}}, 64, 10000));
  check(build({{{"dp", 1024}, {"one", 1}}}, 1, 10000));
}
