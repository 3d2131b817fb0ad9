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
  bool partial = false;

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
    return loadWeights(setOf(b.plan), {{path, {}}}, partial, arena, warnings);
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
  ASSERT_TRUE(saveWeights(setOf(m.b.plan), saved, m.arena).ok());
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

TEST(Weights, EverythingThatDoesNotFitIsSaidAtOnce) {
  Model m;
  m.b.state("norm.num_batches_tracked", {});
  Status status =
      m.load({{"fc.weight", {"F32", {3, 2}, six}},
              {"fc.bais", {"F32", {2}, two}},
              {"bn.num_batches_tracked", {"F32", {}, floatBytes({1})}}});
  EXPECT_EQ(status.message(),
            m.path + " does not fit the model:\n"
                     "  'fc.weight' has shape [3,2], the model's is [2,3]\n"
                     "  1 of the model's weights is missing: 'fc.bias'; did "
                     "you mean 'fc.bais'?\n"
                     "  the model has no weight 'fc.bais'; did you mean "
                     "'fc.bias'?\n"
                     "  --init-partial takes what fits");
}

TEST(Weights, PartOfAFile) {
  Model m;
  m.partial = true;
  ASSERT_TRUE(m.load({{"fc.weight", {"F32", {3, 2}, six}},
                      {"fc.bias", {"F32", {2}, two}},
                      {"head", {"F32", {2}, two}}})
                  .ok());
  EXPECT_EQ(m.floats(0)[0], 0);
  EXPECT_EQ(m.floats(1)[1], 8);
  ASSERT_EQ(m.warnings.size(), 1u);
  EXPECT_EQ(m.warnings[0],
            m.path + ": 1 of the model's 2 weights taken:\n"
                     "  'fc.weight' has shape [3,2], the model's is [2,3]\n"
                     "  the model has no weight 'head'");
  Status nothing = m.load({{"head", {"F32", {2}, two}}});
  EXPECT_NE(nothing.message().find("nothing in it fits"), std::string::npos);
}

TEST(Weights, SeveralFilesWithMapsOfTheirOwn) {
  Model m;
  std::string teacher = m.folder.path("teacher.safetensors");
  std::string head = m.folder.path("head.safetensors");
  ASSERT_TRUE(
      writeSafetensors(teacher, {{"module.fc.w", {"F32", {2, 3}, six}}}).ok());
  ASSERT_TRUE(writeSafetensors(head, {{"bias", {"F32", {2}, two}}}).ok());
  std::vector<WeightSource> sources = {
      {teacher, {{"module.fc.w", "fc.weight"}}}, {head, {{"", "fc."}}}};
  Status status =
      loadWeights(setOf(m.b.plan), sources, false, m.arena, m.warnings);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(m.floats(0)[0], 1);
  EXPECT_EQ(m.floats(1)[1], 8);
  sources[1].maps = {{"biass", "fc.bias"}};
  status = loadWeights(setOf(m.b.plan), sources, false, m.arena, m.warnings);
  EXPECT_EQ(status.code(), Code::Usage);
  EXPECT_NE(status.message().find("did you mean 'bias'?"), std::string::npos)
      << status.message();
  sources = {{head, {{"bias", "fc.bias"}}}, {head, {{"bias", "fc.bias"}}}};
  status = loadWeights(setOf(m.b.plan), sources, false, m.arena, m.warnings);
  EXPECT_NE(status.message().find("'fc.bias' is in "), std::string::npos)
      << status.message();
}

TEST(Weights, NamesAreMapped) {
  auto map = [](const std::string &name, const std::string &maps) {
    auto parsed = parseNameMaps(maps);
    EXPECT_TRUE(parsed) << maps;
    return renamed(name, *parsed);
  };
  EXPECT_EQ(map("module.fc.weight", "module="), "fc.weight");
  EXPECT_EQ(map("module.fc.weight", "module.="), "fc.weight");
  EXPECT_EQ(map("fc.weight", "=student."), "student.fc.weight");
  EXPECT_EQ(map("fc.weight", "=student"), "student.fc.weight");
  EXPECT_EQ(map("module.fc.weight", "module.=student"), "student.fc.weight");
  EXPECT_EQ(map("encoder.0.weight", "enc=e,encoder=body"), "body.0.weight");
  EXPECT_EQ(map("encoder.0.weight", "encoder.*.weight=body.*.w"), "body.0.w");
  EXPECT_EQ(map("fc.bias", "fc.bias=head.bias"), "head.bias");
  for (const char *wrong : {"x", "=", "a*b*=c", "a=b*", "a=b,"})
    EXPECT_FALSE(parseNameMaps(wrong)) << wrong;
}

TEST(Weights, FilesOfTorchSaveAreAnsweredWithTheLineThatConvertsThem) {
  Model m;
  for (Bytes head : {Bytes{'P', 'K', 3, 4}, Bytes{0x80, 2, 'c', 't'}}) {
    head.resize(100);
    std::string path = m.folder.path("w.pt");
    writeFile(path, head);
    Status status =
        loadWeights(setOf(m.b.plan), {{path, {}}}, false, m.arena, m.warnings);
    EXPECT_EQ(status.code(), Code::Io);
    EXPECT_NE(status.message().find("torch.load('" + path), std::string::npos)
        << status.message();
  }
}
