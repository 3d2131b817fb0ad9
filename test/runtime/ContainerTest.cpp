#include "runtime/plan/CodeRecord.h"
#include "test/runtime/TestPlan.h"

#include <cstring>

using namespace dlrt;
using namespace dlrt::test;

static std::string refusal(const Bytes &file) {
  Expected<LoadedPlan> loaded = readPlan(file);
  if (loaded)
    return "";
  EXPECT_EQ(loaded.status().code(), Code::Plan);
  return loaded.status().message();
}

static void reseal(Bytes &file) {
  Checksum checksum;
  checksum.add(std::span<const uint8_t>(file).subspan(32));
  uint64_t value = checksum.value();
  std::memcpy(file.data() + 24, &value, 8);
}

TEST(Container, RoundTrip) {
  Bytes file = seal(regressionPlan(10).plan);
  LoadedPlan loaded = mustLoad(file);
  EXPECT_EQ(loaded.first().model, "model.dl");
  EXPECT_EQ(loaded.first().steps.size(), 2u);
  ASSERT_EQ(loaded.sections.size(), 3u);
  EXPECT_EQ(loaded.sections[1].kind, SectionKind::Image);
  Bytes image = readFile(TEST_KERNELS);
  EXPECT_TRUE(std::equal(image.begin(), image.end(),
                         loaded.sections[1].bytes.begin(),
                         loaded.sections[1].bytes.end()));
  EXPECT_EQ((loaded.sections[1].bytes.data() - file.data()) % 4096, 0);
}

TEST(Container, EqualPlansGiveEqualBytes) {
  EXPECT_EQ(seal(regressionPlan(10).plan), seal(regressionPlan(10).plan));
}

TEST(Container, WritesAtomically) {
  TemporaryFolder folder;
  std::string path = folder.path("a.plan");
  PlanBuilder plan = regressionPlan(10);
  Bytes metadata = packPlan(plan.plan), record = codeRecord(plan.plan);
  Bytes image = readFile(TEST_KERNELS);
  ASSERT_TRUE(writePlan(path, metadata,
                        {{SectionKind::Image, image},
                         {SectionKind::CodeRecord, record}})
                  .ok());
  EXPECT_TRUE(readPlan(path));
  Status status = writePlan(folder.path("missing/a.plan"), metadata, {});
  EXPECT_EQ(status.code(), Code::Io);
  EXPECT_NE(status.message().find("No such file"), std::string::npos);
}

TEST(Container, TheCodeRecordMustBeThePlans) {
  PlanBuilder plan = regressionPlan(10);
  Bytes image = readFile(TEST_KERNELS);
  auto answer = [&](const std::vector<Bytes> &records) {
    std::vector<SectionView> sections = {{SectionKind::Image, image}};
    for (const Bytes &record : records)
      sections.push_back({SectionKind::CodeRecord, record});
    Bytes file = sealPlan(packPlan(plan.plan), sections);
    auto loaded = readPlan(file);
    return loaded ? std::string() : loaded.status().message();
  };
  Bytes good = codeRecord(plan.plan), other = good;
  EXPECT_EQ(answer({good}), "");
  EXPECT_NE(answer({}).find("one record of its code"), std::string::npos);
  EXPECT_NE(answer({good, good}).find("one record"), std::string::npos);
  for (uint8_t &byte : other) {
    byte ^= 1;
    EXPECT_NE(answer({other}).find("its code was made for"), std::string::npos);
    byte ^= 1;
  }
  other.push_back(0);
  EXPECT_NE(answer({other}).find("its code was made for"), std::string::npos);
}

TEST(Container, RefusesWhatIsNoPlan) {
  EXPECT_EQ(refusal({}), "this is not a plan file");
  EXPECT_EQ(refusal(Bytes(100, 7)), "this is not a plan file");
  EXPECT_EQ(readPlan("/nonexistent/x.plan").status().code(), Code::Io);
  EXPECT_NE(readPlan("/tmp").status().message().find("a folder"),
            std::string::npos);
}

TEST(Container, RefusesEveryTruncation) {
  Bytes file = seal(regressionPlan(10).plan);
  for (size_t size = 0; size < file.size();
       size += size < 64 ? 1 : file.size() / 61)
    EXPECT_NE(refusal(Bytes(file.begin(), file.begin() + size)), "") << size;
  file.push_back(0);
  EXPECT_NE(refusal(file).find("it should have"), std::string::npos);
}

TEST(Container, RefusesOtherVersions) {
  Bytes file = seal(regressionPlan(10).plan);
  uint8_t next = ++file[8];
  EXPECT_NE(refusal(file).find("format version " + std::to_string(next)),
            std::string::npos);
}

TEST(Container, ChecksumFindsDamage) {
  Bytes good = seal(regressionPlan(10).plan);
  for (size_t at = 32; at < good.size(); at += good.size() / 97) {
    Bytes file = good;
    file[at] ^= 0x10;
    EXPECT_EQ(refusal(file),
              "the plan is damaged: the checksum does not match");
  }
}

TEST(Container, RefusesWrongSectionTables) {
  Bytes good = seal(regressionPlan(10).plan);
  auto changed = [&](size_t at, uint64_t value, size_t bytes) {
    Bytes file = good;
    std::memcpy(file.data() + at, &value, bytes);
    reseal(file);
    return refusal(file);
  };
  EXPECT_NE(changed(12, 0xffffffff, 4).find("table of"), std::string::npos);
  EXPECT_NE(changed(12, 0, 4).find("first section"), std::string::npos);
  EXPECT_NE(changed(32, 77, 4).find("unknown kind 77"), std::string::npos);
  EXPECT_NE(changed(56, 3, 4).find("unknown kind 3"), std::string::npos);
  EXPECT_NE(changed(40, 4097, 8).find("not aligned"), std::string::npos);
  EXPECT_NE(changed(40, ~uint64_t(4095), 8).find("leaves the file"),
            std::string::npos);
  EXPECT_NE(changed(48, ~uint64_t(0), 8).find("leaves the file"),
            std::string::npos);
  EXPECT_NE(changed(64, 4096, 8).find("overlaps"), std::string::npos);
}
