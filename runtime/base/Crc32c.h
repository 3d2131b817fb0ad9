// CRC-32C (Castagnoli), the checksum of TensorBoard's records.
#ifndef DLRT_BASE_CRC32C_H
#define DLRT_BASE_CRC32C_H

#include <array>
#include <cstdint>
#include <string_view>

namespace dlrt {

constexpr uint32_t crc32c(std::string_view bytes) {
  constexpr auto table = [] {
    std::array<uint32_t, 256> entries = {};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit)
        value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0);
      entries[i] = value;
    }
    return entries;
  }();
  uint32_t crc = ~0u;
  for (char c : bytes)
    crc = table[(crc ^ static_cast<unsigned char>(c)) & 255] ^ crc >> 8;
  return ~crc;
}

} // namespace dlrt

#endif
