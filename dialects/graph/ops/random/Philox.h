// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"),
// for the reference evaluation.
#pragma once

#include <array>
#include <cstdint>

namespace dl::graph {

inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t{0xD2511F53} * counter[0];
    uint64_t second = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// A word of the sequence that elements draw from, see graph.philox.
inline uint32_t drawWord(int64_t number, int64_t seed, int64_t step,
                         int64_t micro, int64_t key) {
  auto low = [](int64_t x) { return static_cast<uint32_t>(x); };
  auto high = [](int64_t x) {
    return static_cast<uint32_t>(static_cast<uint64_t>(x) >> 32);
  };
  int64_t counter = number / 4;
  return philox({low(counter), high(counter), low(step), low(micro)},
                {low(seed) ^ low(key), high(seed) ^ high(key)})[number % 4];
}

} // namespace dl::graph
