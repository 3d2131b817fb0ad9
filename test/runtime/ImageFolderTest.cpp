// Folders of pictures: which files are items, in which order; what a plan may
// say of them. What becomes of the pictures is compared with Pillow elsewhere.
#include "runtime/data/Dataset.h"
#include "runtime/data/ImageTransforms.h"
#include "test/runtime/TestFiles.h"
#include "test/runtime/TestPlan.h"

#include <cmath>
#include <filesystem>
#include <set>

using namespace dlrt;
using namespace dlrt::test;

using TransformKind = fb::ImageTransformKind;

static std::unique_ptr<fb::ImageTransformT>
transform(TransformKind kind, uint64_t height, uint64_t width,
          std::vector<double> numbers = {}) {
  auto made = std::make_unique<fb::ImageTransformT>();
  made->kind = kind;
  made->height = height;
  made->width = width;
  made->numbers = std::move(numbers);
  return made;
}

static void setPictures(fb::DatasetT &data, std::vector<std::string> classes,
                        std::unique_ptr<fb::ImageTransformT> last) {
  data.kind = fb::DatasetKind::ImageFolder;
  data.paths.clear();
  data.classes = std::move(classes);
  data.components.clear();
  for (fb::DType dtype : {fb::DType::U8, fb::DType::I64}) {
    data.components.push_back(std::make_unique<fb::InputComponentT>());
    data.components.back()->dtype = dtype;
  }
  data.components[0]->shape = {3, last->height, last->width};
  data.transforms.push_back(std::move(last));
}

static void
expectFolderRefusal(const std::function<void(fb::DatasetT &)> &change,
                    const std::string &part) {
  PlanBuilder b = regressionPlan(10, 2);
  setPictures(*b.plan.datasets[0], {"cat", "dog"},
              transform(TransformKind::RandomResizedCrop, 20, 30,
                        {0.5, 1, 0.75, 1.25}));
  change(*b.plan.datasets[0]);
  std::string message = verdict(b.plan);
  EXPECT_NE(message.find(part), std::string::npos)
      << "got '" << message << "', expected '" << part << "'";
}

TEST(ImageFolder, WhatPlansMayNotSay) {
  expectFolderRefusal([](auto &d) { d.components.pop_back(); },
                      "pictures are u8");
  expectFolderRefusal([](auto &d) { d.components[0]->dtype = fb::DType::F32; },
                      "pictures are u8");
  expectFolderRefusal([](auto &d) { d.components[0]->shape = {1, 20, 30}; },
                      "pictures are u8");
  expectFolderRefusal([](auto &d) { d.components[1]->shape = {1}; },
                      "pictures are u8");
  expectFolderRefusal([](auto &d) { d.transforms.clear(); }, "another size");
  expectFolderRefusal([](auto &d) { d.components[0]->shape[2] = 31; },
                      "another size");
  expectFolderRefusal([](auto &d) { d.classes[1] = "a\nb"; },
                      "control characters");
  using Change = void (*)(fb::ImageTransformT &);
  for (Change change :
       {Change([](auto &t) { t.height = 0; }),
        Change([](auto &t) { t.width = 0; }),
        Change([](auto &t) { t.width = 65536; }),
        Change([](auto &t) { t.height = t.width = 20000; }),
        Change([](auto &t) { t.kind = TransformKind(4); }), Change([](auto &t) {
          t.kind = TransformKind::Resize;
        }), // has no numbers
        Change([](auto &t) { t.numbers.pop_back(); }),
        Change([](auto &t) { t.numbers[0] = 2; }),
        Change([](auto &t) { t.numbers[2] = 0; }),
        Change([](auto &t) { t.numbers[3] = 1e9; }),
        Change([](auto &t) { t.numbers[1] = std::nan(""); })})
    expectFolderRefusal([=](auto &d) { change(*d.transforms[0]); },
                        "a transform of pictures is none");
}

