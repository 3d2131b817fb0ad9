#include "runtime/state/StateInit.h"
#include "runtime/plan/Layout.h"
#include "runtime/state/Distribution.h"
#include "runtime/state/Philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace dlrt;

TEST(Distribution, LogIsCloseToTheLibrary) {
  for (int i = 1; i < 20000; ++i) {
    double x =
        i < 10000 ? i * 0x1p-24 * 1677 : std::ldexp(1 + i / 2e4, i % 40 - 20);
    double expected = std::log(x);
    EXPECT_NEAR(portableLog(x), expected,
                3e-16 * std::max(std::fabs(expected), 1e-2))
        << x;
  }
  EXPECT_EQ(portableLog(1.0), 0.0);
}

TEST(Distribution, CosIsCloseToTheLibrary) {
  for (int i = 0; i < 20000; ++i) {
    double x = i / 20000.0;
    EXPECT_NEAR(portableCosTurns(x), std::cos(2 * M_PI * x), 1e-15) << x;
  }
  EXPECT_EQ(portableCosTurns(0), 1.0);
  EXPECT_EQ(portableCosTurns(0.5), -1.0);
}

TEST(Distribution, FollowsTheDocumentedFormulas) {
  uint64_t seed = 7, key = 0x1234567890, index = 5;
  PhiloxCounter w = philox({5, 0, 0, 0}, philoxKey(seed, key));
  double u = (w[0] >> 8) * 0x1p-24;
  EXPECT_EQ(uniformElement(seed, key, index, -2, 3), -2 + 5 * u);
  double u1 = ((w[0] >> 8) + 1) * 0x1p-24, u2 = (w[1] >> 8) * 0x1p-24;
  EXPECT_NEAR(normalElement(seed, key, index, 1, 2),
              1 + 2 * std::sqrt(-2 * std::log(u1)) * std::cos(2 * M_PI * u2),
              1e-14);
}

/// Fixed bits: a change of these breaks every seed.
TEST(Distribution, BitsDoNotChange) {
  EXPECT_EQ(uniformElement(0, 0, 0, 0, 1), (0x6627e8d5 >> 8) * 0x1p-24);
  EXPECT_EQ(normalElement(0, 0, 0, 0, 1), 0x1.fb765f032eebcp-1);
}

TEST(Distribution, ManyElementsAreThoseAlone) {
  std::vector<uint64_t> indices;
  for (uint64_t i = 0; i < 1000; ++i)
    indices.push_back(i * i * i * 7919);
  std::vector<double> values(indices.size());
  normalElements(5, 11, indices, 0.5, 3, values.data());
  for (size_t i = 0; i < indices.size(); ++i)
    EXPECT_EQ(values[i], normalElement(5, 11, indices[i], 0.5, 3)) << i;
}

TEST(Distribution, NormalHasItsMoments) {
  double sum = 0, squares = 0;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    double z = normalElement(1, 2, i, 0, 1);
    sum += z;
    squares += z * z;
  }
  EXPECT_NEAR(sum / count, 0, 0.015);
  EXPECT_NEAR(squares / count, 1, 0.02);
}

static fb::StateT makeState(fb::InitKind kind, double a, double b,
                            fb::DType dtype) {
  fb::StateT state;
  state.name = "w";
  state.dtype = dtype;
  state.shape = {5, 3};
  state.layout = rowMajorLayout(state.shape);
  state.init = std::make_unique<fb::InitT>();
  state.init->kind = kind;
  state.init->a = a;
  state.init->b = b;
  state.init->key = 99;
  return state;
}

static Box wholeOf(const fb::StateT &state) {
  return {std::vector<uint64_t>(state.shape.size(), 0), state.shape};
}

TEST(StateInit, DependsOnTheLogicalIndexOnly) {
  fb::StateT state = makeState(fb::InitKind::Normal, 0, 1, fb::DType::F32);
  std::vector<float> plain(15, 7), packed(24, 7);
  initialiseState(state, wholeOf(state), 3,
                  reinterpret_cast<uint8_t *>(plain.data()), 60);
  state.layout = {{0, 4, 2, 12}, {1, 1, 3, 4}, {0, 1, 4, 1}};
  initialiseState(state, wholeOf(state), 3,
                  reinterpret_cast<uint8_t *>(packed.data()), 96);
  for (int row = 0; row < 5; ++row)
    for (int column = 0; column < 3; ++column) {
      EXPECT_EQ(packed[row / 4 * 12 + column * 4 + row % 4],
                plain[row * 3 + column]);
      EXPECT_EQ(plain[row * 3 + column],
                float(normalElement(3, 99, row * 3 + column, 0, 1)));
    }
  EXPECT_EQ(packed[13], 0) << "padding is zero";
}

