#include "runtime/data/WeightedDraws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace dlrt;

TEST(WeightedDraws, ItemsWithoutWeightNeverCome) {
  // Also where a number is rounded up to the sum of all.
  const double tiny = 0x1p-1074;
  for (std::vector<double> weights : {std::vector<double>{0, 0, 2, 0, 1, 0},
                                      {0, 1, 0},
                                      {tiny, 0, 0},
                                      {0, 0, tiny},
                                      {0, 1e300, 1e308, 0}}) {
    auto draws = WeightedDraws::make(weights);
    ASSERT_TRUE(draws);
    for (uint64_t position = 0; position < 2000; ++position)
      EXPECT_GT(weights[(*draws)(7, 3, position)], 0);
  }
}

TEST(WeightedDraws, FollowSeedEpochAndPosition) {
  auto draws = WeightedDraws::make(std::vector<double>(1000, 1.0));
  ASSERT_TRUE(draws);
  auto row = [&](uint64_t seed, uint64_t epoch) {
    std::vector<uint64_t> items;
    for (uint64_t position = 0; position < 50; ++position)
      items.push_back((*draws)(seed, epoch, position));
    return items;
  };
  EXPECT_EQ(row(1, 2), row(1, 2));
  EXPECT_NE(row(1, 2), row(2, 2));
  EXPECT_NE(row(1, 2), row(1, 3));
}

TEST(WeightedDraws, WhatIsNoWeight) {
  for (std::vector<double> weights : {std::vector<double>{1, -1},
                                      {0, 0},
                                      {std::nan("")},
                                      {HUGE_VAL},
                                      {1e308, 1e308}})
    EXPECT_FALSE(WeightedDraws::make(weights));
}
