// The published known answers of Philox4x32-10 (Random123's kat_vectors).

#include "dialects/graph/ops/random/Philox.h"
#include <gtest/gtest.h>

using dl::graph::drawWord;
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

// Word w is word w % 4 of counter w / 4, which is cut in two as the key is.
TEST(Philox, WordsFollowOneAnother) {
  uint32_t low = 0x243f6a88, high = 0x05a308d3; // four times it is an int64_t
  int64_t counter = int64_t{high} << 32 | low, key = 0x0000000100000002;
  int64_t seed = 0x299f31d0a4093822 ^ key;
  Words here =
      philox({low, high, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  Words next =
      philox({low + 1, high, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  EXPECT_NE(here, next);
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(drawWord(4 * counter + i, seed, 0x13198a2e, 0x03707344, key),
              i < 4 ? here[i] : next[i - 4])
        << i;
}

// With known answers: words 0 to 3 of counter 0.
TEST(Philox, FirstWords) {
  const Words known = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(drawWord(i, 7, 0, 0, 7), known[i]) << i;
}