TEST(StateInit, ThreadsShareALargeState) {
  fb::StateT state = makeState(fb::InitKind::Normal, 0, 1, fb::DType::F32);
  state.shape = {300, 257};
  state.layout = {{0, 1, 300, 257}, {1, 1, 257, 1}};
  constexpr size_t count = 300 * 257;
  state.init->runs = {fb::InitRun(40000, 3, 3)};
  state.init->values = {1, 2, 3};
  auto drawn = [&](unsigned threads) {
    std::vector<float> values(count, 7);
    initialiseState(state, wholeOf(state), 3,
                    reinterpret_cast<uint8_t *>(values.data()),
                    count * sizeof(float), threads);
    return values;
  };
  std::vector<float> alone = drawn(1);
  EXPECT_EQ(drawn(3), alone);
  EXPECT_EQ(alone[40001], 2);
  for (size_t i : {size_t(0), size_t(39999), size_t(40003), count - 1})
    EXPECT_EQ(alone[i], float(normalElement(3, 99, i, 0, 1))) << i;
}

TEST(StateInit, ConstantsOfEveryDType) {
  std::vector<int64_t> integers(15);
  fb::StateT state = makeState(fb::InitKind::Constant, -3, 0, fb::DType::I64);
  initialiseState(state, wholeOf(state), 0,
                  reinterpret_cast<uint8_t *>(integers.data()), 120);
  EXPECT_EQ(integers[14], -3);
  std::vector<uint8_t> bytes(15);
  state = makeState(fb::InitKind::Constant, 0.5, 0, fb::DType::Bool);
  initialiseState(state, wholeOf(state), 0, bytes.data(), 15);
  EXPECT_EQ(bytes[3], 1);
  state = makeState(fb::InitKind::Constant, 1e9, 0, fb::DType::U8);
  initialiseState(state, wholeOf(state), 0, bytes.data(), 15);
  EXPECT_EQ(bytes[3], 255);
  state = makeState(fb::InitKind::Zero, 1, 0, fb::DType::U8);
  initialiseState(state, wholeOf(state), 0, bytes.data(), 15);
  EXPECT_EQ(bytes[3], 0);
}

/// Elements with values of their own, in whole states and in parts of them.
TEST(StateInit, ValuesOfRuns) {
  fb::StateT state = makeState(fb::InitKind::Normal, 0, 1, fb::DType::F64);
  state.init->runs = {{1, 2, 1}, {4, 3, 3}, {12, 1, 1}};
  state.init->values = {-1, 10, 20, 30, 5};
  auto expected = [](uint64_t i) {
    const double known[] = {0, -1, -1, 0, 10, 20, 30};
    return i == 12                       ? 5
           : i == 0 || i == 3 || i >= 7u ? normalElement(3, 99, i, 0, 1)
                                         : known[i];
  };
  std::vector<double> whole(15), part(6), zero(15, 7);
  initialiseState(state, wholeOf(state), 3,
                  reinterpret_cast<uint8_t *>(whole.data()), 120);
  for (uint64_t i = 0; i < 15; ++i)
    EXPECT_EQ(whole[i], expected(i)) << i;
  state.layout = rowMajorLayout({3, 2});
  initialiseState(state, {{1, 1}, {3, 2}}, 3,
                  reinterpret_cast<uint8_t *>(part.data()), 48);
  for (uint64_t i = 0; i < 6; ++i)
    EXPECT_EQ(part[i], expected((1 + i / 2) * 3 + 1 + i % 2)) << i;
  state = makeState(fb::InitKind::Zero, 0, 0, fb::DType::F64);
  state.init->runs = {{14, 1, 1}};
  state.init->values = {2};
  initialiseState(state, wholeOf(state), 3,
                  reinterpret_cast<uint8_t *>(zero.data()), 120);
  EXPECT_EQ(zero[13], 0);
  EXPECT_EQ(zero[14], 2);
}

static std::unique_ptr<fb::InitPartT> makePart(uint64_t offset,
                                               std::vector<uint64_t> shape,
                                               std::vector<uint64_t> strides,
                                               fb::InitKind kind, double a,
                                               double b, uint64_t key) {
  auto part = std::make_unique<fb::InitPartT>();
  part->offset = offset;
  part->shape = std::move(shape);
  part->strides = std::move(strides);
  part->begins = std::make_unique<fb::InitT>();
  part->begins->kind = kind;
  part->begins->a = a;
  part->begins->b = b;
  part->begins->key = key;
  return part;
}

