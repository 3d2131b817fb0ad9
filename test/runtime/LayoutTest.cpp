#include "runtime/plan/Layout.h"
#include "runtime/state/LayoutCopy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

using namespace dlrt;

/// [5,3] stored as panels of 4 rows: [2][3][4], the last panel padded.
static const std::vector<uint64_t> shape = {5, 3};
static const Layout panels = {{0, 4, 2, 12}, {1, 1, 3, 4}, {0, 1, 4, 1}};

TEST(Layout, RowMajor) {
  Layout layout = rowMajorLayout({2, 3, 4});
  EXPECT_TRUE(isRowMajor({2, 3, 4}, layout));
  EXPECT_FALSE(isRowMajor(shape, panels));
  EXPECT_TRUE(isRowMajor({}, {}));
  EXPECT_EQ(layoutText({2, 3, 4}, layout), "row-major");
  EXPECT_EQ(layoutText(shape, panels), "d0/4:2 d1:3 d0:4");
}

TEST(Layout, AcceptsWhatFits) {
  EXPECT_EQ(checkLayout(shape, panels, 4, 96), "");
  EXPECT_EQ(checkLayout({}, {}, 4, 4), "");
  EXPECT_EQ(checkLayout({0, 7}, {}, 4, 0), "");
  EXPECT_EQ(checkLayout({1, 7}, {{1, 1, 7, 1}}, 8, 56), "");
}

TEST(Layout, RefusesWhatDoesNot) {
  EXPECT_NE(checkLayout(shape, panels, 4, 95), "");
  EXPECT_NE(checkLayout({}, {}, 4, 3), "");
  // No place for the fifth row.
  EXPECT_NE(checkLayout(shape, {{1, 1, 3, 4}, {0, 1, 4, 1}}, 4, 96), "");
  // Two elements in one place.
  EXPECT_NE(checkLayout(shape, {{0, 1, 5, 1}, {1, 1, 3, 1}}, 4, 96), "");
  EXPECT_NE(checkLayout(shape, {{0, 1, 5, 0}, {1, 1, 3, 5}}, 4, 96), "");
  // A dim that does not exist, a wrong divisor, an empty extent.
  EXPECT_NE(checkLayout({5}, {{0, 1, 5, 1}, {1, 1, 2, 5}}, 4, 96), "");
  EXPECT_NE(checkLayout({5}, {{0, 2, 5, 1}}, 4, 96), "");
  EXPECT_NE(checkLayout({5}, {{0, 0, 5, 1}}, 4, 96), "");
  EXPECT_NE(checkLayout({5}, {{0, 1, 0, 1}}, 4, 96), "");
  // Overflow.
  uint64_t huge = uint64_t(1) << 63;
  EXPECT_NE(checkLayout({5}, {{0, 1, 5, huge}}, 4, 96), "");
  EXPECT_NE(checkLayout({5}, {{0, 1, huge, 1}, {0, huge, 3, huge}}, 4, 96), "");
  EXPECT_NE(checkLayout({huge}, {{0, 1, huge, 1}}, 4, 96), "");
}

TEST(Layout, CopiesThereAndBack) {
  std::vector<int32_t> logical(15), stored(24, -1), back(15);
  std::iota(logical.begin(), logical.end(), 0);
  storeElements(shape, panels, 4,
                reinterpret_cast<const uint8_t *>(logical.data()),
                reinterpret_cast<uint8_t *>(stored.data()));
  // Panel 0 holds rows 0 to 3 side by side for each column; in panel 1 only
  // its first row exists.
  std::vector<int32_t> expected = {0,  3,  6,  9,  1,  4,  7,  10,
                                   2,  5,  8,  11, 12, -1, -1, -1,
                                   13, -1, -1, -1, 14, -1, -1, -1};
  EXPECT_EQ(stored, expected);
  loadElements(shape, panels, 4,
               reinterpret_cast<const uint8_t *>(stored.data()),
               reinterpret_cast<uint8_t *>(back.data()));
  EXPECT_EQ(back, logical);
}

TEST(Layout, CopiesElementsOfAnySize) {
  for (uint64_t size : {1, 2, 3, 4, 8, 16}) {
    std::vector<uint8_t> rowMajor(15 * size), stored(24 * size, 0xee);
    std::iota(rowMajor.begin(), rowMajor.end(), uint8_t(1));
    storeElements(shape, panels, size, rowMajor.data(), stored.data());
    // Row 4, column 2: the second panel, third column, first of its rows.
    EXPECT_EQ(std::memcmp(&stored[20 * size], &rowMajor[14 * size], size), 0);
    std::vector<uint8_t> back(rowMajor.size());
    loadElements(shape, panels, size, stored.data(), back.data());
    EXPECT_EQ(back, rowMajor) << size;
  }
}

/// All logical indices in order, by the formula in plan.fbs.
TEST(Layout, WalksByTheFormula) {
  const std::vector<uint64_t> sizes = {7, 1, 10};
  const Layout split = {
      {2, 6, 2, 84}, {0, 1, 7, 12}, {2, 2, 3, 4}, {2, 1, 2, 1}, {1, 1, 1, 2}};
  ASSERT_EQ(checkLayout(sizes, split, 1, 168), "");
  std::vector<uint64_t> walked, expected;
  LayoutWalker(sizes, split).forEach([&](uint64_t p) { walked.push_back(p); });
  for (uint64_t a = 0; a < 7; ++a)
    for (uint64_t c = 0; c < 10; ++c) {
      uint64_t index[] = {a, 0, c}, position = 0;
      for (const fb::PhysicalDim &d : split)
        position += index[d.dim()] / d.divisor() % d.extent() * d.stride();
      expected.push_back(position);
    }
  EXPECT_EQ(walked, expected);
}

/// Walking takes no memory that grows with the tensor: a table of its indices
/// would not fit.
TEST(Layout, FlatTensorsTakeNoTable) {
  uint64_t many = uint64_t(1) << 50, seen = 0;
  struct Enough {};
  try {
    LayoutWalker({many}, rowMajorLayout({many}))
        .forEach([&](uint64_t position) {
          EXPECT_EQ(position, seen);
          if (++seen == 1000)
            throw Enough();
        });
  } catch (Enough) {
  }
  EXPECT_EQ(seen, 1000u);
}

TEST(Layout, CopiesScalarsAndNothing) {
  double value = 4.5, stored = 0;
  storeElements({}, {}, 8, reinterpret_cast<const uint8_t *>(&value),
                reinterpret_cast<uint8_t *>(&stored));
  EXPECT_EQ(stored, 4.5);
  storeElements({3, 0}, {}, 8, nullptr, nullptr);
}
