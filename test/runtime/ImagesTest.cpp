#include "runtime/data/images/DecodeImage.h"
#include "runtime/data/images/ResizeImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio> // jpeglib.h wants it, and before
#include <cstdlib>
#include <cstring>
#include <jpeglib.h>
#include <string>
#include <utility>
#include <zlib.h>

using namespace dlrt;

namespace {

using Bytes = std::vector<uint8_t>;

Bytes imageBytes(std::string_view text) {
  return Bytes(text.begin(), text.end());
}

Bytes fromHex(std::string_view text) {
  Bytes out;
  for (size_t at = 0; at + 1 < text.size(); at += 2)
    out.push_back(
        std::strtoul(std::string(text.substr(at, 2)).c_str(), nullptr, 16));
  return out;
}

uint32_t sumOf(const Bytes &bytes) {
  return crc32(0, bytes.data(), bytes.size());
}

/// The message of a imageRefusal, "" for a picture.
std::string imageRefusal(const Bytes &file) {
  Image image;
  Status status = decodeImage(file, image);
  if (!status.ok()) {
    EXPECT_EQ(status.code(), Code::Training);
    EXPECT_NE(status.message(), "");
  }
  return status.message();
}

Bytes pixelsOf(const Bytes &file, uint64_t height, uint64_t width) {
  Image image;
  Status status = decodeImage(file, image);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(image.height, height);
  EXPECT_EQ(image.width, width);
  EXPECT_EQ(image.pixels.size(), height * width * 3);
  return image.pixels;
}

void addNumber(Bytes &to, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to.push_back(value >> shift);
}

Bytes chunk(const std::string &name, const Bytes &data) {
  Bytes out;
  addNumber(out, data.size());
  Bytes checked = imageBytes(name);
  checked.insert(checked.end(), data.begin(), data.end());
  out.insert(out.end(), checked.begin(), checked.end());
  addNumber(out, sumOf(checked));
  return out;
}

Bytes deflated(const Bytes &data) {
  uLongf size = compressBound(data.size());
  Bytes out(size);
  compress(out.data(), &size, data.data(), data.size());
  out.resize(size);
  return out;
}

/// What a PNG says of itself; `rows` has the byte of the filter before each.
struct Png {
  uint32_t width, height;
  uint8_t bits, kind;
  Bytes rows;
  bool interlaced = false;
  std::vector<Bytes> chunks = {}; ///< between header and data