/// Strided parts, later ones over earlier ones, runs over them; in whole states
/// and in parts of them.
TEST(StateInit, PartsOfTheirOwn) {
  fb::StateT state = makeState(fb::InitKind::Normal, 0, 1, fb::DType::F64);
  auto &parts = state.init->parts;
  parts.push_back(makePart(0, {5}, {3}, fb::InitKind::Uniform, 2, 3, 7));
  // Rows 1 and 2, columns 0 and 1, transposed.
  parts.push_back(makePart(3, {2, 2}, {1, 3}, fb::InitKind::Normal, 9, 1, 8));
  parts.push_back(makePart(12, {3}, {1}, fb::InitKind::Normal, 5, 2, 99));
  parts.back()->whole = true;
  state.init->runs = {{7, 1, 1}};
  state.init->values = {42};
  auto expected = [](uint64_t row, uint64_t column) {
    uint64_t i = row * 3 + column;
    return i == 7     ? 42
           : row == 4 ? normalElement(3, 99, i, 5, 2)
           : (row == 1 || row == 2) && column < 2
               ? normalElement(3, 8, column * 2 + row - 1, 9, 1)
           : column == 0 ? uniformElement(3, 7, row, 2, 3)
                         : normalElement(3, 99, i, 0, 1);
  };
  std::vector<double> whole(15), part(6);
  initialiseState(state, wholeOf(state), 3,
                  reinterpret_cast<uint8_t *>(whole.data()), 120);
  for (uint64_t i = 0; i < 15; ++i)
    EXPECT_EQ(whole[i], expected(i / 3, i % 3)) << i;
  state.layout = rowMajorLayout({3, 2});
  initialiseState(state, {{2, 0}, {3, 2}}, 3,
                  reinterpret_cast<uint8_t *>(part.data()), 48);
  for (uint64_t i = 0; i < 6; ++i)
    EXPECT_EQ(part[i], expected(2 + i / 2, i % 2)) << i;
}

static std::vector<double> drawn(fb::InitKind kind, std::vector<uint64_t> shape,
                                 fb::InitT init) {
  fb::StateT state = makeState(kind, init.a, init.b, fb::DType::F64);
  state.shape = std::move(shape);
  state.layout = rowMajorLayout(state.shape);
  state.init->low = init.low;
  state.init->high = init.high;
  size_t count = 1;
  for (uint64_t size : state.shape)
    count *= size;
  std::vector<double> values(count, 7);
  initialiseState(state, wholeOf(state), 11,
                  reinterpret_cast<uint8_t *>(values.data()), count * 8);
  return values;
}

static fb::InitT numbers(double a, double b, double low = 0, double high = 0) {
  fb::InitT init;
  init.a = a, init.b = b, init.low = low, init.high = high;
  return init;
}

TEST(StateInit, OrthogonalRowsOrColumns) {
  for (auto [rows, columns] : {std::pair(12, 30), {30, 12}, {9, 9}}) {
    std::vector<double> w =
        drawn(fb::InitKind::Orthogonal, {uint64_t(rows), uint64_t(columns)},
              numbers(1.5, 0));
    bool tall = rows > columns;
    int count = tall ? columns : rows, length = tall ? rows : columns;
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j) {
        double sum = 0;
        for (int k = 0; k < length; ++k)
          sum += w[tall ? k * columns + i : i * columns + k] *
                 w[tall ? k * columns + j : j * columns + k];
        EXPECT_NEAR(sum, i == j ? 2.25 : 0, 1e-14) << rows << " " << i << j;
      }
  }
}

TEST(StateInit, TruncatedStaysInItsBounds) {
  struct {
    double mean, deviation, low, high, expected;
  } const cases[] = {{0, 1, -2, 2, 0},
                     {1, 2, 0, 1.5, 0.7615}, // narrow
                     {0, 1, 3, 4, 3.2605},   // far out
                     {0, 1, -5, -4.5, -4.6599}};
  for (const auto &c : cases) {
    double sum = 0;
    std::vector<double> values =
        drawn(fb::InitKind::Truncated, {200, 100},
              numbers(c.mean, c.deviation, c.low, c.high));
    for (double value : values) {
      EXPECT_GE(value, c.low);
      EXPECT_LE(value, c.high);
      sum += value;
    }
    EXPECT_NEAR(sum / 20000, c.expected, 0.02) << c.low;
  }
}

