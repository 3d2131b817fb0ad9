// Who touched which bytes last.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <map>
#include <optional>

namespace dl::schedule {

/// The last writer of each byte and the readers since, of commands that come in
/// their order. Bytes with the same users are one stretch.
class LastUsers {
public:
  /// Command `command` reads the bytes from `begin` to `end`: adds to `deps`
  /// whom it has to come after.
  void read(int64_t begin, int64_t end, unsigned command,
            llvm::SmallVectorImpl<unsigned> &deps);
  void write(int64_t begin, int64_t end, unsigned command,
             llvm::SmallVectorImpl<unsigned> &deps);

private:
  struct Stretch {
    int64_t end;
    std::optional<unsigned> writer;
    llvm::SmallVector<unsigned, 2> readers;
  };
  using Stretches = std::map<int64_t, Stretch>; // by first byte

  /// Makes borders at both; returns the first stretch from `begin` on.
  Stretches::iterator cut(int64_t begin, int64_t end);

  Stretches stretches;
};

} // namespace dl::schedule