  Bytes file() const {
    Bytes out = fromHex("89504e470d0a1a0a"), header;
    addNumber(header, width);
    addNumber(header, height);
    for (int value : {int(bits), int(kind), 0, 0, int(interlaced)})
      header.push_back(value);
    std::vector<Bytes> all = {chunk("IHDR", header)};
    all.insert(all.end(), chunks.begin(), chunks.end());
    all.push_back(chunk("IDAT", deflated(rows)));
    all.push_back(chunk("IEND", {}));
    for (const Bytes &one : all)
      out.insert(out.end(), one.begin(), one.end());
    return out;
  }
};

enum Kind { Gray = 0, Rgb = 2, Palette = 3, GrayAlpha = 4, Rgba = 6 };

/// A JPEG whose pixels are all `color`, of which nothing is lost.
Bytes plainJpeg(unsigned height, unsigned width, J_COLOR_SPACE space,
                const Bytes &color) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char *memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.input_components = color.size();
  jpeg.in_color_space = space;
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, space);
  jpeg_set_quality(&jpeg, 100, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  Bytes row;
  for (unsigned x = 0; x < width; ++x)
    row.insert(row.end(), color.begin(), color.end());
  for (unsigned y = 0; y < height; ++y) {
    JSAMPROW data = row.data();
    jpeg_write_scanlines(&jpeg, &data, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  Bytes out(memory, memory + size);
  std::free(memory);
  return out;
}

Bytes repeated(const Bytes &pixel, uint64_t count) {
  Bytes out;
  for (uint64_t index = 0; index < count; ++index)
    out.insert(out.end(), pixel.begin(), pixel.end());
  return out;
}

// Of 21 x 12 pixels (x * 12, y * 20, x * y mod 256), written by Pillow 9.4 with
// quality 60 and without the JFIF marker: progressive with a quarter of the
// colours, and sequential with half of them.
const char *const Progressive =
    "ffd8ffdb0043000d090a0b0a080d0b0a0b0e0e0d0f13201513121213271c1e17202e29"
    "31302e292d2c333a4a3e333646372c2d405741464c4e525352323e5a615a50604a5152"
    "4fffdb0043010e0e0e131113261515264f352d354f4f4f4f4f4f4f4f4f4f4f4f4f4f4f"
    "4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f"
    "ffc2001108000c001503012200021101031101ffc40016000101010000000000000000"
    "0000000000050004ffc400160101010100000000000000000000000000030405ffda00"
    "0c0301000210031000000123521ae5236764d3ffc40017100003010000000000000000"
    "000000000000010203ffda00080101000105029c89c45893289942947fffc400181100"
    "0301010000000000000000000000000001040311ffda0008010301013f01c2962a9f0f"
    "ffc40017110003010000000000000000000000000000011202ffda0008010201013f01"
    "5ba20fffc40014100100000000000000000000000000000020ffda0008010100063f02"
    "5fffc400191001000301010000000000000000000000003151611121ffda0008010100"
    "013f21c583c215159cf0ffda000c03010002000300000010d72fffc400161101010100"
    "000000000000000000000000001101ffda0008010301013f10c3129fffc40016110101"
    "0100000000000000000000000000010031ffda0008010201013f106d406fffc4001810"
    "000301010000000000000000000000000010112131ffda0008010100013f10e0291331"
    "8c282fffd9";
const char *const Sequential =
    "ffd8ffdb0043000d090a0b0a080d0b0a0b0e0e0d0f13201513121213271c1e17202e29"
    "31302e292d2c333a4a3e333646372c2d405741464c4e525352323e5a615a50604a5152"
    "4fffdb0043010e0e0e131113261515264f352d354f4f4f4f4f4f4f4f4f4f4f4f4f4f4f"
    "4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f"
    "ffc0001108000c001503012100021101031101ffc40017000101010100000000000000"
    "000000000005000406ffc4001d10000202020301000000000000000000000004032205"
    "1112213231ffc4001801000203000000000000000000000000000406020507ffc4001e"
    "11000202020203000000000000000000000002010403111221132231ffda000c030100"
    "02110311003f00e497c4fca8a2f87deaa0339390450b9f04a2c357c911f18ce977d63b"
    "36aab45d545d5562eaa0b5da64cd69656e8561561e1e48b6558d0c6b95b507ffd9";

std::vector<Bytes> smallFiles() {
  Bytes palette = chunk("PLTE", {10, 20, 30, 40, 50, 60, 70, 80, 90});
  return {
      fromHex(Progressive),
      fromHex(Sequential),
      plainJpeg(5, 3, JCS_GRAYSCALE, {77}),
      plainJpeg(5, 3, JCS_CMYK, {200, 100, 50, 250}),
      Png{3, 2, 2, Palette, {0, 0x18, 0, 0x90}, false, {palette}}.file(),
      Png{2, 2, 8, Gray, {0, 1, 0, 2, 0, 3, 4}, true}.file(),
      Png{1,
          2,
          16,
          Rgba,
          {0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 2, 3, 4, 5, 6, 7, 8}}
          .file(),
      imageBytes("P6 2 2 255\nabcdefghijkl"),
      imageBytes("P5\n# a comment\n3 2\n100\nabcdef"),
      imageBytes("P3 1 2 15 1 2 3 #x\n 4 5 6\n"),
      imageBytes("P2 2 1 255 9 8 "),
  };
}

/// Bytes without a pattern, the same ones in the script that Pillow ran in.
Image pattern(uint64_t height, uint64_t width) {
  Image image;
  image.setSize(height, width);
  for (uint64_t at = 0; at < image.pixels.size(); ++at)
    image.pixels[at] = (at * at * 7 + at * 13) >> 3;
  return image;
}

} // namespace

TEST(Images, NamesOfPictures) {
  for (const char *name : {"a.jpg", "a.JPEG", "b.c.png", ".ppm", "x/y.PgM"})
    EXPECT_TRUE(isImageName(name)) << name;
  for (const char *name : {"", "jpg", "a.jpg.txt", "a.gif", "a.jpgx", "png"})
    EXPECT_FALSE(isImageName(name)) << name;
}

TEST(Images, PngOfEveryKindIsRgb) {
  Bytes palette = chunk("PLTE", {10, 20, 30, 40, 50, 60});
  Bytes clear = chunk("tRNS", {0, 128});
  Bytes gamma = chunk("gAMA", {0, 0, 0x75, 0x30});
  EXPECT_EQ(
      pixelsOf(Png{2, 1, 8, Gray, {0, 7, 200}, false, {gamma}}.file(), 1, 2),
      (Bytes{7, 7, 7, 200, 200, 200}));
  EXPECT_EQ(pixelsOf(Png{3, 1, 1, Gray, {0, 0xA0}}.file(), 1, 3),
            (Bytes{255, 255, 255, 0, 0, 0, 255, 255, 255}));
  EXPECT_EQ(pixelsOf(Png{3, 1, 2, Gray, {0, 0x6C}}.file(), 1, 3),
            (Bytes{85, 85, 85, 170, 170, 170, 255, 255, 255}));
  EXPECT_EQ(pixelsOf(Png{2, 1, 4, Gray, {0, 0x1F}}.file(), 1, 2),
            (Bytes{17, 17, 17, 255, 255, 255}));
  EXPECT_EQ(pixelsOf(Png{1, 1, 16, Gray, {0, 9, 255}}.file(), 1, 1),
            (Bytes{9, 9, 9}));
  // Index 3 is not in the palette.
  EXPECT_EQ(
      pixelsOf(Png{3, 1, 2, Palette, {0, 0x1C}, false, {palette, clear}}.file(),
               1, 3),
      (Bytes{10, 20, 30, 40, 50, 60, 3, 3, 3}));
  EXPECT_EQ(pixelsOf(Png{1, 1, 8, GrayAlpha, {0, 90, 0}}.file(), 1, 1),
            (Bytes{90, 90, 90}));
  EXPECT_EQ(pixelsOf(Png{1, 1, 8, Rgba, {0, 1, 2, 3, 0}}.file(), 1, 1),
            (Bytes{1, 2, 3}));
  EXPECT_EQ(
      pixelsOf(Png{1, 1, 16, Rgb, {0, 1, 255, 2, 255, 3, 255}}.file(), 1, 1),
      (Bytes{1, 2, 3}));
}

TEST(Images, PngFiltersAndInterlace) {
  // Each byte is the difference to its left, then to its upper neighbour.
  EXPECT_EQ(pixelsOf(Png{2, 2, 8, Gray, {1, 10, 5, 2, 1, 1}}.file(), 2, 2),
            (Bytes{10, 10, 10, 15, 15, 15, 11, 11, 11, 16, 16, 16}));
  // Adam7: the first pixel, the second, the second row.
  EXPECT_EQ(
      pixelsOf(Png{2, 2, 8, Gray, {0, 1, 0, 2, 0, 3, 4}, true}.file(), 2, 2),
      (Bytes{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}));
}

TEST(Images, JpegOfEveryColorSpace) {
  EXPECT_EQ(pixelsOf(plainJpeg(9, 17, JCS_GRAYSCALE, {77}), 9, 17),
            Bytes(9 * 17 * 3, 77));
  EXPECT_EQ(pixelsOf(plainJpeg(3, 20, JCS_RGB, {250, 3, 128}), 3, 20),
            repeated({250, 3, 128}, 60));
  // 255 - 55 * 250 / 255 and so on, less the black's 5.
  EXPECT_EQ(pixelsOf(plainJpeg(2, 2, JCS_CMYK, {200, 100, 50, 250}), 2, 2),
            repeated({196, 98, 49}, 4));
  // No light through black.
  EXPECT_EQ(pixelsOf(plainJpeg(2, 2, JCS_CMYK, {200, 100, 50, 0}), 2, 2),
            Bytes(12, 0));
}

TEST(Images, JpegHasThePixelsOfPillow) {
  EXPECT_EQ(sumOf(pixelsOf(fromHex(Progressive), 12, 21)), 0x9ab00a9fu);
  EXPECT_EQ(sumOf(pixelsOf(fromHex(Sequential), 12, 21)), 0x85e4ae0bu);
}

TEST(Images, JpegWithOtherBytesAroundIsFine) {
  Bytes file = fromHex(Sequential), expected = pixelsOf(file, 12, 21);
  Bytes longer = file;
  longer.insert(longer.end(), 100, 0x55);
  EXPECT_EQ(pixelsOf(longer, 12, 21), expected);
  // Between two segments.
  Bytes loose = file;
  loose.insert(loose.begin() + 2, {0xFF, 0xFF});
  EXPECT_EQ(pixelsOf(loose, 12, 21), expected);
  // Its last pixels are not known to be whole before a marker follows.
  file.resize(file.size() - 1);
  EXPECT_EQ(imageRefusal(file), "the JPEG ends early");
}

TEST(Images, PnmOfBytesAndOfText) {
  EXPECT_EQ(pixelsOf(imageBytes("P6 1 2 255\nabcdef"), 2, 1),
            imageBytes("abcdef"));
  EXPECT_EQ(pixelsOf(imageBytes("P5\n# c 1\n2 #d\n1\n255\nab"), 1, 2),
            imageBytes("aaabbb"));
  EXPECT_EQ(pixelsOf(imageBytes("P3 1 1 255 1\n#x\n2 3"), 1, 1),
            (Bytes{1, 2, 3}));
  EXPECT_EQ(pixelsOf(imageBytes("P2 2 1 9 0 9\n"), 1, 2),
            (Bytes{0, 0, 0, 255, 255, 255}));
  // 1 / 2 is 127.5, which goes to the even 128; 3 is above the largest value.
  EXPECT_EQ(pixelsOf(imageBytes(std::string("P5 3 1 2\n\1\2\3")), 1, 3),
            (Bytes{128, 128, 128, 255, 255, 255, 255, 255, 255}));
}

TEST(Images, RefusalsSayWhatTheFileIs) {
  EXPECT_EQ(imageRefusal({}), "is empty");
  EXPECT_EQ(imageRefusal(imageBytes("<html>")),
            "is no JPEG, PNG, PPM or PGM file (it begins with 3c 68 74 6d 6c "
            "3e)");
  std::pair<Bytes, const char *> known[] = {
      {imageBytes("RIFF....WEBPVP8 "), "WebP"},
      {imageBytes("GIF89a"), "GIF"},
      {imageBytes("BM......"), "BMP"},
      {fromHex("49492a00"), "TIFF"},
      {fromHex("4d4d002a"), "TIFF"},
      {imageBytes("....ftypavif"), "AVIF"},
  };
  for (const auto &[file, name] : known) {
    EXPECT_NE(imageRefusal(file).find(name), std::string::npos)
        << imageRefusal(file);
    EXPECT_NE(imageRefusal(file).find("is not read"), std::string::npos);
  }
  EXPECT_EQ(imageRefusal(imageBytes("P5 1 1 65535\n12")),
            "is a PPM or PGM of 16 bits (its largest value is 65535); 8 bits "
            "are read");
  EXPECT_EQ(imageRefusal(imageBytes("P5 1 x 255\n1")),
            "is a PPM or PGM whose height is no number (at byte 5)");
  EXPECT_EQ(imageRefusal(imageBytes("P5 0 4 255\n1")),
            "is a picture of 0 x 4 pixels");
  EXPECT_EQ(imageRefusal(imageBytes("P2 1 1 7 8 ")),
            "is a PPM or PGM with a value of 8, above its largest of 7");
  EXPECT_EQ(imageRefusal(imageBytes("P5 2 2 255\n123")),
            "the PPM or PGM ends early");
  EXPECT_EQ(imageRefusal(imageBytes("P6 2")),
            "the PPM or PGM ends before its height");
}

TEST(Images, RefusesDamage) {
  Bytes jpeg = fromHex(Sequential);
  jpeg.resize(jpeg.size() - 20);
  EXPECT_EQ(imageRefusal(jpeg), "the JPEG ends early");
  jpeg.resize(100);
  EXPECT_EQ(imageRefusal(jpeg), "the JPEG ends early");
  EXPECT_NE(imageRefusal(fromHex("ffd8ffd8ffd8ffd8")).find("cannot be read"),
            std::string::npos);

  Bytes png = Png{1, 1, 8, Rgb, {0, 1, 2, 3}}.file();
  Bytes cut(png.begin(), png.end() - 20);
  EXPECT_EQ(imageRefusal(cut), "the PNG ends early");
  Bytes noise(png.begin(), png.begin() + 8);
  noise.insert(noise.end(), 50, 0x11);
  EXPECT_NE(imageRefusal(noise).find("cannot be read"), std::string::npos);
  // Only half of its rows are there.
  Bytes half = Png{1, 2, 8, Gray, {0, 1}}.file();
  EXPECT_NE(imageRefusal(half).find("cannot be read"), std::string::npos);
}

TEST(Images, RefusesHugeSizesBeforeAllocating) {
  EXPECT_NE(imageRefusal(Png{70000, 1, 8, Gray, {0}}.file()).find("70000 x 1 "),
            std::string::npos);
  EXPECT_NE(imageRefusal(Png{0x7FFFFFFF, 0x7FFFFFFF, 16, Rgba, {0}}.file())
                .find("are read"),
            std::string::npos);
  EXPECT_NE(imageRefusal(Png{65535, 65535, 8, Gray, {0}}.file()).find("in all"),
            std::string::npos);
  EXPECT_NE(imageRefusal(imageBytes("P5 20000 20000 255\n")).find("in all"),
            std::string::npos);
  EXPECT_EQ(imageRefusal(imageBytes("P5 60000 4000 255\n")),
            "the PPM or PGM ends early");
  EXPECT_NE(imageRefusal(imageBytes("P5 99999999999 1 255\n")), "");
  Bytes jpeg = plainJpeg(1, 1, JCS_GRAYSCALE, {1});
  const uint8_t start[] = {0xFF, 0xC0};
  auto frame = std::search(jpeg.begin(), jpeg.end(), start, start + 2);
  ASSERT_NE(frame, jpeg.end());
  std::fill(frame + 5, frame + 9, 0xF0);
  EXPECT_NE(imageRefusal(jpeg).find("61680 x 61680"), std::string::npos);
}

TEST(Images, EveryPrefixIsAnErrorOrThePicture) {
  for (const Bytes &file : smallFiles()) {
    Image whole, part;
    ASSERT_TRUE(decodeImage(file, whole).ok());
    size_t pictures = 0;
    for (size_t size = 0; size < file.size(); ++size) {
      // Apart, so that a sanitizer sees what reads beyond it.
      Bytes prefix(file.begin(), file.begin() + size);
      if (!decodeImage(prefix, part).ok())
        continue;
      ++pictures;
      // A last number of text may have lost digits.
      if (file[0] != 'P') {
        EXPECT_EQ(part.pixels, whole.pixels);
      }
    }
    EXPECT_LE(pictures, 16u) << "of " << file.size() << " bytes";
  }
}

TEST(Images, NoChangedByteCrashes) {
  size_t errors = 0;
  Image image;
  for (const Bytes &file : smallFiles())
    for (size_t at = 0; at < file.size(); ++at)
      for (int change : {1, 2, 0x10, 0x80, 0xFF}) {
        Bytes changed = file;
        changed[at] ^= change;
        Status status = decodeImage(changed, image);
        errors += !status.ok();
        if (status.ok()) {
          EXPECT_EQ(image.pixels.size(), image.height * image.width * 3);
        }
      }
  EXPECT_GT(errors, 1000u);
}

TEST(Images, AnImageIsUsedAgain) {
  Image image;
  ASSERT_TRUE(decodeImage(imageBytes("P6 1 2 255\nabcdef"), image).ok());
  EXPECT_FALSE(decodeImage(imageBytes("P6 9 9 255\nabcdef"), image).ok());
  ASSERT_TRUE(decodeImage(imageBytes("P5 1 1 255\nz"), image).ok());
  EXPECT_EQ(image.pixels, imageBytes("zzz"));
}

TEST(Images, CropIsBlackOutside) {
  Image image, part;
  image.setSize(2, 2);
  image.pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  crop(image, {0, 1, 2, 1}, part);
  EXPECT_EQ(part.pixels, (Bytes{4, 5, 6, 10, 11, 12}));
  crop(image, {-1, 1, 2, 2}, part);
  EXPECT_EQ(part.height, 2u);
  EXPECT_EQ(part.width, 2u);
  EXPECT_EQ(part.pixels, (Bytes{0, 0, 0, 0, 0, 0, 4, 5, 6, 0, 0, 0}));
  crop(image, {5, -7, 1, 2}, part);
  EXPECT_EQ(part.pixels, Bytes(6, 0));
  crop(image, {0, 0, 0, 2}, part);
  EXPECT_TRUE(part.pixels.empty());
}

// Here and below, what Pillow 9.4 gives for the same picture and box.
TEST(Images, ResizeOfAFewPixels) {
  ResizeSpace space;
  Image out;
  resize(pattern(4, 5), {0, 0, 4, 5}, 2, 3, space, out);
  EXPECT_EQ(out.pixels, (Bytes{87, 94, 57, 91, 114, 119, 111, 151, 115, 103,
                               121, 166, 114, 163, 127, 99, 180, 85}));
  resize(pattern(2, 2), {0, 0, 2, 2}, 5, 3, space, out);
  EXPECT_EQ(out.pixels, (Bytes{0,  2,  6,  6,  11, 18, 12, 20,  30, 4,  7,  12,
                               12, 18, 26, 19, 28, 39, 21, 28,  38, 35, 45, 57,
                               49, 62, 77, 37, 49, 63, 57, 72,  88, 78, 95, 114,
                               41, 54, 69, 63, 79, 96, 85, 103, 123}));
  // By hand: halves of 0, 100 and of 50, 250.
  Image image;
  image.setSize(2, 2);
  image.pixels = {0, 0, 0, 100, 100, 100, 50, 50, 50, 250, 250, 250};
  resize(image, {0, 0, 2, 2}, 2, 1, space, out);
  EXPECT_EQ(out.pixels, (Bytes{50, 50, 50, 150, 150, 150}));
  resize(image, {0, 0, 2, 2}, 1, 1, space, out);
  EXPECT_EQ(out.pixels, Bytes(3, 100));
}

TEST(Images, ResizeHasThePixelsOfPillow) {
  struct Case {
    ImageBox part;
    uint64_t height, width;
    uint32_t sum;
  };
  const Case cases[] = {
      {{0, 0, 61, 97}, 32, 32, 0xc05dfafc},
      {{0, 0, 61, 97}, 61, 40, 0xe0d70ea0},
      {{0, 0, 61, 97}, 30, 97, 0x4d807922},
      {{0, 0, 61, 97}, 61, 97, 0x125eb1dc},
      {{7, 11, 40, 50}, 224, 224, 0xf59b6e11},
      {{7, 11, 1, 1}, 5, 3, 0x658caca3},
      {{60, 0, 1, 97}, 4, 31, 0x66d267cd},
      {{0, 96, 61, 1}, 9, 9, 0x7a5ef3f4},
      {{-10, -20, 90, 130}, 45, 33, 0x7da2ec0e},
      {{50, 90, 30, 30}, 15, 15, 0xd5037309},
      {{200, 300, 10, 10}, 4, 4, 0xf288b395},
      {{3, 5, 2, 60}, 1, 1, 0xf36a13eb},
  };
  ResizeSpace space;
  Image image = pattern(61, 97), out;
  for (const Case &one : cases) {
    resize(image, one.part, one.height, one.width, space, out);
    ASSERT_EQ(out.pixels.size(), one.height * one.width * 3);
    EXPECT_EQ(sumOf(out.pixels), one.sum)
        << one.part.height << " x " << one.part.width << " to " << one.height
        << " x " << one.width;
  }
}

TEST(Images, ResizeKeepsOneColor) {
  ResizeSpace space;
  Image image, out;
  image.setSize(3, 5000);
  std::fill(image.pixels.begin(), image.pixels.end(), 255);
  for (uint64_t width : {1, 2, 7, 4999, 6000}) {
    resize(image, {0, 0, 3, 5000}, 4, width, space, out);
    EXPECT_EQ(out.pixels, Bytes(4 * width * 3, 255)) << width;
  }
  resize(image, {0, 0, 0, 0}, 2, 2, space, out);
  EXPECT_EQ(out.pixels, Bytes(12, 0));
}

TEST(Images, Planes) {
  Image image;
  image.setSize(1, 2);
  image.pixels = {1, 2, 3, 4, 5, 6};
  Bytes planes(6);
  toPlanes(image, planes.data());
  EXPECT_EQ(planes, (Bytes{1, 4, 2, 5, 3, 6}));
}