TEST(ImageFolder, SyntheticPicturesAreNoise) {
  fb::DatasetT data;
  setPictures(data, {"a", "b"}, transform(TransformKind::CenterCrop, 8, 8));
  data.items = 10;
  Dataset noise = syntheticDataset(data);
  const uint8_t *pixels = noise.components[0].data;
  EXPECT_GT(std::set<uint8_t>(pixels, pixels + 192).size(), 50u);
  for (uint64_t item = 0; item < noise.distinct; ++item)
    EXPECT_LE(noise.components[1].data[8 * item], 1); // a class that is there
}

/// A PPM file of one colour.
static Bytes picture(uint8_t shade, int height = 4, int width = 3) {
  std::string header =
      "P6 " + std::to_string(width) + " " + std::to_string(height) + " 255\n";
  Bytes bytes(header.begin(), header.end());
  bytes.resize(bytes.size() + static_cast<size_t>(3 * height * width), shade);
  return bytes;
}

class ImageFiles : public testing::Test {
protected:
  void write(const std::string &name, uint8_t shade) {
    std::string path = folder.path(name);
    std::filesystem::create_directories(path.substr(0, path.rfind('/')));
    writeFile(path, picture(shade));
  }
  /// The shades of all items, and their labels.
  std::vector<std::pair<int, int>> read(std::vector<std::string> classes,
                                        bool labels = true) {
    fb::DatasetT data;
    setPictures(data, std::move(classes),
                transform(TransformKind::CenterCrop, 2, 2));
    DataRequest request{.step = "train", .given = folder.string()};
    request.unused = {false, !labels};
    Expected<Dataset> opened = openDataset(data, request);
    if (!opened) {
      said = opened.takeError().message();
      return {};
    }
    for (const std::string &note : opened->notes)
      said = note;
    std::vector<std::pair<int, int>> found;
    std::vector<uint8_t> pixels(12);
    std::unique_ptr<ItemReader> reader =
        opened->components[0].source->reader(0);
    for (uint64_t item = 0; item < opened->items; ++item) {
      int64_t label = -1;
      if (labels)
        std::memcpy(&label, opened->components[1].data + 8 * item, 8);
      if (Status status = reader->read(item, 0, pixels.data()); !status.ok())
        said = status.message();
      found.emplace_back(pixels[0], label);
    }
    return found;
  }
  using Items = std::vector<std::pair<int, int>>;

  TemporaryFolder folder;
  std::string said;
};

/// As sorted(os.walk()) lists them: a folder's own files, then the folders
/// within by their whole names, in which '-' comes before '/'.
TEST_F(ImageFiles, ComeFolderByFolder) {
  write("b/2.PPM", 1);
  write("b/10.ppm", 2);
  write("b/x/1.ppm", 3);
  write("b/x-y/1.ppm", 4);
  write("b/x/a/1.ppm", 5);
  write("a/z.ppm", 6);
  write("c/1.txt", 7);
  EXPECT_EQ(read({"a", "b", "c"}),
            (Items{{6, 0}, {2, 1}, {1, 1}, {3, 1}, {4, 1}, {5, 1}}));
  // Labels are the plan's, whichever classes are there.
  EXPECT_EQ(read({"0", "b", "a", "c"}),
            (Items{{2, 1}, {1, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 2}}));
  EXPECT_NE(said.find("has no picture of 2 of the 4 classes: 0, c"), said.npos);
  // Two steps over a folder have the same items, whether both read labels or
  // not.
  write("0.ppm", 8);
  EXPECT_EQ(read({"a", "b", "c"}).size(), 6u);
  EXPECT_EQ(read({"a", "b", "c"}, false).size(), 6u);
  EXPECT_NE(said.find("1 pictures beside the folders of the classes are left "
                      "out"),
            said.npos);
  write("b/1.webp", 9);
  EXPECT_EQ(read({"a", "b", "c"}).size(), 6u);
  EXPECT_NE(said.find("1 pictures of formats that are not read"), said.npos);
  EXPECT_EQ(read({"q"}, false).size(), 7u);
  EXPECT_EQ(read({"q"}, false).front(), std::pair(8, -1));
}

