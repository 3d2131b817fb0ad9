#include "runtime/data/Permutation.h"

#include "runtime/state/Philox.h"

#include <bit>

using namespace dlrt;

/// Sets the order apart from other uses of the seed.
static constexpr uint64_t shuffleStream = 0x73687566666c6521;
/// With halves of few bits, four rounds would leave patterns.
static constexpr uint32_t rounds = 6;

Permutation::Permutation(uint64_t size, uint64_t seed, uint64_t epoch)
    : size(size), seed(seed), epoch(epoch) {
  unsigned bits = size <= 2 ? 2 : std::bit_width(size - 1);
  leftBits = bits / 2;
  rightBits = bits - leftBits;
}

uint64_t Permutation::encrypt(uint64_t value) const {
  uint64_t left = value >> rightBits;
  uint64_t right = value & ((uint64_t(1) << rightBits) - 1);
  PhiloxKey key = philoxKey(seed, shuffleStream);
  for (uint32_t round = 0; round < rounds; ++round) {
    // The halves may differ by a bit, so they keep their places and take
    // turns.
    bool changeLeft = round % 2 == 0;
    uint64_t other = changeLeft ? right : left;
    PhiloxCounter words = philox({static_cast<uint32_t>(other), round << 16,
                                  static_cast<uint32_t>(epoch),
                                  static_cast<uint32_t>(epoch >> 32)},
                                 key);
    if (changeLeft)
      left ^= words[0] & ((uint64_t(1) << leftBits) - 1);
    else
      right ^= words[0] & ((uint64_t(1) << rightBits) - 1);
  }
  return left << rightBits | right;
}

uint64_t Permutation::operator()(uint64_t position) const {
  uint64_t value = position;
  do
    value = encrypt(value);
  while (value >= size);
  return value;
}
