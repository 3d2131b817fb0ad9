// What a CUDA image's section says is read back, and nothing else is read.
#include "runtime/plan/ModuleTable.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace dlrt;

namespace {

using Bytes = std::vector<uint8_t>;

std::span<const uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

Bytes twoModules() {
  ModuleTable table;
  table.modules = {bytesOf("first"), bytesOf("the second module")};
  table.entries = {{"gelu", 1}, {"add", 0}, {"adam", 1}};
  return writeModuleTable(table);
}

std::string complaint(const Bytes &section) {
  Expected<ModuleTable> table = readModuleTable(section);
  return table ? "" : table.takeError().message();
}

template <typename Int> void set(Bytes &section, size_t at, Int value) {
  std::memcpy(section.data() + at, &value, sizeof(value));
}

// Where things are in twoModules().
constexpr size_t firstOffset = 8, firstBytes = 16, secondOffset = 24,
                 firstEntry = 40;

} // namespace

TEST(ModuleTable, ReadsWhatWasWritten) {
  Bytes section = twoModules();
  EXPECT_EQ(section, twoModules());
  Expected<ModuleTable> table = readModuleTable(section);
  ASSERT_TRUE(table) << table.status().message();
  ASSERT_EQ(table->modules.size(), 2u);
  EXPECT_TRUE(std::ranges::equal(table->modules[0], bytesOf("first")));
  EXPECT_TRUE(
      std::ranges::equal(table->modules[1], bytesOf("the second module")));
  // The driver takes texts up to a zero.
  for (std::span<const uint8_t> module : table->modules) {
    EXPECT_EQ(module.data()[module.size()], 0);
    EXPECT_EQ((module.data() - section.data()) % 64, 0);
  }
  EXPECT_EQ(table->entries, (std::map<std::string, uint32_t, std::less<>>{
                                {"gelu", 1}, {"add", 0}, {"adam", 1}}));
}

TEST(ModuleTable, Empty) {
  EXPECT_EQ(complaint(writeModuleTable({})), "");
  EXPECT_NE(complaint({}).find("ends early"), std::string::npos);
}

TEST(ModuleTable, RefusesEveryShorterSection) {
  Bytes section = twoModules();
  for (size_t size = 0; size < section.size(); ++size)
    EXPECT_NE(complaint(Bytes(section.begin(), section.begin() + size)), "")
        << size;
}

TEST(ModuleTable, RefusesWhatIsOutsideOrOverflows) {
  Bytes good = twoModules();
  auto after = [&](size_t at, auto value) {
    Bytes section = good;
    set(section, at, value);
    return complaint(section);
  };
  for (uint64_t offset : {~uint64_t(0), ~uint64_t(63), uint64_t(1) << 40})
    EXPECT_NE(after(firstOffset, offset).find("outside"), std::string::npos);
  EXPECT_NE(after(firstOffset, uint64_t(1)).find("outside"), std::string::npos);
  EXPECT_NE(after(firstOffset, uint64_t(0)), "");
  for (uint64_t bytes : {~uint64_t(0), uint64_t(4), uint64_t(1) << 40})
    EXPECT_NE(after(firstBytes, bytes).find("outside"), std::string::npos);
  EXPECT_NE(after(secondOffset, uint64_t(64)), "");
  EXPECT_NE(after(0, ~uint32_t(0)).find("ends early"), std::string::npos);
  EXPECT_NE(after(4, ~uint32_t(0)).find("ends early"), std::string::npos);
  EXPECT_NE(after(firstEntry, uint32_t(2)).find("does not have"),
            std::string::npos);
  EXPECT_NE(after(firstEntry + 4, ~uint32_t(0)).find("ends early"),
            std::string::npos);
  // "adam" is before "add": another order, or the same name twice.
  EXPECT_NE(after(firstEntry + 8, uint8_t('b')).find("twice"),
            std::string::npos);
}

/// Whatever one byte says, it is read within bounds (sanitizers look on).
TEST(ModuleTable, SurvivesAnyByte) {
  Bytes good = twoModules();
  for (size_t at = 0; at < good.size(); ++at)
    for (int value : {0, 1, 0x7f, 0xff}) {
      Bytes section = good;
      section[at] = static_cast<uint8_t>(value);
      Expected<ModuleTable> table = readModuleTable(section);
      if (table)
        for (const auto &[entry, module] : table->entries)
          EXPECT_LT(module, table->modules.size());
    }
}