TEST(StateInit, SparseColumnsAndAPaddedRow) {
  std::vector<double> w =
      drawn(fb::InitKind::Sparse, {10, 7}, numbers(0.25, 1));
  for (int column = 0; column < 7; ++column) {
    int zeros = 0;
    for (int row = 0; row < 10; ++row)
      zeros += w[row * 7 + column] == 0;
    EXPECT_EQ(zeros, 3) << "a quarter of ten, rounded up";
  }
  w = drawn(fb::InitKind::Padded, {4, 6}, numbers(0, 1, 2));
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 6; ++column)
      EXPECT_EQ(w[row * 6 + column] == 0, row == 2);
}

TEST(StateInit, DiracPassesChannelsOn) {
  std::vector<double> eye = drawn(fb::InitKind::Dirac, {3, 4}, numbers(1, 0));
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(eye[i], i % 5 == 0);
  // Two groups of three outputs, two inputs: the third output has none.
  std::vector<double> w =
      drawn(fb::InitKind::Dirac, {6, 2, 3, 5}, numbers(2, 0));
  for (int out = 0; out < 6; ++out)
    for (int in = 0; in < 2; ++in)
      for (int k = 0; k < 15; ++k)
        EXPECT_EQ(w[(out * 2 + in) * 15 + k], out % 3 == in && k == 7);
}

/// The places of a rank's elements in a dim of sections, of each a block.
static std::vector<size_t> blocksOf(size_t size, size_t sections, size_t number,
                                    size_t blocks) {
  const size_t section = size / sections;
  const size_t block = (section + blocks - 1) / blocks;
  std::vector<size_t> places;
  for (size_t s = 0; s < sections; ++s)
    for (size_t i = 0; i < block && number * block + i < section; ++i)
      places.push_back(s * section + number * block + i);
  return places;
}

static void expectPartsOfTheWhole(size_t rows, size_t rowSections,
                                  size_t columns, size_t columnSections) {
  const size_t elements = rows * 3 * columns;
  fb::StateT state;
  state.shape = {rows, 3, columns};
  state.layout = rowMajorLayout(state.shape);
  state.init = std::make_unique<fb::InitT>();
  state.init->kind = fb::InitKind::Normal;
  state.init->b = 1;
  state.init->key = 77;
  // The second and third of each row's three begin otherwise.
  auto other = std::make_unique<fb::InitPartT>();
  other->offset = columns;
  other->shape = {rows, 2 * columns};
  other->strides = {3 * columns, 1};
  other->begins = std::make_unique<fb::InitT>();
  other->begins->kind = fb::InitKind::Uniform;
  other->begins->a = 10;
  other->begins->b = 20;
  other->begins->key = 78;
  state.init->parts.push_back(std::move(other));
  auto values = [&](const Box &part) {
    std::vector<float> filled(elements);
    state.layout = rowMajorLayout(part.extent);
    initialiseState(state, part, 5, reinterpret_cast<uint8_t *>(filled.data()),
                    elements * sizeof(float));
    return filled;
  };
  const std::vector<float> whole = values(wholeOf(state));
  Mesh mesh = {{{"a", 2}, {"b", 3}}};
  for (int dims = 0; dims < 2; ++dims)
    state.split.push_back(std::make_unique<fb::DimSplitT>());
  state.split[0]->axes = {0};
  state.split[0]->sections = rowSections;
  state.split[1]->dim = 2;
  state.split[1]->axes = {1};
  state.split[1]->sections = columnSections;
  size_t seen = 0;
  for (uint32_t rank = 0; rank < 6; ++rank) {
    const std::vector<float> part =
        values(boxOf(mesh, state.shape, state.split, rank));
    const float *at = part.data();
    for (size_t i : blocksOf(rows, rowSections, rank / 3, 2))
      for (size_t j = 0; j < 3; ++j)
        for (size_t k : blocksOf(columns, columnSections, rank % 3, 3)) {
          EXPECT_EQ(*at++, whole[(i * 3 + j) * columns + k]);
          ++seen;
        }
  }
  EXPECT_EQ(seen, elements);
}

/// Each rank's part has the values that stand there in the whole; of sections
/// it is a block of each, which may be empty.
TEST(StateInit, PartsHaveTheValuesOfTheWhole) {
  expectPartsOfTheWhole(5, 1, 7, 1);
  expectPartsOfTheWhole(5, 1, 8, 2);
  expectPartsOfTheWhole(12, 3, 7, 1);
  expectPartsOfTheWhole(12, 4, 20, 5);
  expectPartsOfTheWhole(5, 5, 8, 8);
}
