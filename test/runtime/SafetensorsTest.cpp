#include "runtime/state/Safetensors.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

using namespace dlrt;
using namespace dlrt::test;

static Bytes file(const std::string &header, size_t dataBytes) {
  Bytes out(8);
  uint64_t length = header.size();
  std::memcpy(out.data(), &length, 8);
  out.insert(out.end(), header.begin(), header.end());
  out.resize(out.size() + dataBytes);
  return out;
}

static std::string refusal(const std::string &header, size_t dataBytes) {
  Bytes bytes = file(header, dataBytes);
  auto parsed = parseSafetensors(bytes);
  if (parsed)
    return "";
  EXPECT_EQ(parsed.status().code(), Code::Io);
  return parsed.status().message();
}

TEST(Safetensors, RoundTrip) {
  TemporaryFolder folder;
  Bytes a = floatBytes({1, 2, 3, 4, 5, 6}), b = {7}, empty;
  std::map<std::string, SafetensorsEntry> tensors = {
      {"a.weight", {"F32", {2, 3}, a}},
      {"z.flag", {"BOOL", {}, b}},
      {"none", {"F64", {0, 4}, empty}}};
  std::string path = folder.path("w.safetensors");
  ASSERT_TRUE(writeSafetensors(path, tensors, {{"format", "pt"}}).ok());
  auto read = SafetensorsFile::open(path);
  ASSERT_TRUE(read) << read.status().message();
  ASSERT_EQ(read->tensors.size(), 3u);
  const SafetensorsEntry &entry = read->tensors.at("a.weight");
  EXPECT_EQ(entry.dtype, "F32");
  EXPECT_EQ(entry.shape, (std::vector<uint64_t>{2, 3}));
  EXPECT_TRUE(std::equal(a.begin(), a.end(), entry.data.begin()));
  EXPECT_EQ(read->tensors.at("z.flag").shape.size(), 0u);

  Bytes whole = readFile(path);
  uint64_t header;
  std::memcpy(&header, whole.data(), 8);
  EXPECT_EQ(header % 8, 0u) << "the data start aligned";
}

TEST(Safetensors, ReadsTheReferenceExample) {
  std::string header =
      "{\"x\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[0,8]},"
      "\"__metadata__\":{\"k\":\"v\"}}   ";
  EXPECT_EQ(refusal(header, 8), "");
}

TEST(Safetensors, Refuses) {
  auto entry = [](const std::string &content) {
    return "{\"x\":{" + content + "}}";
  };
  std::string good = "\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]";
  EXPECT_EQ(refusal(entry(good), 8), "");
  EXPECT_NE(refusal(entry(good), 7), "") << "truncated";
  EXPECT_NE(refusal(entry(good), 9), "") << "bytes behind";
  EXPECT_NE(refusal("[]", 0), "");
  EXPECT_NE(refusal("{\"x\":1}", 0), "");
  EXPECT_NE(refusal("{\"x\":{}}", 0), "");
  EXPECT_NE(refusal("{", 0), "");
  EXPECT_NE(refusal(entry("\"dtype\":\"F99\",\"shape\":[2],"
                          "\"data_offsets\":[0,8]"),
                    8),
            "");
  EXPECT_NE(refusal(entry("\"dtype\":\"F32\",\"shape\":[3],"
                          "\"data_offsets\":[0,8]"),
                    8),
            "");
  EXPECT_NE(refusal(entry("\"dtype\":\"F32\",\"shape\":[-2],"
                          "\"data_offsets\":[0,8]"),
                    8),
            "");
  EXPECT_NE(refusal(entry("\"dtype\":\"F32\",\"shape\":[4294967296,"
                          "4294967296,2],\"data_offsets\":[0,8]"),
                    8),
            "");
  EXPECT_NE(refusal(entry("\"dtype\":\"F32\",\"shape\":[2],"
                          "\"data_offsets\":[8,0]"),
                    8),
            "");
  // A hole, and an overlap.
  std::string two = "{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":"
                    "[0,2]},\"y\":{\"dtype\":\"U8\",\"shape\":[2],"
                    "\"data_offsets\":";
  EXPECT_EQ(refusal(two + "[2,4]}}", 4), "");
  EXPECT_NE(refusal(two + "[3,5]}}", 5), "");
  EXPECT_NE(refusal(two + "[1,3]}}", 3), "");
  EXPECT_FALSE(parseSafetensors(Bytes(5)));
  EXPECT_FALSE(parseSafetensors(Bytes(100, 0xff)));
}

TEST(Safetensors, EveryTruncationIsRefused) {
  TemporaryFolder folder;
  Bytes a = floatBytes({1, 2, 3});
  std::string path = folder.path("w.safetensors");
  ASSERT_TRUE(writeSafetensors(path, {{"a", {"F32", {3}, a}}}).ok());
  Bytes whole = readFile(path);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parseSafetensors(std::span(whole).first(size))) << size;
}