TEST_F(ImageFiles, AreNamedWhereTheyAreWrong) {
  EXPECT_EQ(read({"a"}), Items());
  EXPECT_NE(said.find("holds no pictures in folders of their classes"),
            said.npos);
  write("a/1.ppm", 1);
  EXPECT_EQ(read({"b", "c"}), Items());
  EXPECT_NE(said.find("the model knows no class 'a'; its 2 classes are b, c"),
            said.npos);
  writeFile(folder.path("a/1.ppm"), Bytes{'P', '6', ' '});
  EXPECT_EQ(read({"a"}).size(), 1u);
  EXPECT_NE(said.find("a/1.ppm: "), said.npos);
  std::filesystem::remove(folder.path("a/1.ppm"));
  std::filesystem::create_directory(folder.path("a/1.ppm"));
  EXPECT_EQ(read({"a"}), Items());
}

/// Parts lie within the picture and have the shape that is asked for, up to
/// half a pixel on each side.
TEST(ImageParts, HaveTheirSizeAndShape) {
  auto wanted =
      transform(TransformKind::RandomResizedCrop, 1, 1, {0.1, 0.5, 0.5, 2});
  for (uint64_t item = 0; item < 2000; ++item) {
    uint64_t height = 10 + item % 97, width = 10 + item % 89;
    ImageBox part = randomPart(*wanted, height, width, {3, 4, item}, 0);
    ASSERT_GE(part.top, 0);
    ASSERT_GE(part.left, 0);
    ASSERT_LE(part.top + part.height, int64_t(height));
    ASSERT_LE(part.left + part.width, int64_t(width));
    double h = static_cast<double>(part.height),
           w = static_cast<double>(part.width);
    double area = static_cast<double>(height * width);
    ASSERT_LE((h - 0.5) * (w - 0.5), 0.5 * area);
    ASSERT_GE((h + 0.5) * (w + 0.5), 0.1 * area);
    ASSERT_LE((w - 0.5) / (h + 0.5), 2);
    ASSERT_GE((w + 0.5) / (h - 0.5), 0.5);
    ImageBox other = randomPart(*wanted, height, width, {3, 5, item}, 0);
    ImageBox again = randomPart(*wanted, height, width, {3, 4, item}, 0);
    ASSERT_EQ(std::tuple(part.top, part.left, part.height, part.width),
              std::tuple(again.top, again.left, again.height, again.width));
    if (item == 0) {
      ASSERT_NE(std::tuple(part.top, part.left, part.height, part.width),
                std::tuple(other.top, other.left, other.height, other.width));
    }
  }
}

TEST(ImageParts, AreTheMiddleWhereNoneFits) {
  auto wide = transform(TransformKind::RandomResizedCrop, 1, 1, {1, 1, 8, 9});
  ImageBox part = randomPart(*wide, 100, 40, {0, 0, 0}, 0);
  EXPECT_EQ(std::tuple(part.top, part.left, part.height, part.width),
            std::tuple(47, 0, 5, 40));
}

TEST(ImageParts, OfTooSmallPicturesAndTooLargeOnes) {
  ImageTransforms transforms;
  std::vector<std::unique_ptr<fb::ImageTransformT>> list;
  list.push_back(transform(TransformKind::RandomCrop, 5, 3));
  Image image;
  image.setSize(4, 9);
  Status status = transforms.apply(list, {}, image);
  EXPECT_EQ(status.message(), "its 4 x 9 pixels have no part of 5 x 3, which "
                              "RandomCrop is to take");
  list[0] = transform(TransformKind::Resize, 20000, 0);
  image.setSize(1, 20000);
  status = transforms.apply(list, {}, image);
  EXPECT_EQ(status.message(), "its 1 x 20000 pixels become 20000 x 400000000, "
                              "which is too large");
}
