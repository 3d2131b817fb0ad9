#include "passes/schedule/HappensBefore.h"
#include "llvm/ADT/STLExtras.h"

namespace dl::schedule {

bool HappensBefore::covers(const Clock &clock, unsigned node) const {
  auto it =
      llvm::lower_bound(clock, chainOf[node], [](Entry entry, unsigned chain) {
        return entry.chain < chain;
      });
  return it != clock.end() && it->chain == chainOf[node] && it->node >= node;
}

void HappensBefore::merge(Clock &clock, llvm::ArrayRef<Entry> other) {
  Clock merged;
  merged.reserve(clock.size() + other.size());
  auto a = clock.begin();
  auto b = other.begin();
  while (a != clock.end() || b != other.end()) {
    if (b == other.end() || (a != clock.end() && a->chain < b->chain))
      merged.push_back(*a++);
    else if (a == clock.end() || b->chain < a->chain)
      merged.push_back(*b++);
    else {
      merged.push_back({a->chain, std::max(a->node, b->node)});
      ++a;
      ++b;
    }
  }
  clock = std::move(merged);
}

/// What was long ago is rarely asked for again.
void HappensBefore::forgetOldest(Clock &clock) {
  if (clock.size() <= maxEntries)
    return;
  std::vector<unsigned> nodes;
  for (Entry entry : clock)
    nodes.push_back(entry.node);
  auto oldestKept = nodes.end() - maxEntries;
  std::nth_element(nodes.begin(), oldestKept, nodes.end());
  llvm::erase_if(clock, [&](Entry entry) { return entry.node < *oldestKept; });
}

/// A chain whose last node is before the new one, so that it stays ordered.
unsigned HappensBefore::pickChain(const Clock &clock) {
  for (Entry entry : clock)
    if (entry.node == tails[entry.chain])
      return entry.chain;
  tails.push_back(0);
  return tails.size() - 1;
}

llvm::SmallVector<unsigned> HappensBefore::add(llvm::ArrayRef<unsigned> deps) {
  llvm::SmallVector<unsigned> sorted(deps), kept;
  llvm::sort(sorted, std::greater<>());
  Clock clock;
  // Later nodes can imply earlier ones, never the other way round.
  for (unsigned dep : sorted) {
    if (covers(clock, dep))
      continue;
    kept.push_back(dep);
    merge(clock, clocks[dep]);
  }
  unsigned node = chainOf.size(), chain = pickChain(clock);
  tails[chain] = node;
  merge(clock, Entry{chain, node});
  forgetOldest(clock);
  clock.shrink_to_fit();
  chainOf.push_back(chain);
  clocks.push_back(std::move(clock));
  std::reverse(kept.begin(), kept.end());
  return kept;
}

} // namespace dl::schedule
