// Leaves out dependencies that follow from others.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace dl::schedule {

/// Which nodes of a growing graph are before which others. Nodes come in an
/// order in which dependencies point back. They are cut into chains, each
/// totally ordered; for every node a clock tells how far which chains are
/// before it. A clock keeps the chains that were used last: in a graph that is
/// wider than that, a few edges stay which others imply.
class HappensBefore {
public:
  /// Adds the next node. Returns those of `deps` that no other one implies,
  /// ascending.
  llvm::SmallVector<unsigned> add(llvm::ArrayRef<unsigned> deps);

private:
  static constexpr size_t maxEntries = 128;

  struct Entry {
    unsigned chain;
    unsigned node; // the last one of the chain that is before
  };
  using Clock = std::vector<Entry>; // ascending by chain

  bool covers(const Clock &clock, unsigned node) const;
  static void merge(Clock &clock, llvm::ArrayRef<Entry> other);
  static void forgetOldest(Clock &clock);
  unsigned pickChain(const Clock &clock);

  std::vector<unsigned> chainOf; // of each node
  std::vector<Clock> clocks;     // of each node: before it, and itself
  std::vector<unsigned> tails;   // of each chain: its last node
};

} // namespace dl::schedule
