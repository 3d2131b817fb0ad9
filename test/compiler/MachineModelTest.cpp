// The description of the machine: nothing in it is left out of its hash, and
// what a file may not say is refused with its line.
#include "dialects/plan/MachineModel.h"
#include <gtest/gtest.h>
#include <set>

using dl::plan::MachineModel;

namespace {

void change(std::string &field) { field += "+"; }
void change(double &field) { field *= 1.0000000000000002; }
void change(int64_t &field) { ++field; }

TEST(MachineModel, EveryFieldIsInTheHash) {
  size_t fields = 0, bytes = 0;
  std::set<std::string> hashes{MachineModel().hash()};
  const MachineModel usual;
  MachineModel::forEachField(usual, [&](auto, const auto &field, auto) {
    bytes += sizeof field;
    MachineModel changed;
    size_t number = 0;
    MachineModel::forEachField(changed, [&](auto, auto &other, auto) {
      if (number++ == fields)
        change(other);
    });
    hashes.insert(changed.hash());
    ++fields;
  });
  EXPECT_EQ(hashes.size(), fields + 1);
  // A field that is not visited would be missing here.
  EXPECT_EQ(bytes, sizeof(MachineModel));
}

TEST(MachineModel, ItsTextIsAFile) {
  MachineModel machine;
  machine.name = "another";
  machine.flopsPerSecond = 1e12 / 3;
  machine.maxTiles = 7;
  auto read = MachineModel::parse(machine.text(), "m");
  ASSERT_TRUE(bool(read));
  EXPECT_EQ(read->text(), machine.text());
  EXPECT_EQ(read->flopsPerSecond, machine.flopsPerSecond);
}

TEST(MachineModel, WhatAFileLeavesOutStays) {
  auto read = MachineModel::parse("# two lines\n\n max_tiles = 3 # few\n", "m");
  ASSERT_TRUE(bool(read));
  EXPECT_EQ(read->maxTiles, 3);
  EXPECT_EQ(read->l1Bytes, MachineModel().l1Bytes);
}

std::string errorOf(llvm::StringRef text) {
  auto read = MachineModel::parse(text, "m.machine");
  return read ? "" : llvm::toString(read.takeError());
}

TEST(MachineModel, ErrorsNameTheLine) {
  EXPECT_EQ(errorOf("name = a\nmax_tile = 1\n"),
            "m.machine:2: max_tile is not known; did you mean max_tiles?");
  EXPECT_EQ(errorOf("cores = 8"), "m.machine:1: cores is not known; dlcc "
                                  "--emit=machine writes all there are");
  EXPECT_EQ(errorOf("\nfast"), "m.machine:2: key = value is wanted, not fast");
  EXPECT_EQ(errorOf("max_tiles = 1\nmax_tiles = 2"),
            "m.machine:2: max_tiles is said twice");
  EXPECT_EQ(errorOf("max_tiles = 1.5"),
            "m.machine:1: max_tiles = 1.5: a whole number from 1 to 2147483647 "
            "is wanted");
  EXPECT_EQ(errorOf("serial_seconds = -1"),
            "m.machine:1: serial_seconds = -1: a number above 0 is wanted");
  EXPECT_EQ(errorOf("flops_per_second = inf"),
            "m.machine:1: flops_per_second = inf: a number of at least 1 is "
            "wanted");
  EXPECT_EQ(errorOf("name ="), "m.machine:1: name = : a text is wanted");
}

} // namespace
