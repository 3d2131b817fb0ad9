#include "compiler/pictures/Course.h"

#include <gtest/gtest.h>

using namespace dl::pictures;

namespace {

CourseCommand computes(double seconds, std::vector<unsigned> after = {}) {
  return {seconds, std::move(after), std::nullopt};
}

CourseCommand exchanges(int64_t order, std::vector<unsigned> after = {},
                        double seconds = 0) {
  return {seconds, std::move(after), order};
}

/// The first stage computes for 2 s, the second for 3 s with what it made, the
/// first for 1 s with what comes back.
std::vector<std::vector<CourseCommand>> thereAndBack(double latency = 0) {
  return {
      {computes(2), exchanges(7, {0}, latency), exchanges(9), computes(1, {2})},
      {exchanges(7, {}, latency), computes(3, {0}), exchanges(9, {1})}};
}

} // namespace

TEST(Course, OneStageIsNeverIdle) {
  Course course =
      followCommands({{computes(1), computes(2, {0}), computes(3, {1})}});
  EXPECT_DOUBLE_EQ(course.period, 6);
  EXPECT_DOUBLE_EQ(course.idle, 0);
}

TEST(Course, StagesWaitForEachOther) {
  Course course = followCommands(thereAndBack());
  EXPECT_DOUBLE_EQ(course.period, 6);
  EXPECT_DOUBLE_EQ(course.idle, 0.5);
}

TEST(Course, ExchangesTakeTimeAndNoCore) {
  Course course = followCommands(thereAndBack(1));
  EXPECT_DOUBLE_EQ(course.period, 7);
  EXPECT_DOUBLE_EQ(course.idle, 1 - 6.0 / 14);
}

TEST(Course, WhatNobodyWaitsForFillsWaits) {
  auto stages = thereAndBack();
  stages[0].push_back(computes(2, {0}));
  Course course = followCommands(stages);
  EXPECT_DOUBLE_EQ(course.period, 6);
  EXPECT_DOUBLE_EQ(course.idle, 1 - 8.0 / 12);
}

TEST(Course, WhatAnExchangeWaitsForGoesFirst) {
  std::vector<std::vector<CourseCommand>> stages = {
      {computes(2), computes(2), exchanges(7, {1}), exchanges(9),
       computes(1, {3})},
      {exchanges(7), computes(3, {0}), exchanges(9, {1})}};
  EXPECT_DOUBLE_EQ(followCommands(stages).period, 6);
}

TEST(Course, AStageDoesNotWaitForTheOthersToEndAStep) {
  // The second one adds to what it was sent while the first begins again.
  std::vector<std::vector<CourseCommand>> stages = {
      {computes(2), exchanges(7, {0})}, {exchanges(7), computes(2, {0})}};
  Course course = followCommands(stages);
  EXPECT_DOUBLE_EQ(course.period, 2);
  EXPECT_DOUBLE_EQ(course.idle, 0);
}
