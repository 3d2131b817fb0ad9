#include "runtime/data/images/DecodeImage.h"
#include "runtime/data/images/Decoders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

using namespace dlrt;

namespace {

using Decoder = Status (*)(std::span<const uint8_t>, Image &);

/// `bytes` begins a file, from `at` on.
struct Signature {
  std::string_view bytes;
  size_t at;
  const char *name;
  Decoder decoder; ///< null: known, but not read
};

const Signature signatures[] = {
    {"\xFF\xD8\xFF", 0, "JPEG", decodeJpeg},
    {"\x89PNG\r\n\x1A\n", 0, "PNG", decodePng},
    {"P2", 0, "PGM", decodePnm},
    {"P3", 0, "PPM", decodePnm},
    {"P5", 0, "PGM", decodePnm},
    {"P6", 0, "PPM", decodePnm},
    {"WEBP", 8, "WebP", nullptr},
    {"GIF8", 0, "GIF", nullptr},
    {"BM", 0, "BMP", nullptr},
    {std::string_view("II*\0", 4), 0, "TIFF", nullptr},
    {std::string_view("MM\0*", 4), 0, "TIFF", nullptr},
    {"ftyp", 4, "HEIF or AVIF", nullptr},
    {std::string_view("\0\0\0\x0CjP  ", 8), 0, "JPEG 2000", nullptr},
};

std::string beginning(std::span<const uint8_t> file) {
  std::string out;
  for (uint8_t byte : file.first(std::min<size_t>(file.size(), 8)))
    out += fmt::format("{}{:02x}", out.empty() ? "" : " ", byte);
  return out;
}

} // namespace

static bool endsWithOneOf(std::string_view name,
                          std::initializer_list<std::string_view> endings) {
  auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == b;
  };
  for (std::string_view ending : endings)
    if (name.size() >= ending.size() &&
        std::equal(ending.rbegin(), ending.rend(), name.rbegin(),
                   [&](char b, char a) { return same(a, b); }))
      return true;
  return false;
}

bool dlrt::isImageName(std::string_view fileName) {
  return endsWithOneOf(fileName, {".jpg", ".jpeg", ".png", ".ppm", ".pgm"});
}

bool dlrt::isUnreadableImageName(std::string_view fileName) {
  return endsWithOneOf(fileName, {".bmp", ".tif", ".tiff", ".webp"});
}

Status dlrt::checkImageSize(uint64_t height, uint64_t width) {
  constexpr uint64_t mostOfOne = 65535, mostPixels = uint64_t(1) << 28;
  if (height == 0 || width == 0)
    return Status(Code::Training,
                  fmt::format("is a picture of {} x {} pixels", width, height));
  if (height > mostOfOne || width > mostOfOne || height * width > mostPixels)
    return Status(Code::Training,
                  fmt::format("is a picture of {} x {} pixels; at most {} in a "
                              "row or column and {} in all are read",
                              width, height, mostOfOne, mostPixels));
  return Status();
}

Status dlrt::decodeImage(std::span<const uint8_t> file, Image &to) {
  if (file.empty())
    return Status(Code::Training, "is empty");
  std::string_view text(reinterpret_cast<const char *>(file.data()),
                        file.size());
  for (const Signature &signature : signatures) {
    if (text.size() < signature.at ||
        !text.substr(signature.at).starts_with(signature.bytes))
      continue;
    if (signature.decoder)
      return signature.decoder(file, to);
    return Status(Code::Training,
                  fmt::format("is a {} file, which is not read; JPEG, PNG, PPM "
                              "and PGM are",
                              signature.name));
  }
  return Status(Code::Training,
                fmt::format("is no JPEG, PNG, PPM or PGM file (it begins "
                            "with {})",
                            beginning(file)));
}
