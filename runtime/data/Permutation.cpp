#include "runtime/data/Permutation.h"

#include "runtime/state/Philox.h"

#include <bit>

using namespace dlrt;

/// Sets the order apart from other uses of the seed.
static constexpr uint64_t shuffleStream = 0x73687566666c6521;
/// With halves of few bits, four rounds would leave patterns.
static constexpr uint32_t rounds = 6;
/// Of a half whose rounds have a table.
static constexpr unsigned mostBits = 16;

void Permutation::reset(uint64_t ofSize, uint64_t ofSeed, uint64_t ofEpoch) {
  size = ofSize;
  seed = ofSeed;
  epoch = ofEpoch;
  unsigned bits = size <= 2 ? 2 : std::bit_width(size - 1);
  leftBits = bits / 2;
  rightBits = bits - leftBits;
  table.clear();
  if (rightBits > mostBits)
    return;
  table.reserve(rounds << rightBits);
  for (uint32_t round = 0; round < rounds; ++round)
    for (uint64_t half = 0; half < uint64_t(1) << rightBits; ++half)
      table.push_back(roundOf(round, half));
}

uint32_t Permutation::roundOf(uint32_t round, uint64_t half) const {
  return philox({static_cast<uint32_t>(half), round << 16,
                 static_cast<uint32_t>(epoch),
                 static_cast<uint32_t>(epoch >> 32)},
                philoxKey(seed, shuffleStream))[0];
}

uint64_t Permutation::encrypt(uint64_t value) const {
  uint64_t left = value >> rightBits;
  uint64_t right = value & ((uint64_t(1) << rightBits) - 1);
  for (uint32_t round = 0; round < rounds; ++round) {
    // The halves may differ by a bit, so they keep their places and take
    // turns.
    bool changeLeft = round % 2 == 0;
    uint64_t other = changeLeft ? right : left;
    uint32_t word = table.empty() ? roundOf(round, other)
                                  : table[(round << rightBits) + other];
    if (changeLeft)
      left ^= word & ((uint64_t(1) << leftBits) - 1);
    else
      right ^= word & ((uint64_t(1) << rightBits) - 1);
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
