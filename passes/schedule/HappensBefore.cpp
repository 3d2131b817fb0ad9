#include "passes/schedule/HappensBefore.h"
#include "llvm/ADT/STLExtras.h"

namespace dl::schedule {

/// A chain whose last node is before the new one, so that it stays ordered.
unsigned HappensBefore::pickChain(const Clock &clock) {
  for (unsigned chain = 0; chain < clock.size(); ++chain)
    if (clock[chain] == chainLengths[chain])
      return chain;
  chainLengths.push_back(0);
  return chainLengths.size() - 1;
}

llvm::SmallVector<unsigned> HappensBefore::add(llvm::ArrayRef<unsigned> deps) {
  llvm::SmallVector<unsigned> sorted(deps), kept;
  llvm::sort(sorted, std::greater<>());
  Clock clock;
  // Later nodes can imply earlier ones, never the other way round.
  for (unsigned dep : sorted) {
    if (covers(clock, places[dep]))
      continue;
    kept.push_back(dep);
    const Clock &other = clocks[dep];
    if (clock.size() < other.size())
      clock.resize(other.size());
    for (unsigned chain = 0; chain < other.size(); ++chain)
      clock[chain] = std::max(clock[chain], other[chain]);
  }
  unsigned chain = pickChain(clock);
  unsigned position = chainLengths[chain]++;
  if (clock.size() <= chain)
    clock.resize(chain + 1);
  clock[chain] = position + 1;
  places.push_back({chain, position});
  clocks.push_back(std::move(clock));
  std::reverse(kept.begin(), kept.end());
  return kept;
}

bool HappensBefore::ordered(unsigned a, unsigned b) const {
  return a != b && covers(clocks[b], places[a]);
}

} // namespace dl::schedule
