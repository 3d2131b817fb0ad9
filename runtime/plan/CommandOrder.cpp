#include "runtime/plan/CommandOrder.h"

#include <algorithm>
#include <array>
#include <numeric>

using namespace dlrt;

namespace {

/// A bit for each of the firsts that are asked for together. One cache line.
struct alignas(64) Bits {
  static constexpr uint32_t count = 512;

  void set(uint32_t bit) { words[bit / 64] |= uint64_t(1) << bit % 64; }
  bool test(uint32_t bit) const { return words[bit / 64] >> bit % 64 & 1; }
  void operator|=(const Bits &other) {
    for (size_t w = 0; w < words.size(); ++w)
      words[w] |= other.words[w];
  }

  std::array<uint64_t, count / 64> words = {};
};

} // namespace

/// Firsts are taken in their order, 512 at a time, and what happens after them
/// is marked from the first of them up to the last second that belongs to one.
/// So n commands of which pairs are near each other take time in n; those that
/// all ask about the beginning of the program n * n / 512 steps of a few
/// nanoseconds.
std::vector<uint8_t>
dlrt::happensBefore(const fb::ProgramT &program,
                    const std::vector<OrderedPair> &pairs) {
  std::vector<size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return pairs[a].before < pairs[b].before;
  });
  std::vector<uint8_t> answers(pairs.size(), 0);
  std::vector<Bits> after;
  for (size_t next = 0; next < order.size();) {
    // The pairs of this round, and the bit of each one's first.
    std::vector<uint32_t> firsts;
    size_t begin = next;
    uint32_t last = 0;
    for (; next < order.size(); ++next) {
      const OrderedPair &pair = pairs[order[next]];
      if (firsts.empty() || firsts.back() != pair.before) {
        if (firsts.size() == Bits::count)
          break;
        firsts.push_back(pair.before);
      }
      last = std::max(last, pair.after);
    }
    uint32_t base = firsts.front();
    after.assign(last - base + 1, Bits());
    uint32_t bit = 0;
    for (uint32_t c = base; c <= last; ++c) {
      Bits &own = after[c - base];
      for (uint32_t dep : program.commands[c]->deps)
        if (dep >= base)
          own |= after[dep - base];
      if (bit < firsts.size() && firsts[bit] == c)
        own.set(bit++);
    }
    bit = 0;
    for (size_t i = begin; i < next; ++i) {
      const OrderedPair &pair = pairs[order[i]];
      while (firsts[bit] != pair.before)
        ++bit;
      answers[order[i]] = after[pair.after - base].test(bit);
    }
  }
  return answers;
}
