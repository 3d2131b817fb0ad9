#include "compiler/pictures/Text.h"
#include <cmath>

namespace dl::pictures {

/// Of DejaVu Sans, in thousandths of the size; Helvetica and Arial are
/// narrower.
static int advance(char c) {
  if (std::string_view(" .,:;'|!il[]()jI/\\").find(c) != std::string_view::npos)
    return 390;
  if (std::string_view("frt-\"").find(c) != std::string_view::npos)
    return 420;
  if (c == 'm' || c == 'W' || c == 'M')
    return 980;
  if (c == 'w' || c == '+' || c == '<' || c == '>' || c == '=')
    return 838;
  if (c >= 'A' && c <= 'Z')
    return 740;
  return 636;
}

double textWidth(std::string_view text, double size, bool bold) {
  int total = 0;
  for (char c : text)
    // Of a character in several bytes the first counts, as a wide one.
    total += (c & 0xC0) == 0x80 ? 0 : (c & 0x80) ? 838 : advance(c);
  return total * size / 1000 * (bold ? 1.1 : 1.0);
}

std::string shortened(const std::string &text, double size, double width) {
  if (textWidth(text, size) <= width)
    return text;
  std::string kept = text;
  while (!kept.empty() && textWidth(kept, size) + size * 0.9 > width) {
    while (kept.size() > 1 && (kept.back() & 0xC0) == 0x80)
      kept.pop_back();
    kept.pop_back();
  }
  return kept + "…";
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\n':
      result += "&#10;";
      break;
    default:
      // XML has no way to write other control characters.
      result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
  return result;
}

std::string number(double value) {
  long long hundredths = std::llround(value * 100);
  std::string sign = hundredths < 0 ? "-" : "";
  hundredths = std::llabs(hundredths);
  std::string result = sign + std::to_string(hundredths / 100);
  if (int rest = static_cast<int>(hundredths % 100)) {
    result += "." + std::to_string(rest / 10);
    if (rest % 10)
      result += std::to_string(rest % 10);
  }
  return result;
}

std::string byteText(int64_t bytes) {
  static constexpr const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  int64_t scale = 1;
  size_t unit = 0;
  for (; bytes / scale >= 1000 && unit + 1 < std::size(units); ++unit)
    scale *= 1000;
  if (unit == 0)
    return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / static_cast<double>(scale);
  // Three digits.
  double step = value >= 100 ? 1 : value >= 10 ? 10 : 100;
  return number(std::round(value * step) / step) + " " + units[unit];
}

std::string countText(int64_t count) {
  std::string digits = std::to_string(count);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

} // namespace dl::pictures
