#include "runtime/plan/RaceVerifier.h"

#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

using namespace dlrt;

namespace {

/// Answers "does a happen before b" for the commands of one program.
///
/// The commands are covered greedily with chains in which each command waits
/// for its predecessor. Of every chain, a command knows the last member that
/// happens before it. A program of k independent lines so needs k words a
/// command, not one bit for each pair.
class HappensBefore {
public:
  static constexpr size_t maxWords = size_t(1) << 26;

  /// False if the program is too wide to be answered for.
  bool build(const fb::ProgramT &program) {
    size_t count = program.commands.size();
    chainOf.resize(count);
    rankOf.resize(count);
    std::vector<uint32_t> tails;
    for (size_t c = 0; c < count; ++c)
      assignChain(program, static_cast<uint32_t>(c), tails);
    chains = tails.size();
    if (chains != 0 && count > maxWords / chains)
      return false;
    known.assign(count * chains, 0);
    for (size_t c = 0; c < count; ++c) {
      uint32_t *row = &known[c * chains];
      for (uint32_t dep : program.commands[c]->deps) {
        const uint32_t *other = &known[dep * chains];
        for (size_t k = 0; k < chains; ++k)
          row[k] = std::max(row[k], other[k]);
      }
      row[chainOf[c]] = rankOf[c];
    }
    return true;
  }

  /// a must come before b in the list.
  bool ordered(uint32_t a, uint32_t b) const {
    return known[b * chains + chainOf[a]] >= rankOf[a];
  }

private:
  void assignChain(const fb::ProgramT &program, uint32_t c,
                   std::vector<uint32_t> &tails) {
    for (uint32_t dep : program.commands[c]->deps) {
      if (tails[chainOf[dep]] != dep)
        continue;
      chainOf[c] = chainOf[dep];
      rankOf[c] = rankOf[dep] + 1;
      tails[chainOf[c]] = c;
      return;
    }
    chainOf[c] = static_cast<uint32_t>(tails.size());
    rankOf[c] = 1;
    tails.push_back(c);
  }

  std::vector<uint32_t> chainOf, rankOf;
  std::vector<uint32_t> known; ///< [command][chain]: rank, 0 = none
  size_t chains = 0;
};

struct Range {
  uint64_t begin, end;
  bool writes;
};

/// What happened to a stretch of bytes so far.
struct History {
  static constexpr uint32_t nobody = ~0u;
  uint32_t writer = nobody;
  std::vector<uint32_t> readers; ///< since that write
};

/// Walks the commands in their order, which the deps respect. If each access
/// is ordered after the last write, and each write also after the reads since
/// then, all conflicting pairs are ordered by transitivity.
class Walk {
public:
  Walk(const fb::PlanT &plan, const fb::ProgramT &program, std::string place)
      : plan(plan), program(program), place(std::move(place)) {}

  Status run() {
    if (!order.build(program))
      return planError(place, fmt::format("{} commands are too independent to "
                                          "be verified",
                                          program.commands.size()));
    for (uint32_t c = 0; c < program.commands.size(); ++c) {
      std::vector<Range> ranges = rangesOf(*program.commands[c]);
      DLRT_TRY(checkInside(c, ranges));
      // Reads first: an in-place operand is read before it is written.
      for (bool writes : {false, true})
        for (const Range &range : ranges)
          if (range.writes == writes)
            DLRT_TRY(access(c, range));
    }
    return {};
  }

private:
  std::vector<Range> rangesOf(const fb::CommandT &command) const {
    const fb::KernelT &kernel = *plan.kernels[command.kernel];
    std::vector<Range> ranges;
    for (size_t b = 0; b < command.bindings.size(); ++b) {
      const fb::BufferT &buffer = *plan.buffers[command.bindings[b]];
      if (buffer.space == fb::Space::Arena && buffer.bytes != 0)
        ranges.push_back(
            {buffer.offset, buffer.offset + buffer.bytes, kernel.writes[b]});
    }
    return ranges;
  }

  Status checkInside(uint32_t c, std::vector<Range> ranges) const {
    std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    // Ends of what begins before the current offset, and what begins at it.
    uint64_t writeEnd = 0, readEnd = 0;
    for (size_t i = 0; i < ranges.size();) {
      uint64_t begin = ranges[i].begin;
      size_t group = i, writers = 0;
      for (; i < ranges.size() && ranges[i].begin == begin; ++i)
        writers += ranges[i].writes;
      if (begin < writeEnd || (writers != 0 && begin < readEnd) || writers > 1)
        return planError(
            fmt::format("{} command {} ({})", place, c, kernelName(c)),
            fmt::format("its bindings overlap at arena offset {}", begin));
      for (; group < i; ++group) {
        uint64_t &end = ranges[group].writes ? writeEnd : readEnd;
        end = std::max(end, ranges[group].end);
      }
    }
    return {};
  }

  const std::string &kernelName(uint32_t command) const {
    return plan.kernels[program.commands[command]->kernel]->name;
  }

  Status check(uint32_t earlier, uint32_t later, uint64_t at,
               const char *what) const {
    if (earlier == later || earlier == History::nobody ||
        order.ordered(earlier, later))
      return {};
    return planError(place,
                     fmt::format("race: command {} ({}) {} bytes at arena "
                                 "offset {} without waiting for command {} "
                                 "({})",
                                 later, kernelName(later), what, at, earlier,
                                 kernelName(earlier)));
  }

  /// Makes `at` a border between two stretches.
  void splitAt(uint64_t at) {
    auto next = stretches.lower_bound(at);
    if (next != stretches.end() && next->first == at)
      return;
    History before;
    if (next != stretches.begin())
      before = std::prev(next)->second;
    stretches.emplace_hint(next, at, std::move(before));
  }

  Status access(uint32_t c, const Range &range) {
    splitAt(range.begin);
    splitAt(range.end);
    auto first = stretches.find(range.begin);
    auto last = stretches.find(range.end);
    for (auto at = first; at != last; ++at) {
      History &h = at->second;
      DLRT_TRY(
          check(h.writer, c, at->first, range.writes ? "writes" : "reads"));
      if (!range.writes) {
        // Who waits for c waits for what c waited for, too.
        std::erase_if(h.readers,
                      [&](uint32_t r) { return order.ordered(r, c); });
        h.readers.push_back(c);
        continue;
      }
      for (uint32_t reader : h.readers)
        DLRT_TRY(check(reader, c, at->first, "writes"));
    }
    if (range.writes) {
      // One writer of all of it: the stretches become one again.
      stretches.erase(std::next(first), last);
      first->second = {c, {}};
    }
    return {};
  }

  const fb::PlanT &plan;
  const fb::ProgramT &program;
  std::string place;
  HappensBefore order;
  std::map<uint64_t, History> stretches; ///< begin -> until the next begin
};

} // namespace

Status dlrt::verifyNoRaces(const fb::PlanT &plan) {
  for (const auto &step : plan.steps) {
    std::string place = fmt::format("step '{}'", step->name);
    for (size_t i = 0; i < step->micro.size(); ++i)
      DLRT_TRY(Walk(plan, *step->micro[i],
                    place + (i == 0 ? " batch" : " short batch"))
                   .run());
    if (step->update)
      DLRT_TRY(Walk(plan, *step->update, place + " update").run());
  }
  return {};
}
