// The published known answers of Philox4x32-10 (Random123's kat_vectors).

#include "dialects/graph/ops/random/Philox.h"
#include <gtest/gtest.h>

using dl::graph::drawWords;
using dl::graph::philox;
using Words = std::array<uint32_t, 4>;

TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t all = 0xffffffff;
  EXPECT_EQ(philox({all, all, all, all}, {all, all}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, CounterAndKeyOfAnElement) {
  int64_t index = 0x85a308d3243f6a88, key = 0x0000000100000002;
  int64_t seed = 0x299f31d0a4093822 ^ key;
  EXPECT_EQ(drawWords(index, seed, 0x13198a2e, 0x03707344, key),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}
