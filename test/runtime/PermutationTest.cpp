#include "runtime/data/Permutation.h"

#include <gtest/gtest.h>

#include <vector>

using namespace dlrt;

TEST(Permutation, IsOneForEverySize) {
  for (uint64_t size = 1; size < 600; ++size) {
    Permutation order(size, 5, 2);
    std::vector<bool> seen(size);
    for (uint64_t i = 0; i < size; ++i) {
      uint64_t item = order(i);
      ASSERT_LT(item, size);
      ASSERT_FALSE(seen[item]) << size;
      seen[item] = true;
    }
  }
}

static std::vector<uint64_t> firstFour(const Permutation &order) {
  return {order(0), order(1), order(2), order(3)};
}

/// A run that resumes by another build goes on with the same items, whether
/// rounds are kept in a table or computed.
TEST(Permutation, StaysAsItIs) {
  EXPECT_EQ(firstFour(Permutation(60000, 7, 3)),
            (std::vector<uint64_t>{28987, 226, 32968, 35570}));
  EXPECT_EQ(firstFour(Permutation(uint64_t(1) << 40, 7, 3)),
            (std::vector<uint64_t>{1016511288983, 784356345182, 563196353296,
                                   796814421439}));
}

TEST(Permutation, BecomesTheNextEpochs) {
  Permutation order(60000, 7, 2);
  EXPECT_FALSE(order.is(60000, 7, 3));
  order.reset(60000, 7, 3);
  EXPECT_TRUE(order.is(60000, 7, 3));
  EXPECT_EQ(firstFour(order), firstFour(Permutation(60000, 7, 3)));
}

static size_t fixedPoints(const Permutation &a, const Permutation &b,
                          uint64_t size) {
  size_t same = 0;
  for (uint64_t i = 0; i < size; ++i)
    same += a(i) == b(i);
  return same;
}

TEST(Permutation, SeedAndEpochChangeIt) {
  uint64_t size = 60000;
  Permutation order(size, 1, 1);
  EXPECT_EQ(fixedPoints(order, Permutation(size, 1, 1), size), size);
  EXPECT_LT(fixedPoints(order, Permutation(size, 2, 1), size), 20u);
  EXPECT_LT(fixedPoints(order, Permutation(size, 1, 2), size), 20u);
  EXPECT_LT(fixedPoints(order, Permutation(size, uint64_t(1) << 40, 1), size),
            20u);
}

TEST(Permutation, LooksRandom) {
  // Of neighbours in a shuffled order, half are ascending; the mean distance of
  // two items is a third of the range.
  uint64_t size = 60000;
  Permutation order(size, 3, 0);
  uint64_t ascending = 0;
  double distance = 0;
  for (uint64_t i = 0; i + 1 < size; ++i) {
    double step = double(order(i + 1)) - double(order(i));
    ascending += step > 0;
    distance += std::abs(step);
  }
  EXPECT_NEAR(double(ascending) / size, 0.5, 0.01);
  EXPECT_NEAR(distance / size / size, 1.0 / 3, 0.01);
}

TEST(Permutation, SmallSizesTakeManyOrders) {
  // Three items have six orders; all must come, about as often.
  std::vector<int> counts(27);
  for (uint64_t epoch = 0; epoch < 6000; ++epoch) {
    Permutation order(3, 0, epoch);
    ++counts[order(0) * 9 + order(1) * 3 + order(2)];
  }
  int orders = 0;
  for (int count : counts)
    if (count != 0) {
      ++orders;
      EXPECT_NEAR(count, 1000, 200);
    }
  EXPECT_EQ(orders, 6);
}
