// Copies and exchanges that are no good are refused.
#include "test/runtime/TestPlan.h"

#include <functional>

using namespace dlrt;
using namespace dlrt::test;

/// The verdict on a plan of one command made by `add` on buffers of 64 bytes.
static std::string
ofOne(const std::function<void(PlanBuilder &, fb::ProgramT &, uint32_t from,
                               uint32_t to)> &add) {
  PlanBuilder b = singleProgramPlan();
  b.axis("dp", 2);
  b.axis("one", 1);
  uint32_t from = b.arena(64), to = b.arena(64);
  add(b, firstProgram(b.plan), from, to);
  return verdict(b);
}

TEST(Transfers, Copies) {
  auto copy = [](uint64_t from, uint64_t to, uint64_t bytes,
                 bool same = false) {
    return ofOne([=](auto &b, auto &p, uint32_t a, uint32_t c) {
      b.copy(p, {a, from, bytes}, {same ? a : c, to, bytes});
    });
  };
  EXPECT_EQ(copy(0, 0, 64), "");
  EXPECT_EQ(copy(0, 32, 32, true), "");
  EXPECT_NE(copy(8, 0, 64).find("64 bytes from byte 8 on leave buffer 0"),
            std::string::npos);
  EXPECT_NE(copy(0, 8, 64).find("leave buffer 1"), std::string::npos);
  EXPECT_NE(copy(8, 8, 8, true).find("onto themselves"), std::string::npos);
  EXPECT_NE(copy(0, 16, 32, true).find("overlap"), std::string::npos);
  EXPECT_NE(ofOne([](auto &b, auto &p, uint32_t a, uint32_t) {
              uint32_t x = b.input(0, 16);
              b.copy(p, {a, 0, 16}, {x, 0, 16});
            }).find("read-only"),
            std::string::npos);
}

TEST(Transfers, Exchanges) {
  auto exchange = [](std::vector<uint32_t> axes, uint32_t member,
                     uint64_t offset, uint64_t second) {
    return ofOne([=](auto &b, auto &p, uint32_t a, uint32_t c) {
      // Each member has two parts of each other's.
      b.exchange(p, axes, 3, {{0, {a, 0, 32}}, {member, {a, offset, 32}}},
                 {{0, {c, 0, 32}}, {1, {c, 32, 32}}});
      b.exchange(p, axes, second, {}, {}, {0});
    });
  };
  EXPECT_EQ(exchange({0}, 1, 32, 4), "");
  EXPECT_EQ(exchange({1, 0}, 1, 32, 4), "");
  EXPECT_NE(exchange({2}, 1, 32, 4).find("axis 2"), std::string::npos);
  EXPECT_NE(exchange({0, 0}, 1, 32, 4).find("axis 0"), std::string::npos);
  EXPECT_NE(exchange({1}, 1, 32, 4).find("with nobody"), std::string::npos);
  EXPECT_NE(exchange({}, 1, 32, 4).find("with nobody"), std::string::npos);
  EXPECT_NE(exchange({0}, 2, 32, 4).find("member 2 of 2"), std::string::npos);
  EXPECT_NE(exchange({0}, 1, 40, 4).find("leave buffer 0"), std::string::npos);
  EXPECT_NE(exchange({0}, 1, 32, 3).find("rank 0 in exchange 3"),
            std::string::npos);
}

TEST(Transfers, ExchangesDoNotOverwrite) {
  auto into = [](bool same, uint64_t offset) {
    return ofOne([=](auto &b, auto &p, uint32_t a, uint32_t c) {
      uint32_t in = same ? a : c;
      b.exchange(p, {0}, 3, {{0, {a, 0, 16}}, {1, {a, 0, 16}}},
                 {{0, {in, offset, 16}}, {1, {in, offset + 16, 16}}});
    });
  };
  EXPECT_EQ(into(false, 0), "");
  EXPECT_EQ(into(true, 32), "");
  EXPECT_NE(into(true, 0).find("receives where it sends from"),
            std::string::npos);
  EXPECT_NE(into(true, 8).find("receives where it sends from"),
            std::string::npos);
}

/// What is said of one transfer among four ranks, of a buffer of 64 bytes.
static std::string ofMembers(uint32_t member, uint32_t members, uint64_t offset,
                             uint64_t bytes, bool same, bool receives = false) {
  PlanBuilder b = singleProgramPlan();
  b.axis("dp", 4);
  fb::ProgramT &program = firstProgram(b.plan);
  b.exchange(program, {0}, 3, {}, {});
  auto *work = program.commands.back()->work.AsCommunicate();
  (receives ? work->receives : work->sends)
      .emplace_back(member, members, fb::Range(b.arena(64), offset, bytes),
                    same);
  return verdict(b);
}

TEST(Transfers, MembersOfATransfer) {
  auto fails = [](const std::string &said, const char *why) {
    EXPECT_NE(said.find(why), std::string::npos) << said;
  };
  // The others say nothing, so the proof refuses what is right by itself.
  fails(ofMembers(0, 4, 0, 16, false), "rank 0 sends 16 bytes to rank 0");
  fails(ofMembers(2, 2, 8, 28, false), "rank 0 sends 28 bytes to rank 2");
  fails(ofMembers(1, 3, 0, 64, true), "rank 0 sends 64 bytes to rank 1");
  fails(ofMembers(0, 4, 0, 16, false, true), "waits for 16 bytes");
  fails(ofMembers(0, 0, 0, 16, false), "0 members from member 0 of 4 on");
  fails(ofMembers(1, 4, 0, 16, true), "4 members from member 1 of 4 on");
  fails(ofMembers(3, ~0u, 0, 16, true), "members from member 3 of 4 on");
  fails(ofMembers(2, 2, 8, 29, false), "2 times 29 bytes from byte 8 on leave");
  fails(ofMembers(0, 2, 0, 16, true, true), "2 members write the same bytes");
}
