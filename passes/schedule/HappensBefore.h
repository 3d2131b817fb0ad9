// Which nodes of a growing graph are ordered before which others.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace dl::schedule {

/// Nodes come in an order in which dependencies point back. They are cut into
/// chains, each totally ordered; for every node a clock tells how much of each
/// chain lies before it. Cost is nodes x chains, and a training step is long
/// and narrow.
class HappensBefore {
public:
  /// Adds the next node. Returns those of `deps` that no other one implies,
  /// ascending.
  llvm::SmallVector<unsigned> add(llvm::ArrayRef<unsigned> deps);
  /// Whether `a` comes before `b` in every execution.
  bool ordered(unsigned a, unsigned b) const;
  unsigned size() const { return places.size(); }

private:
  struct Place {
    unsigned chain, position;
  };
  using Clock = std::vector<unsigned>;

  static bool covers(const Clock &clock, Place place) {
    return place.chain < clock.size() && clock[place.chain] > place.position;
  }
  unsigned pickChain(const Clock &clock);

  std::vector<Place> places;
  /// Of each node: how many nodes of each chain are before it, or it.
  std::vector<Clock> clocks;
  std::vector<unsigned> chainLengths;
};

} // namespace dl::schedule
