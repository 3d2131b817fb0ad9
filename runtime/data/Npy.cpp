#include "runtime/data/Npy.h"

#include "runtime/base/Numbers.h"
#include "runtime/plan/DTypes.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string_view>

using namespace dlrt;

static Status wrong(std::string what) {
  return {Code::Io, "not a usable .npy file: " + std::move(what)};
}

namespace {

/// The header is a Python dict literal with three known keys.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  bool parse() {
    if (!take('{'))
      return false;
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':') || !value(key))
        return false;
      if (!take(',')) {
        if (!take('}'))
          return false;
        break;
      }
    }
    skipSpace();
    return at == text.size() && !descr.empty() && fortranOrder && hasShape;
  }

  std::string descr;
  std::optional<bool> fortranOrder;
  std::vector<uint64_t> shape;

private:
  bool value(const std::string &key) {
    if (key == "descr")
      return string(descr);
    if (key == "fortran_order")
      return boolean();
    return key == "shape" && tuple();
  }
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n'))
      ++at;
  }
  bool take(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool word(std::string_view expected) {
    skipSpace();
    if (text.substr(at, expected.size()) != expected)
      return false;
    at += expected.size();
    return true;
  }
  bool string(std::string &out) {
    skipSpace();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      return false;
    size_t end = text.find(text[at], at + 1);
    if (end == std::string_view::npos)
      return false;
    out = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }
  bool boolean() {
    fortranOrder = word("True");
    return *fortranOrder || word("False");
  }
  bool tuple() {
    hasShape = true;
    if (!take('('))
      return false;
    while (!take(')')) {
      skipSpace();
      size_t end = text.find_first_not_of("0123456789", at);
      if (end == std::string_view::npos)
        return false;
      auto extent = parseUnsigned(text.substr(at, end - at));
      if (!extent)
        return false;
      shape.push_back(*extent);
      at = end;
      if (!take(',')) // NumPy ends with "5)" or "(5,)"
        return take(')');
    }
    return true;
  }

  std::string_view text;
  size_t at = 0;
  bool hasShape = false;
};

} // namespace

static std::optional<FileElement> elementOf(const std::string &descr) {
  static constexpr std::pair<const char *, FileElement> known[] = {
      {"<f2", FileElement::F16},  {"<f4", FileElement::F32},
      {"<f8", FileElement::F64},  {"<i8", FileElement::I64},
      {"<i4", FileElement::I32},  {"|u1", FileElement::U8},
      {"|b1", FileElement::Bool}, {"|i1", FileElement::I8},
      {"<i2", FileElement::I16},  {"<u2", FileElement::U16},
      {"<u4", FileElement::U32},  {"<u8", FileElement::U64}};
  for (const auto &[name, element] : known)
    if (descr == name)
      return element;
  return std::nullopt;
}

Expected<NpyArray> dlrt::parseNpy(std::span<const uint8_t> bytes) {
  constexpr size_t fixed = 8; // magic and version
  if (bytes.size() < fixed + 4 || std::memcmp(bytes.data(), "\x93NUMPY", 6))
    return wrong("it does not start with NumPy's magic bytes");
  uint8_t version = bytes[6];
  if (version < 1 || version > 3)
    return wrong(fmt::format("format version {}", version));
  size_t lengthBytes = version == 1 ? 2 : 4;
  uint64_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= uint64_t(bytes[fixed + i]) << (8 * i);
  size_t begin = fixed + lengthBytes;
  if (length > bytes.size() - begin)
    return wrong("its header leaves the file");
  HeaderParser header(std::string_view(
      reinterpret_cast<const char *>(bytes.data()) + begin, length));
  if (!header.parse())
    return wrong("its header cannot be read");
  if (*header.fortranOrder)
    return wrong("its data are in Fortran order; save numpy."
                 "ascontiguousarray(x)");
  auto element = elementOf(header.descr);
  if (!element && header.descr.starts_with('>'))
    return wrong(
        fmt::format("its dtype is '{}', of which the first byte counts "
                    "most; save x.astype('<{}')",
                    header.descr, header.descr.substr(1)));
  if (!element)
    return wrong(fmt::format("its dtype is '{}'; '<f2', '<f4', '<f8', integers "
                             "of all widths and '|b1' can be read",
                             header.descr));
  NpyArray array = {*element, header.shape, bytes.subspan(begin + length)};
  uint64_t expected;
  if (!elementCount(array.shape, expected) ||
      __builtin_mul_overflow(expected, sizeOf(*element), &expected))
    return wrong("its shape overflows");
  if (expected != array.data.size())
    return wrong(fmt::format("{} bytes of data, {} {} needs {}",
                             array.data.size(), nameOf(*element),
                             shapeText(array.shape), expected));
  return array;
}
