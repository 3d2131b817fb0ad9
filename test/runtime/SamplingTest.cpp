#include "runtime/train/Sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

using namespace dlrt;

namespace {

constexpr double kInfinite = HUGE_VAL;

/// How often each token is drawn, of 1000 numbers that are evenly spread.
std::map<uint64_t, int> timesDrawn(const std::vector<double> &logits,
                                   const Sampling &sampling) {
  std::map<uint64_t, int> counts;
  for (int i = 0; i < 1000; ++i)
    ++counts[*drawToken(logits, sampling, {}, (i + 0.5) / 1000)];
  return counts;
}

using TimesDrawn = std::map<uint64_t, int>;

} // namespace

TEST(Sampling, DrawsBySoftmax) {
  // e^0 : e^log(3) : e^log(6) = 1 : 3 : 6.
  std::vector<double> logits = {0, std::log(3.0), std::log(6.0)};
  EXPECT_EQ(timesDrawn(logits, {}), (TimesDrawn{{0, 100}, {1, 300}, {2, 600}}));
  // With temperature 1/2 they are squared: 1 : 9 : 36.
  TimesDrawn colder = timesDrawn(logits, {.temperature = 0.5});
  EXPECT_NEAR(colder[0], 1000.0 / 46, 1);
  EXPECT_NEAR(colder[1], 9000.0 / 46, 1);
  // Logits may all be moved, and be large.
  for (double &logit : logits)
    logit += 1e4;
  EXPECT_EQ(timesDrawn(logits, {}), (TimesDrawn{{0, 100}, {1, 300}, {2, 600}}));
}

TEST(Sampling, LikeliestAtTemperatureZero) {
  EXPECT_EQ(timesDrawn({1, 7, 7, 3}, {.temperature = 0}),
            (TimesDrawn{{1, 1000}}));
  EXPECT_EQ(timesDrawn({-kInfinite, -5}, {.temperature = 0}),
            (TimesDrawn{{1, 1000}}));
}

TEST(Sampling, TopKKeepsWhatEqualsTheLast) {
  std::vector<double> logits = {2, 1, 2, 1, 0};
  EXPECT_EQ(timesDrawn(logits, {.topK = 1}), (TimesDrawn{{0, 500}, {2, 500}}));
  EXPECT_EQ(timesDrawn(logits, {.topK = 2}), (TimesDrawn{{0, 500}, {2, 500}}));
  EXPECT_EQ(timesDrawn(logits, {.topK = 3}).size(), 4u);
  EXPECT_EQ(timesDrawn(logits, {.topK = 99}).size(), 5u);
}

TEST(Sampling, TopPIsTheLeastNumber) {
  std::vector<double> logits = {std::log(0.2), std::log(0.5), std::log(0.3)};
  EXPECT_EQ(timesDrawn(logits, {.topP = 0.4}), (TimesDrawn{{1, 1000}}));
  EXPECT_EQ(timesDrawn(logits, {.topP = 0.6}),
            (TimesDrawn{{1, 625}, {2, 375}}));
  EXPECT_EQ(timesDrawn(logits, {.topP = 0.85}).size(), 3u);
  EXPECT_EQ(timesDrawn(logits, {.topP = 1e-300}), (TimesDrawn{{1, 1000}}));
  // Of those that top-k leaves.
  EXPECT_EQ(timesDrawn(logits, {.topK = 2, .topP = 0.7}),
            (TimesDrawn{{1, 625}, {2, 375}}));
}

TEST(Sampling, MinPIsAShareOfTheLikeliest) {
  std::vector<double> logits = {std::log(0.2), std::log(0.5), std::log(0.3)};
  EXPECT_EQ(timesDrawn(logits, {.minP = 0.39}).size(), 3u);
  EXPECT_EQ(timesDrawn(logits, {.minP = 0.41}),
            (TimesDrawn{{1, 625}, {2, 375}}));
  EXPECT_EQ(timesDrawn(logits, {.minP = 1}), (TimesDrawn{{1, 1000}}));
  // With temperature 2 roots are compared: 0.63 : 1 : 0.77.
  EXPECT_EQ(timesDrawn(logits, {.temperature = 2, .minP = 0.6}).size(), 3u);
  EXPECT_EQ(timesDrawn(logits, {.temperature = 2, .minP = 0.7}).size(), 2u);
}

TEST(Sampling, RepetitionIsPenalizedOnce) {
  auto likeliest = [](const std::vector<double> &logits, double penalty,
                      const std::vector<uint64_t> &text) {
    Sampling sampling{.temperature = 0, .repetitionPenalty = penalty};
    return *drawToken(logits, sampling, text, 0.5);
  };
  EXPECT_EQ(likeliest({4, 3, 1}, 1.5, {}), 0u);
  EXPECT_EQ(likeliest({4, 3, 1}, 1.5, {0}), 1u);       // 2.67
  EXPECT_EQ(likeliest({4, 3, 1}, 1.3, {0, 0, 0}), 0u); // 3.08
  EXPECT_EQ(likeliest({-1, -1.4, -9}, 1.5, {0}), 1u);  // -1.5
  EXPECT_EQ(likeliest({4, 3, 1}, 1, {0}), 0u);
  EXPECT_EQ(likeliest({4, 3, 1}, 1.5, {7}), 0u); // has no logit
}

TEST(Sampling, WhatIsNotFiniteIsNotDrawn) {
  EXPECT_EQ(timesDrawn({-kInfinite, 0, -kInfinite, 0}, {}),
            (TimesDrawn{{1, 500}, {3, 500}}));
  for (double wrong : {std::nan(""), kInfinite})
    EXPECT_FALSE(drawToken(std::vector<double>{0, wrong, 1}, {}, {}, 0.5));
  EXPECT_FALSE(drawToken(std::vector<double>{-kInfinite}, {}, {}, 0.5));
  // At both ends of [0, 1), too.
  for (double at : {0.0, std::nextafter(1.0, 0.0)}) {
    auto token = drawToken(std::vector<double>{-800, 0, -800}, {}, {}, at);
    EXPECT_TRUE(token);
  }
}
