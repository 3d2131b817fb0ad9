// Which bytes are text.
#ifndef DLRT_BASE_UTF8_H
#define DLRT_BASE_UTF8_H

#include <cstddef>
#include <string_view>

namespace dlrt {

/// Bytes of the character that `text` begins with; 0 if it begins with none:
/// neither a surrogate nor a longer form than needed is one.
inline size_t utf8Length(std::string_view text) {
  auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  auto follows = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  unsigned first = byte(0), second = byte(1);
  if (text.empty())
    return 0;
  if (first < 0x80)
    return 1;
  if (first < 0xc2 || first > 0xf4 || !follows(1))
    return 0;
  if (first < 0xe0)
    return 2;
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f) ||
      !follows(2))
    return 0;
  if (first < 0xf0)
    return 3;
  return follows(3) ? 4 : 0;
}

inline bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    size_t length = utf8Length(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

} // namespace dlrt

#endif
