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

/// Up to so many the packing is chosen among many; more are packed once, as an
/// allocator would at run time.
inline constexpr size_t fewLifetimes = 8192;

/// Puts lifetimes so that those which overlap in time do not overlap in bytes.
ArenaPacking packArena(llvm::ArrayRef<Lifetime> lifetimes, int64_t align);

/// The most bytes alive at one time: no packing needs less.
int64_t peakBytes(llvm::ArrayRef<Lifetime> lifetimes, int64_t align);

} // namespace dl::schedule
