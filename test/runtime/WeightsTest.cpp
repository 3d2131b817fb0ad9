#include "runtime/state/Weights.h"
#include "test/runtime/TestPlan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace dlrt;
using namespace dlrt::test;

namespace {

/// Two weights, one tied and packed, one optimizer slot, in a vector as arena.
struct Model {
  PlanBuilder b;
  HostArena arena{b.plan, 1024};
  TemporaryFolder folder;
  std::string path = folder.path("w.safetensors");
  std::vector<std::string> warnings;

  Model() {
    b.state("fc.weight", {2, 3});
    fb::StateT &weight = *b.plan.states[0];
    weight.aliases = {"tied.weight"};
    // [3][2] padded to [3][4]
    weight.layout = {{1, 1, 3, 4}, {0, 1, 4, 1}};
    b.plan.buffers[weight.buffer]->bytes = 48;
    b.state("fc.bias", {2});
    b.state("optim.fc.bias.momentum_buffer", {2}, fb::StateRole::Slot);
  }
  float *floats(uint32_t state) {
    return reinterpret_cast<float *>(arena.at(b.bufferOf(state)));
  }
  Status load(const std::map<std::string, SafetensorsEntry> &tensors) {
    EXPECT_TRUE(writeSafetensors(path, tensors).ok());
    return loadWeights(b.plan, path, arena, warnings);
  }
};

const Bytes six = floatBytes({1, 2, 3, 4, 5, 6});
const Bytes two = floatBytes({7, 8});

Bytes doubles(std::vector<double> values) {
  Bytes out(values.size() * 8);
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

} // namespace

TEST(Weights, LoadAndSave) {
  Model m;
  m.floats(0)[3] = 99; // padding of an earlier value
  ASSERT_TRUE(m.load({{"fc.weight", {"F32", {2, 3}, six}},
                      {"fc.bias", {"F32", {2}, two}}})
                  .ok());
  std::vector<float> stored(m.floats(0), m.floats(0) + 12);
  EXPECT_EQ(stored, (std::vector<float>{1, 4, 0, 0, 2, 5, 0, 0, 3, 6, 0, 0}));
  EXPECT_EQ(m.floats(1)[1], 8);

  std::string saved = m.folder.path("saved.safetensors");
  ASSERT_TRUE(saveWeights(m.b.plan, saved, m.arena).ok());
  auto file = SafetensorsFile::open(saved);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->tensors.size(), 3u) << "two names of one, no slot";
  for (const char *name : {"fc.weight", "tied.weight"}) {
    const SafetensorsEntry &entry = file->tensors.at(name);
    EXPECT_EQ(entry.shape, (std::vector<uint64_t>{2, 3}));
    EXPECT_TRUE(std::equal(six.begin(), six.end(), entry.data.begin()));
  }
}

TEST(Weights, AnAliasWillDo) {
  Model m;
  EXPECT_TRUE(m.load({{"tied.weight", {"F32", {2, 3}, six}},
                      {"fc.bias", {"F32", {2}, two}}})
                  .ok());
  Bytes other = floatBytes({1, 2, 3, 4, 5, 7});
  Status status = m.load({{"fc.weight", {"F32", {2, 3}, six}},
                          {"tied.weight", {"F32", {2, 3}, other}},
                          {"fc.bias", {"F32", {2}, two}}});
  EXPECT_NE(status.message().find("ties them"), std::string::npos);
}

TEST(Weights, Widening) {
  Model m;
  Bytes half = {0x00, 0x3c, 0x01, 0x00}; // 1, the smallest subnormal
  Bytes bfloat = {0x80, 0x3f, 0x80, 0xff, 0x80, 0x7f,
                  0x00, 0xc0, 0x01, 0x00, 0x00, 0x80};
  ASSERT_TRUE(m.load({{"fc.weight", {"BF16", {2, 3}, bfloat}},
                      {"fc.bias", {"F16", {2}, half}}})
                  .ok());
  EXPECT_EQ(m.floats(0)[0], 1);
  EXPECT_TRUE(std::any_of(m.floats(0), m.floats(0) + 6, [](float f) {
    return f == -std::numeric_limits<float>::infinity();
  })) << "infinity stays infinity";
  EXPECT_EQ(m.floats(1)[0], 1);
  EXPECT_EQ(m.floats(1)[1], 0x1p-24f);
  EXPECT_TRUE(m.warnings.empty());
}

TEST(Weights, NarrowingWarns) {
  Model m;
  Bytes exact = doubles({1, 2, 3, 4, 5, 6}), rounded = doubles({0.1, 8});
  ASSERT_TRUE(m.load({{"fc.weight", {"F64", {2, 3}, exact}},
                      {"fc.bias", {"F64", {2}, rounded}}})
                  .ok());
  EXPECT_EQ(m.floats(1)[0], 0.1f);
  ASSERT_EQ(m.warnings.size(), 1u);
  EXPECT_NE(m.warnings[0].find("1 values were rounded"), std::string::npos);
}

TEST(Weights, WrongFilesChangeNothing) {
  Model m;
  SafetensorsEntry weight = {"F32", {2, 3}, six}, bias = {"F32", {2}, two};
  auto expectError = [&](std::map<std::string, SafetensorsEntry> tensors,
                         const std::string &part) {
    Status status = m.load(tensors);
    EXPECT_NE(status.message().find(part), std::string::npos)
        << status.message();
    EXPECT_EQ(m.floats(0)[0], 0);
  };
  expectError({{"fc.weight", weight}}, "1 of the model's weights is missing: "
                                       "'fc.bias'");
  expectError({{"fc.weihgt", weight}, {"fc.bias", bias}},
              "did you mean 'fc.weihgt'?");
  expectError({{"fc.weight", weight}, {"fc.bias", bias}, {"fc.bais", bias}},
              "no weight 'fc.bais'; did you mean 'fc.bias'?");
  SafetensorsEntry wrongShape = {"F32", {3, 2}, six};
  expectError({{"fc.weight", wrongShape}, {"fc.bias", bias}},
              "has shape [3,2], the model's is [2,3]");
  SafetensorsEntry wrongType = {"I32", {2}, two};
  expectError({{"fc.weight", weight}, {"fc.bias", wrongType}},
              "dtype I32, the model's is f32");
}

TEST(Weights, NanIsRefusedAndChangesNothing) {
  Model m;
  Bytes bad = floatBytes({1, 2, 3, NAN, 5, NAN});
  Status status = m.load(
      {{"fc.weight", {"F32", {2, 3}, bad}}, {"fc.bias", {"F32", {2}, two}}});
  EXPECT_EQ(status.code(), Code::Training);
  EXPECT_NE(status.message().find("'fc.weight' has 2 values that are not a "
                                  "number (NaN), the first at [1,0]"),
            std::string::npos)
      << status.message();
  EXPECT_EQ(m.floats(0)[0], 0);
  Bytes half = {0x00, 0x3c, 0x01, 0x7e};
  status = m.load(
      {{"fc.weight", {"F32", {2, 3}, six}}, {"fc.bias", {"F16", {2}, half}}});
  EXPECT_NE(status.message().find("'fc.bias' has 1 value that is"),
            std::string::npos);
  EXPECT_EQ(m.floats(0)[0], 0);
}
