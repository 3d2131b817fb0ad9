// Offsets for things that live for a while.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace dl::schedule {

/// Bytes needed from the time `begin` to the time `end`, both included.
struct Lifetime {
  int64_t bytes;
  unsigned begin, end;
};

struct ArenaPacking {
  std::vector<int64_t> offsets; // one for each lifetime, multiples of `align`
  int64_t bytes = 0;            // up to the end of the last one
};

/// Puts lifetimes so that those which overlap in time do not overlap in bytes.
ArenaPacking packArena(llvm::ArrayRef<Lifetime> lifetimes, int64_t align);

/// The most bytes alive at one time: no packing needs less.
int64_t peakBytes(llvm::ArrayRef<Lifetime> lifetimes, int64_t align);

} // namespace dl::schedule
