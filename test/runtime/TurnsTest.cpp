// The turns of several training steps, beside a count by hand.
#include "runtime/train/Turns.h"

#include <gtest/gtest.h>

using namespace dlrt;

namespace {

fb::PlanT planOf(std::vector<std::pair<std::string, bool>> steps) {
  fb::PlanT plan;
  for (auto &[name, training] : steps) {
    plan.steps.push_back(std::make_unique<fb::StepT>());
    plan.steps.back()->name = name;
    plan.steps.back()->training = training;
  }
  return plan;
}

Turns make(const std::string &alternate) {
  auto wishes = parseAlternate(alternate);
  EXPECT_TRUE(wishes) << wishes.status().message();
  auto turns = Turns::create(
      planOf({{"a", true}, {"eval.test", false}, {"b", true}, {"c", true}}),
      *wishes);
  EXPECT_TRUE(turns) << turns.status().message();
  return std::move(*turns);
}

} // namespace

TEST(Turns, OneEachInTheOrderOfThePlan) {
  auto turns =
      Turns::create(planOf({{"a", true}, {"t", false}, {"b", true}}), {});
  ASSERT_TRUE(turns);
  EXPECT_EQ(turns->steps(), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(turns->text(), "a:1,b:1");
  EXPECT_EQ(turns->length(), 2u);
}

TEST(Turns, AreWhatACountSays) {
  for (const char *text : {"a:1,b:1,c:1", "a:5,b:1,c:1", "c:2,a:3,b:1"}) {
    Turns turns = make(text);
    uint64_t length = turns.length();
    for (uint64_t place = 0; place < length; ++place)
      for (uint64_t count = 0; count < 4 * length; ++count) {
        std::vector<uint64_t> done(3);
        for (uint64_t i = 0; i < count; ++i)
          ++done[turns.turnAt((place + i) % length)];
        for (size_t turn = 0; turn < 3; ++turn)
          EXPECT_EQ(turns.updatesOf(turn, place, count), done[turn])
              << text << ", " << count << " from " << place;
        uint64_t until = 0, first = 0;
        for (;; ++until)
          if (turns.turnAt((place + until) % length) == 0 && first++ == count)
            break;
        EXPECT_EQ(turns.untilFirstHasDone(count, place), until)
            << text << ", " << count << " from " << place;
      }
  }
}

TEST(Turns, LongRunsDoNotWrapAround) {
  Turns turns = make("a:5,b:1,c:1");
  EXPECT_EQ(turns.untilFirstHasDone(~uint64_t(0), 3), ~uint64_t(0));
  EXPECT_EQ(turns.updatesOf(1, 6, uint64_t(7) << 60), uint64_t(1) << 60);
}

TEST(Turns, WhatIsNoTurnIsRefused) {
  for (const char *text : {"", "a", "a:", ":1", "a:0", "a:-1", "a:1,", "a:x",
                           "a:1000000001", "a:1,,b:1"})
    EXPECT_FALSE(parseAlternate(text)) << text;
}
