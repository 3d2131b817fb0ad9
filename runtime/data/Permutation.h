// A shuffled order without a list: a permutation of [0, size) that is computed
// item by item from a key.
#ifndef DLRT_DATA_PERMUTATION_H
#define DLRT_DATA_PERMUTATION_H

#include <cstdint>
#include <vector>

namespace dlrt {

/// A Feistel network over the smallest number of bits that holds size - 1, with
/// Philox keyed by seed and epoch as its round function, is a permutation of
/// [0, 2^bits). Walking its cycles until the value is below size (two steps at
/// most on average) makes it one of [0, size). Any position can be asked for: a
/// run that resumes, or one rank of many, starts anywhere.
///
/// A round sees half of the bits, so what it gives is kept in a table: 6 KB for
/// 60,000 items, less than 2 MB for 2^32; for more items it is computed.
class Permutation {
public:
  Permutation() = default;
  Permutation(uint64_t size, uint64_t seed, uint64_t epoch) {
    reset(size, seed, epoch);
  }

  /// Becomes the one of another epoch, in the memory of the last one.
  void reset(uint64_t size, uint64_t seed, uint64_t epoch);
  bool is(uint64_t ofSize, uint64_t ofSeed, uint64_t ofEpoch) const {
    return size == ofSize && seed == ofSeed && epoch == ofEpoch;
  }

  /// The item at a position below size.
  uint64_t operator()(uint64_t position) const;

private:
  uint32_t roundOf(uint32_t round, uint64_t half) const;
  uint64_t encrypt(uint64_t value) const;

  uint64_t size = 0, seed = 0, epoch = 0;
  unsigned leftBits = 0, rightBits = 0;
  std::vector<uint32_t> table; ///< by round, then half; empty: too large
};

} // namespace dlrt

#endif
