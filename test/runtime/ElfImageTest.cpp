#include "runtime/exec/ElfImage.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>

using namespace dlrt;
using namespace dlrt::test;

TEST(ElfImage, FindsAndRunsKernels) {
  Bytes file = readFile(TEST_KERNELS);
  auto image = ElfImage::load(file);
  ASSERT_TRUE(image) << image.status().message();
  KernelEntry add = image->find("add");
  ASSERT_TRUE(add);
  int64_t a[] = {1, 2}, b[] = {10, 20}, sum[2];
  void *bindings[] = {a, b, sum};
  add(bindings, nullptr, nullptr, 0, 2);
  EXPECT_EQ(sum[0], 11);
  EXPECT_EQ(sum[1], 22);
  EXPECT_EQ(image->find("nothing"), nullptr);
}

TEST(ElfImage, RefusesTruncations) {
  Bytes file = readFile(TEST_KERNELS);
  for (size_t size = 0; size < 4096 && size < file.size(); size += 13)
    EXPECT_FALSE(ElfImage::load(std::span(file).first(size))) << size;
}

TEST(ElfImage, RefusesWritableCode) {
  Bytes file = readFile(TEST_KERNELS);
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof(header));
  for (int i = 0; i < header.e_phnum; ++i) {
    uint8_t *at = file.data() + header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, at, sizeof(segment));
    if (segment.p_type == PT_LOAD)
      segment.p_flags = PF_R | PF_W | PF_X;
    std::memcpy(at, &segment, sizeof(segment));
  }
  auto image = ElfImage::load(file);
  ASSERT_FALSE(image);
  EXPECT_NE(image.status().message().find("writable and executable"),
            std::string::npos);
}

TEST(ElfImage, RefusesOtherMachines) {
  Bytes file = readFile(TEST_KERNELS);
  file[18] = EM_AARCH64;
  EXPECT_FALSE(ElfImage::load(file));
}

TEST(ElfImage, RefusesLibrariesWithNeeds) {
  // This program itself: relocations, undefined symbols, needed libraries.
  Bytes file = readFile("/proc/self/exe");
  EXPECT_FALSE(ElfImage::load(file));
}
