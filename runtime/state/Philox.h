// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy
// as 1, 2, 3"): random words as a function of a counter and a key.
#ifndef DLRT_STATE_PHILOX_H
#define DLRT_STATE_PHILOX_H

#include <array>
#include <cstdint>

namespace dlrt {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

constexpr PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xd2511f53u) * counter[0];
    uint64_t b = uint64_t(0xcd9e8d57u) * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(a)};
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
  return counter;
}

/// The key of a stream: the run's seed and what tells the streams apart.
constexpr PhiloxKey philoxKey(uint64_t seed, uint64_t stream) {
  uint64_t mixed = seed ^ stream;
  return {static_cast<uint32_t>(mixed), static_cast<uint32_t>(mixed >> 32)};
}

/// A word as a number in [0, 1) with 24 bits, exact in f32 and f64.
constexpr double unitInterval(uint32_t word) {
  return static_cast<double>(word >> 8) * 0x1p-24;
}

} // namespace dlrt

#endif
