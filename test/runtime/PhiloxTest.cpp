#include "runtime/state/Philox.h"

#include <gtest/gtest.h>

using namespace dlrt;

/// The known answers of the Random123 library (kat_vectors, philox4x32 10).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UnitInterval) {
  EXPECT_EQ(unitInterval(0), 0.0);
  EXPECT_EQ(unitInterval(0xffffffff), 1 - 0x1p-24);
  EXPECT_EQ(unitInterval(0x80000000), 0.5);
}

TEST(Philox, KeyMixesSeedAndStream) {
  EXPECT_EQ(philoxKey(0x100000002, 0x300000005), (PhiloxKey{7, 2}));
}
