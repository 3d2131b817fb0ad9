// JPEG by libjpeg-turbo's interface of libjpeg.
#include "runtime/data/images/Decoders.h"

#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio> // jpeglib.h wants it, and before
#include <jpeglib.h>

#include <jerror.h>

using namespace dlrt;

namespace {

enum class Outcome { Done, Ended, Failed };

struct JpegErrors {
  jpeg_error_mgr manager; ///< first: libjpeg hands out its address
  jmp_buf escape;
  char text[JMSG_LENGTH_MAX];
};

/// libjpeg leaves by longjmp. What it can cross is only the functions of this
/// file that call it, and these hold nothing that has a destructor.
struct JpegReader {
  jpeg_decompress_struct jpeg = {};
  jpeg_source_mgr source = {};
  JpegErrors errors = {};

  JpegReader() = default;
  JpegReader(const JpegReader &) = delete;
  JpegReader &operator=(const JpegReader &) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
};

[[noreturn]] void fail(j_common_ptr jpeg) {
  auto *errors = reinterpret_cast<JpegErrors *>(jpeg->err);
  jpeg->err->format_message(jpeg, errors->text);
  std::longjmp(errors->escape, 1);
}

void ignoreMessage(j_common_ptr, int) {}

void ignoreSource(j_decompress_ptr) {}

/// There is never more than the file. libjpeg then stops where it is, instead
/// of making up what is missing.
boolean noMore(j_decompress_ptr) { return FALSE; }

void skip(j_decompress_ptr jpeg, long count) {
  if (count <= 0)
    return;
  size_t step = std::min<size_t>(count, jpeg->src->bytes_in_buffer);
  jpeg->src->next_input_byte += step;
  jpeg->src->bytes_in_buffer -= step;
}

void prepare(JpegReader &reader, std::span<const uint8_t> file) {
  reader.jpeg.err = jpeg_std_error(&reader.errors.manager);
  reader.errors.manager.error_exit = fail;
  reader.errors.manager.emit_message = ignoreMessage;
  reader.source.next_input_byte = file.data();
  reader.source.bytes_in_buffer = file.size();
  reader.source.init_source = ignoreSource;
  reader.source.fill_input_buffer = noMore;
  reader.source.skip_input_data = skip;
  reader.source.resync_to_restart = jpeg_resync_to_restart;
  reader.source.term_source = ignoreSource;
}

Outcome readHeader(JpegReader &reader) {
  if (setjmp(reader.errors.escape))
    return Outcome::Failed;
  jpeg_create_decompress(&reader.jpeg);
  reader.jpeg.src = &reader.source;
  if (jpeg_read_header(&reader.jpeg, TRUE) != JPEG_HEADER_OK)
    return Outcome::Ended;
  return Outcome::Done;
}

/// a * b / 255, rounded.
uint8_t scaled(unsigned a, unsigned b) {
  unsigned product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

/// Files of four colours hold them inverted, as Adobe began to: what is stored
/// is the light that each ink lets through.
void cmykToRgb(const uint8_t *from, uint64_t width, uint8_t *to) {
  for (uint64_t at = 0; at < width; ++at, from += 4, to += 3)
    for (int color = 0; color < 3; ++color)
      to[color] = from[3] - scaled(255 - from[color], from[3]);
}

/// `inks`: room for a row of four colours, null if the file has others.
Outcome readPixels(JpegReader &reader, uint8_t *pixels, uint8_t *inks) {
  jpeg_decompress_struct &jpeg = reader.jpeg;
  if (setjmp(reader.errors.escape))
    return Outcome::Failed;
  if (!jpeg_start_decompress(&jpeg))
    return Outcome::Ended;
  uint64_t rowBytes = uint64_t(jpeg.output_width) * 3;
  while (jpeg.output_scanline < jpeg.output_height) {
    uint8_t *to = pixels + jpeg.output_scanline * rowBytes;
    JSAMPROW row = inks ? inks : to;
    if (jpeg_read_scanlines(&jpeg, &row, 1) != 1)
      return Outcome::Ended;
    if (inks)
      cmykToRgb(inks, jpeg.output_width, to);
  }
  // All pixels are there: that it may want more of the file does not matter.
  jpeg_finish_decompress(&jpeg);
  return Outcome::Done;
}

Status statusOf(Outcome outcome, const JpegReader &reader) {
  if (outcome == Outcome::Done)
    return Status();
  // Where libjpeg cannot wait for more, it fails with this.
  bool ended = outcome == Outcome::Ended ||
               reader.errors.manager.msg_code == JERR_CANT_SUSPEND;
  if (ended)
    return Status(Code::Training, "the JPEG ends early");
  return Status(Code::Training, fmt::format("is a JPEG that cannot be read: {}",
                                            reader.errors.text));
}

} // namespace

Status dlrt::decodeJpeg(std::span<const uint8_t> file, Image &to) {
  JpegReader reader;
  prepare(reader, file);
  DLRT_TRY(statusOf(readHeader(reader), reader));
  jpeg_decompress_struct &jpeg = reader.jpeg;
  DLRT_TRY(checkImageSize(jpeg.image_height, jpeg.image_width));
  int colors = jpeg.num_components;
  if (colors != 1 && colors != 3 && colors != 4)
    return Status(
        Code::Training,
        fmt::format("is a JPEG of {} colours; 1, 3 and 4 are read", colors));
  std::vector<uint8_t> inks;
  if (colors == 4)
    inks.resize(uint64_t(jpeg.image_width) * 4);
  jpeg.out_color_space = colors == 4 ? JCS_CMYK : JCS_RGB;
  to.setSize(jpeg.image_height, jpeg.image_width);
  Outcome outcome = readPixels(reader, to.pixels.data(),
                               inks.empty() ? nullptr : inks.data());
  return statusOf(outcome, reader);
}
