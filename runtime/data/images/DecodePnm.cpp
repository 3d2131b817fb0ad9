// PPM and PGM of netpbm: P2 and P3 are text, P5 and P6 are bytes.
#include "runtime/data/images/Decoders.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>

using namespace dlrt;

namespace {

bool isSpace(uint8_t byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

struct PnmReader {
  std::span<const uint8_t> file;
  size_t at = 2;
  uint64_t maximum = 0;

  /// Skips white space and comments, which go to the end of their line.
  void toNumber() {
    for (bool comment = false; at < file.size(); ++at) {
      uint8_t byte = file[at];
      if (comment)
        comment = byte != '\n' && byte != '\r';
      else if (byte == '#')
        comment = true;
      else if (!isSpace(byte))
        return;
    }
  }

  /// A number and the one byte of white space behind it.
  Status number(const char *what, uint64_t &value) {
    toNumber();
    if (at == file.size())
      return Status(Code::Training,
                    fmt::format("the PPM or PGM ends before its {}", what));
    size_t begin = at;
    for (value = 0; at < file.size() && at - begin < 10; ++at) {
      if (file[at] < '0' || file[at] > '9')
        break;
      value = value * 10 + (file[at] - '0');
    }
    bool separate = at == file.size() || isSpace(file[at]) || file[at] == '#';
    if (at == begin || !separate)
      return Status(
          Code::Training,
          fmt::format("is a PPM or PGM whose {} is no number (at byte {})",
                      what, begin));
    if (at < file.size() && file[at] != '#')
      ++at;
    return Status();
  }
};

/// What each value is of 255. A half goes to the even number, as in Pillow.
std::array<uint8_t, 256> valuesOf(uint64_t maximum) {
  std::array<uint8_t, 256> values;
  for (unsigned value = 0; value < 256; ++value)
    values[value] =
        std::fmin(255, std::nearbyint(double(value) / maximum * 255));
  return values;
}

Status readHeader(PnmReader &reader, uint64_t &height, uint64_t &width) {
  if (reader.file.size() < 3 ||
      !(isSpace(reader.file[2]) || reader.file[2] == '#'))
    return Status(Code::Training,
                  "is no PPM or PGM file, although it begins like one");
  DLRT_TRY(reader.number("width", width));
  DLRT_TRY(reader.number("height", height));
  DLRT_TRY(reader.number("largest value", reader.maximum));
  DLRT_TRY(checkImageSize(height, width));
  if (reader.maximum == 0 || reader.maximum > 65535)
    return Status(Code::Training,
                  fmt::format("is a PPM or PGM with a largest value of {}; it "
                              "is from 1 to 255",
                              reader.maximum));
  if (reader.maximum > 255)
    return Status(Code::Training,
                  fmt::format("is a PPM or PGM of 16 bits (its largest value "
                              "is {}); 8 bits are read",
                              reader.maximum));
  return Status();
}

/// As many values as `count`, from numbers in text.
Status readText(PnmReader &reader, uint64_t count, uint8_t *to) {
  for (uint64_t index = 0; index < count; ++index) {
    uint64_t value;
    DLRT_TRY(reader.number("last pixel", value));
    if (value > reader.maximum)
      return Status(Code::Training,
                    fmt::format("is a PPM or PGM with a value of {}, above its "
                                "largest of {}",
                                value, reader.maximum));
    to[index] = value;
  }
  return Status();
}

} // namespace

Status dlrt::decodePnm(std::span<const uint8_t> file, Image &to) {
  PnmReader reader{file};
  uint64_t height, width;
  DLRT_TRY(readHeader(reader, height, width));
  bool text = file[1] < '4', color = file[1] == '3' || file[1] == '6';
  uint64_t count = height * width * (color ? 3 : 1);
  // A value of text takes a byte at the least, too.
  if (file.size() - reader.at < count)
    return Status(Code::Training, "the PPM or PGM ends early");
  to.setSize(height, width);
  // Gray stands at the end of the buffer, from where it spreads over all of it.
  uint8_t *values = to.pixels.data() + to.pixels.size() - count;
  if (text)
    DLRT_TRY(readText(reader, count, values));
  else
    std::memcpy(values, file.data() + reader.at, count);
  std::array<uint8_t, 256> scaled = valuesOf(reader.maximum);
  uint64_t copies = color ? 1 : 3;
  for (uint64_t index = 0; index < count; ++index)
    std::memset(to.pixels.data() + index * copies, scaled[values[index]],
                copies);
  return Status();
}
