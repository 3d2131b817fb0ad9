// PNG by libpng, row by row.
#include "runtime/data/images/Decoders.h"

#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <png.h>

using namespace dlrt;

namespace {

/// libpng leaves by longjmp. What it can cross is only the functions of this
/// file that call it, and these hold nothing that has a destructor.
struct PngReader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::span<const uint8_t> rest;
  bool ended = false;
  char text[128] = "no memory";

  explicit PngReader(std::span<const uint8_t> file) : rest(file) {}
  PngReader(const PngReader &) = delete;
  PngReader &operator=(const PngReader &) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void fail(png_structp png, png_const_charp message) {
  auto *reader = static_cast<PngReader *>(png_get_error_ptr(png));
  std::strncpy(reader->text, message, sizeof(reader->text) - 1);
  png_longjmp(png, 1);
}

void ignoreWarning(png_structp, png_const_charp) {}

void readBytes(png_structp png, png_bytep to, size_t count) {
  auto *reader = static_cast<PngReader *>(png_get_io_ptr(png));
  if (reader->rest.size() < count) {
    reader->ended = true;
    png_error(png, "ends early");
  }
  std::memcpy(to, reader->rest.data(), count);
  reader->rest = reader->rest.subspan(count);
}

bool readHeader(PngReader &reader) {
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, fail,
                                      ignoreWarning);
  if (!reader.png)
    return false;
  if (setjmp(png_jmpbuf(reader.png)))
    return false;
  reader.info = png_create_info_struct(reader.png);
  if (!reader.info)
    return false;
  // Sizes are checked by the caller, in its words.
  png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_benign_errors(reader.png, 1);
  png_set_read_fn(reader.png, &reader, readBytes);
  png_read_info(reader.png, reader.info);
  return true;
}

/// An index that the palette does not have is an error of the file, for which
/// Pillow has a gray of that value.
void completePalette(PngReader &reader) {
  png_colorp palette = nullptr;
  int known = 0;
  if (!png_get_PLTE(reader.png, reader.info, &palette, &known))
    return;
  int all = 1 << png_get_bit_depth(reader.png, reader.info);
  png_color complete[PNG_MAX_PALETTE_LENGTH];
  for (int index = 0; index < all; ++index) {
    png_byte gray = index;
    complete[index] =
        index < known ? palette[index] : png_color{gray, gray, gray};
  }
  png_set_PLTE(reader.png, reader.info, complete, all);
}

void askForRgb(PngReader &reader) {
  png_byte kind = png_get_color_type(reader.png, reader.info);
  if (kind == PNG_COLOR_TYPE_PALETTE) {
    completePalette(reader);
    png_set_palette_to_rgb(reader.png);
  } else if (kind == PNG_COLOR_TYPE_GRAY) {
    png_set_expand_gray_1_2_4_to_8(reader.png);
  }
  png_set_strip_16(reader.png);
  png_set_strip_alpha(reader.png);
  png_set_gray_to_rgb(reader.png);
}

bool readPixels(PngReader &reader, uint64_t height, uint64_t width,
                uint8_t *pixels) {
  if (setjmp(png_jmpbuf(reader.png)))
    return false;
  askForRgb(reader);
  // The later passes of an interlaced picture add to the rows of the former.
  int passes = png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  if (png_get_rowbytes(reader.png, reader.info) != width * 3)
    png_error(reader.png, "it does not become RGB");
  for (int pass = 0; pass < passes; ++pass)
    for (uint64_t row = 0; row < height; ++row)
      png_read_row(reader.png, pixels + row * width * 3, nullptr);
  // All pixels are there: what follows them does not matter.
  return true;
}

Status failure(const PngReader &reader) {
  if (reader.ended)
    return Status(Code::Training, "the PNG ends early");
  return Status(Code::Training,
                fmt::format("is a PNG that cannot be read: {}", reader.text));
}

} // namespace

Status dlrt::decodePng(std::span<const uint8_t> file, Image &to) {
  PngReader reader(file);
  if (!readHeader(reader))
    return failure(reader);
  uint64_t height = png_get_image_height(reader.png, reader.info);
  uint64_t width = png_get_image_width(reader.png, reader.info);
  DLRT_TRY(checkImageSize(height, width));
  to.setSize(height, width);
  if (!readPixels(reader, height, width, to.pixels.data()))
    return failure(reader);
  return Status();
}
