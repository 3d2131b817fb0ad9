#include "runtime/base/Numbers.h"
#include "runtime/base/Suggest.h"

#include <gtest/gtest.h>

#include <vector>

using namespace dlrt;

TEST(Numbers, ShortestReadsBackEqual) {
  EXPECT_EQ(shortest(0.1f), "0.1");
  EXPECT_EQ(shortest(double(0.1f)), "0.10000000149011612");
  EXPECT_EQ(shortest(-0.0), "-0");
  EXPECT_EQ(shortest(1.0f / 0.0f), "inf");
  EXPECT_EQ(shortest(-1.0 / 0.0), "-inf");
  EXPECT_EQ(shortest(0.0f / 0.0f), "nan");
}

TEST(Numbers, ForPeople) {
  EXPECT_EQ(humanBytes(999), "999 B");
  EXPECT_EQ(humanBytes(1000), "1.0 kB");
  EXPECT_EQ(humanBytes(46'937'408), "46.9 MB");
  EXPECT_EQ(humanBytes(999'960), "1.0 MB");
  EXPECT_EQ(humanSeconds(0.0312), "31 ms");
  EXPECT_EQ(humanSeconds(185), "3m05s");
  EXPECT_EQ(humanSeconds(7800), "2h10m");
}

TEST(Numbers, Parsing) {
  EXPECT_EQ(parseUnsigned("42"), 42u);
  for (const char *text : {"", "-1", "1x", " 1", "99999999999999999999"})
    EXPECT_FALSE(parseUnsigned(text)) << text;
  EXPECT_EQ(parseDouble("0.5"), 0.5);
  EXPECT_FALSE(parseDouble("0.5s"));
}

TEST(Suggest, Nearest) {
  std::vector<std::string> names = {"epochs", "steps", "seed"};
  EXPECT_EQ(nearest("epohcs", names), "epochs");
  EXPECT_EQ(nearest("sead", names), "seed");
  EXPECT_EQ(nearest("banana", names), "");
  EXPECT_EQ(didYouMean("step", names), "; did you mean 'steps'?");
}
