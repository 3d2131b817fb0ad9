// A shuffled order without a list: a permutation of [0, size) that is computed
// item by item from a key.
#ifndef DLRT_DATA_PERMUTATION_H
#define DLRT_DATA_PERMUTATION_H

#include <cstdint>

namespace dlrt {

/// A Feistel network over the smallest number of bits that holds size - 1, with
/// Philox keyed by seed and epoch as its round function, is a permutation of
/// [0, 2^bits). Walking its cycles until the value is below size (two steps at
/// most on average) makes it one of [0, size). Needs no memory, and any
/// position can be asked for: a run that resumes, or one rank of many, starts
/// anywhere.
class Permutation {
public:
  Permutation(uint64_t size, uint64_t seed, uint64_t epoch);

  /// The item at a position below size.
  uint64_t operator()(uint64_t position) const;

private:
  uint64_t encrypt(uint64_t value) const;

  uint64_t size, seed, epoch;
  unsigned leftBits, rightBits;
};

} // namespace dlrt

#endif
