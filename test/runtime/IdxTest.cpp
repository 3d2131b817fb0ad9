#include "runtime/data/Idx.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace dlrt;
using namespace dlrt::test;

namespace {

struct IdxFiles : testing::Test {
  TemporaryFolder folder;
  std::string path = folder.path("file");

  std::string refusal(const Bytes &bytes, unsigned rank) {
    writeFile(path, bytes);
    auto file = openIdx(path, rank);
    if (file)
      return "";
    EXPECT_EQ(file.status().code(), Code::Io);
    return file.status().message();
  }
  Bytes data() {
    Bytes bytes(2 * 3 * 4);
    std::iota(bytes.begin(), bytes.end(), 0);
    return bytes;
  }
};

} // namespace

TEST_F(IdxFiles, PlainAndCompressedAreEqual) {
  Bytes plain = idx({2, 3, 4}, data());
  for (const Bytes &bytes : {plain, compressed(plain)}) {
    writeFile(path, bytes);
    auto file = openIdx(path, 3);
    ASSERT_TRUE(file) << file.status().message();
    EXPECT_EQ(file->shape, (std::vector<uint64_t>{2, 3, 4}));
    Bytes read(file->data, file->data + 24);
    EXPECT_EQ(read, data());
  }
}

TEST_F(IdxFiles, WrongSizes) {
  Bytes good = idx({2, 3, 4}, data());
  Bytes shorter(good.begin(), good.end() - 1), longer = good;
  longer.push_back(0);
  EXPECT_NE(refusal(shorter, 3).find("so 40 bytes, but it has 39"),
            std::string::npos);
  EXPECT_NE(refusal(longer, 3).find("but it has 41"), std::string::npos);
  EXPECT_NE(refusal(compressed(shorter), 3).find("1 bytes are missing"),
            std::string::npos);
  EXPECT_NE(refusal(compressed(longer), 3).find("more data"),
            std::string::npos);
  EXPECT_NE(refusal({1, 2}, 1), "");
  EXPECT_NE(refusal({}, 1), "");
}

TEST_F(IdxFiles, WrongHeaders) {
  EXPECT_NE(refusal(idx({2, 3, 4}, data()), 1).find("0x00000803"),
            std::string::npos);
  Bytes floats = idx({2}, Bytes(2));
  floats[2] = 0x0d;
  EXPECT_NE(refusal(floats, 1), "");
  uint32_t huge = 0xffffffff;
  EXPECT_NE(refusal(idx({huge, huge, huge}, {}), 3).find("too large"),
            std::string::npos);
  EXPECT_NE(refusal(compressed(idx({huge, 1, 100}, {})), 3), "");
}

TEST_F(IdxFiles, DamagedCompression) {
  Bytes good = compressed(idx({2, 3, 4}, data()));
  for (size_t size = 2; size < good.size(); ++size)
    EXPECT_NE(refusal(Bytes(good.begin(), good.begin() + size), 3), "") << size;
  Bytes damaged = good;
  damaged[good.size() - 6] ^= 0xff; // of the checksum
  EXPECT_NE(refusal(damaged, 3).find("damaged"), std::string::npos);
}
