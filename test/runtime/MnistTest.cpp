#include "runtime/data/Dataset.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

using namespace dlrt;
using namespace dlrt::test;

namespace {

/// MNIST with 3 items of 2 x 2.
struct Mnist : testing::Test {
  TemporaryFolder folder;
  fb::DatasetT dataset;

  Mnist() {
    unsetenv("DL_DATA");
    dataset.kind = fb::DatasetKind::MNIST;
    dataset.train = true;
    dataset.items = 3;
    dataset.batch_size = 1;
    dataset.root = folder.path("root");
    for (std::vector<uint64_t> shape :
         {std::vector<uint64_t>{1, 2, 2}, std::vector<uint64_t>{}}) {
      auto component = std::make_unique<fb::InputComponentT>();
      component->dtype = fb::DType::U8;
      component->shape = shape;
      dataset.components.push_back(std::move(component));
    }
  }
  void write(const std::string &where, const Bytes &images,
             const Bytes &labels) {
    std::filesystem::create_directories(where);
    writeFile(where + "/train-images-idx3-ubyte", images);
    writeFile(where + "/train-labels-idx1-ubyte.gz", compressed(labels));
  }
  std::string error(const std::optional<std::string> &given = {}) {
    auto opened = openDataset(dataset, {"train", given});
    return opened ? "" : opened.status().message();
  }
};

Bytes images(uint32_t count, uint8_t value) {
  return idx({count, 2, 2}, Bytes(count * 4, value));
}
Bytes labels(uint32_t count) { return idx({count}, Bytes(count, 1)); }

} // namespace

TEST_F(Mnist, LooksInTheDocumentedOrder) {
  std::string root = folder.path("root"), given = folder.path("given");
  write(root, images(3, 1), labels(3));
  write(folder.path("env/mnist"), images(3, 2), labels(3));
  write(given, images(3, 3), labels(3));
  EXPECT_EQ(openDataset(dataset, {"train"})->components[0].data[0], 1);
  setenv("DL_DATA", folder.path("env").c_str(), 1);
  EXPECT_EQ(openDataset(dataset, {"train"})->components[0].data[0], 2);
  EXPECT_EQ(openDataset(dataset, {"train", given})->components[0].data[0], 3);
  setenv("DL_DATA", folder.path("elsewhere").c_str(), 1);
  EXPECT_EQ(openDataset(dataset, {"train"})->components[0].data[0], 1);
  unsetenv("DL_DATA");
}

TEST_F(Mnist, OfFashionHasAFolderOfItsOwn) {
  write(folder.path("env/mnist"), images(3, 2), labels(3));
  write(folder.path("env/fashion-mnist"), images(3, 4), labels(3));
  dataset.kind = fb::DatasetKind::FashionMNIST;
  setenv("DL_DATA", folder.path("env").c_str(), 1);
  EXPECT_EQ(openDataset(dataset, {"train"})->components[0].data[0], 4);
  unsetenv("DL_DATA");
}

TEST_F(Mnist, SaysWhereItLooked) {
  setenv("DL_DATA", "/nowhere", 1);
  std::string message = error();
  unsetenv("DL_DATA");
  for (const char *part : {"'/nowhere/mnist'", "/root'",
                           "--data train=", "train-images-idx3-ubyte[.gz]"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_NE(error("/given").find("looked in '/given' for"), std::string::npos);
}

TEST_F(Mnist, RefusesWhatDoesNotFit) {
  std::string root = folder.path("root");
  write(root, images(2, 1), labels(2));
  EXPECT_EQ(error(), "") << "any number of items will do";
  write(root, images(3, 1), labels(2));
  EXPECT_NE(error().find("2 labels for 3 images"), std::string::npos);
  write(root, idx({3, 2, 3}, Bytes(18)), labels(3));
  EXPECT_NE(error().find("other extents"), std::string::npos);
  write(root, images(3, 1), images(3, 1));
  EXPECT_NE(error().find("not an IDX file"), std::string::npos);
  std::filesystem::remove(root + "/train-images-idx3-ubyte");
  EXPECT_NE(error().find("has no train-images"), std::string::npos);
}
