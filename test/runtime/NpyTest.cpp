#include "runtime/data/Npy.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace dlrt;
using namespace dlrt::test;

static std::string refusal(const Bytes &bytes) {
  auto array = parseNpy(bytes);
  return array ? "" : array.status().message();
}

TEST(Npy, AllVersionsAndDTypes) {
  struct Case {
    const char *descr;
    FileElement element;
    size_t bytes;
  };
  for (int version : {1, 2, 3})
    for (Case c : {Case{"<f2", FileElement::F16, 2},
                   {"<f4", FileElement::F32, 4},
                   {"<f8", FileElement::F64, 8},
                   {"<i4", FileElement::I32, 4},
                   {"<i8", FileElement::I64, 8},
                   {"|u1", FileElement::U8, 1},
                   {"|b1", FileElement::Bool, 1},
                   {"|i1", FileElement::I8, 1},
                   {"<i2", FileElement::I16, 2},
                   {"<u2", FileElement::U16, 2},
                   {"<u4", FileElement::U32, 4},
                   {"<u8", FileElement::U64, 8}}) {
      Bytes file = npy(c.descr, "(2, 3)", Bytes(6 * c.bytes, 1), version);
      auto array = parseNpy(file);
      ASSERT_TRUE(array) << array.status().message();
      EXPECT_EQ(array->element, c.element);
      EXPECT_EQ(array->shape, (std::vector<uint64_t>{2, 3}));
      EXPECT_EQ(array->data.size(), 6 * c.bytes);
      EXPECT_EQ((array->data.data() - file.data()) % 64, 0);
    }
}

TEST(Npy, Shapes) {
  EXPECT_EQ(refusal(npy("<f4", "()", Bytes(4))), "");
  EXPECT_EQ(refusal(npy("<f4", "(3,)", Bytes(12))), "");
  EXPECT_EQ(refusal(npy("<f4", "(0, 5)", {})), "");
}

TEST(Npy, Refuses) {
  EXPECT_NE(refusal({}), "");
  EXPECT_NE(refusal(Bytes(100, 0)), "");
  EXPECT_NE(refusal(npy(">f4", "(2,)", Bytes(8))).find("'>f4'"),
            std::string::npos);
  EXPECT_NE(refusal(npy(">f2", "(2,)", Bytes(4))), "");
  EXPECT_NE(refusal(npy("<f4", "(2,)", Bytes(7))), "");
  EXPECT_NE(refusal(npy("<f4", "(2,)", Bytes(9))), "");
  EXPECT_NE(refusal(npy("<f4", "(4294967296, 4294967296, 4)", {})), "");
  EXPECT_NE(refusal(npy("<f4", "(-1,)", {})), "");
  EXPECT_NE(refusal(npy("<f4", "(2,", Bytes(8))), "");
  EXPECT_NE(refusal(npy("<f4', 'x': 'y", "(2,)", Bytes(8))), "");
  Bytes fortran = npy("<f4", "(2, 2)", Bytes(16));
  std::string text(fortran.begin(), fortran.end());
  size_t at = text.find("False, ");
  std::copy_n("True,  ", 7, fortran.begin() + at);
  EXPECT_NE(refusal(fortran).find("Fortran"), std::string::npos);
  Bytes good = npy("<f4", "(2,)", Bytes(8));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(refusal(Bytes(good.begin(), good.begin() + size)), "") << size;
  good[6] = 4;
  EXPECT_NE(refusal(good).find("version 4"), std::string::npos);
}
