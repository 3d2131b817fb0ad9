#include "passes/schedule/ArenaPacking.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace dl::schedule {
namespace {

double bytesOf(const Lifetime &life) { return life.bytes; }
double lengthOf(const Lifetime &life) { return life.end - life.begin + 1; }
double areaOf(const Lifetime &life) { return bytesOf(life) * lengthOf(life); }

/// Indices of lifetimes, those of most weight first.
std::vector<unsigned> orderBy(double (*weight)(const Lifetime &),
                              llvm::ArrayRef<Lifetime> lifetimes) {
  std::vector<unsigned> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::tuple(-weight(lifetimes[a]), lifetimes[a].begin, a) <
           std::tuple(-weight(lifetimes[b]), lifetimes[b].begin, b);
  });
  return order;
}

/// One after the other, each into the tightest gap that is free for its whole
/// life. Close to the bound, but quadratic in what lives together.
ArenaPacking packInOrder(llvm::ArrayRef<Lifetime> lifetimes, int64_t align,
                         llvm::ArrayRef<unsigned> order) {
  ArenaPacking result;
  result.offsets.assign(lifetimes.size(), 0);
  std::vector<unsigned> placed; // ascending by offset
  for (unsigned index : order) {
    const Lifetime &life = lifetimes[index];
    int64_t size = llvm::alignTo(life.bytes, align), end = 0;
    int64_t best = -1, bestGap = 0;
    for (unsigned other : placed) {
      const Lifetime &otherLife = lifetimes[other];
      if (otherLife.end < life.begin || life.end < otherLife.begin)
        continue;
      int64_t gap = result.offsets[other] - end;
      if (gap >= size && (best < 0 || gap < bestGap)) {
        best = end;
        bestGap = gap;
      }
      end = std::max<int64_t>(end, result.offsets[other] +
                                       llvm::alignTo(otherLife.bytes, align));
    }
    result.offsets[index] = best < 0 ? end : best;
    result.bytes = std::max(result.bytes, result.offsets[index] + size);
    auto position =
        llvm::upper_bound(placed, index, [&](unsigned a, unsigned b) {
          return result.offsets[a] < result.offsets[b];
        });
    placed.insert(position, index);
  }
  return result;
}

/// Free ranges of an arena that grows at its end.
class FreeList {
public:
  int64_t take(int64_t size) {
    auto fit = bySize.lower_bound({size, 0});
    if (fit == bySize.end()) {
      // A free range at the end grows, instead of a new one behind it.
      int64_t start = end;
      if (!byOffset.empty()) {
        auto [offset, bytes] = *byOffset.rbegin();
        if (offset + bytes == end) {
          erase(offset, bytes);
          start = offset;
        }
      }
      end = start + size;
      return start;
    }
    auto [bytes, offset] = *fit;
    erase(offset, bytes);
    if (bytes > size)
      insert(offset + size, bytes - size);
    return offset;
  }

  void give(int64_t offset, int64_t size) {
    auto next = byOffset.lower_bound(offset);
    if (next != byOffset.begin()) {
      auto [start, bytes] = *std::prev(next);
      if (start + bytes == offset) {
        erase(start, bytes);
        offset = start;
        size += bytes;
      }
    }
    if (next != byOffset.end() && offset + size == next->first) {
      int64_t bytes = next->second;
      erase(next->first, bytes);
      size += bytes;
    }
    insert(offset, size);
  }

  int64_t bytes() const { return end; }

private:
  void insert(int64_t offset, int64_t size) {
    byOffset[offset] = size;
    bySize.insert({size, offset});
  }
  void erase(int64_t offset, int64_t size) {
    byOffset.erase(offset);
    bySize.erase({size, offset});
  }

  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
  int64_t end = 0;
};

/// As an allocator would at run time. Near-linear.
ArenaPacking packByTime(llvm::ArrayRef<Lifetime> lifetimes, int64_t align) {
  ArenaPacking result;
  result.offsets.assign(lifetimes.size(), 0);
  std::vector<unsigned> starts(lifetimes.size());
  std::iota(starts.begin(), starts.end(), 0);
  std::vector<unsigned> ends = starts;
  llvm::sort(starts, [&](unsigned a, unsigned b) {
    return std::pair(lifetimes[a].begin, a) < std::pair(lifetimes[b].begin, b);
  });
  llvm::sort(ends, [&](unsigned a, unsigned b) {
    return std::pair(lifetimes[a].end, a) < std::pair(lifetimes[b].end, b);
  });
  FreeList free;
  size_t dead = 0;
  for (unsigned index : starts) {
    const Lifetime &life = lifetimes[index];
    for (; dead < ends.size() && lifetimes[ends[dead]].end < life.begin; ++dead)
      if (int64_t size = llvm::alignTo(lifetimes[ends[dead]].bytes, align))
        free.give(result.offsets[ends[dead]], size);
    if (int64_t size = llvm::alignTo(life.bytes, align))
      result.offsets[index] = free.take(size);
  }
  result.bytes = free.bytes();
  return result;
}

} // namespace

ArenaPacking packArena(llvm::ArrayRef<Lifetime> lifetimes, int64_t align) {
  constexpr size_t effort = 1 << 20; // rounds x lifetimes squared
  ArenaPacking best = packByTime(lifetimes, align);
  if (lifetimes.size() > fewLifetimes)
    return best;
  int64_t bound = peakBytes(lifetimes, align);
  size_t square = lifetimes.size() * lifetimes.size();
  size_t rounds = 1 + std::min<size_t>(effort / (square + 1), 32);
  for (auto weight : {bytesOf, areaOf, lengthOf}) {
    std::vector<unsigned> order = orderBy(weight, lifetimes);
    for (size_t round = 0; round < rounds && best.bytes > bound; ++round) {
      ArenaPacking packing = packInOrder(lifetimes, align, order);
      // What found no place below the bound goes first in the next round.
      std::vector<unsigned> next;
      for (bool above : {true, false})
        llvm::copy_if(order, std::back_inserter(next), [&](unsigned index) {
          return above ==
                 (packing.offsets[index] + lifetimes[index].bytes > bound);
        });
      order = std::move(next);
      if (packing.bytes < best.bytes)
        best = std::move(packing);
    }
  }
  return best;
}

int64_t peakBytes(llvm::ArrayRef<Lifetime> lifetimes, int64_t align) {
  std::map<unsigned, int64_t> changes;
  for (const Lifetime &life : lifetimes) {
    changes[life.begin] += llvm::alignTo(life.bytes, align);
    changes[life.end + 1] -= llvm::alignTo(life.bytes, align);
  }
  int64_t alive = 0, peak = 0;
  for (auto [time, change] : changes)
    peak = std::max(peak, alive += change);
  return peak;
}

} // namespace dl::schedule
