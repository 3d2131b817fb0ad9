#include "runtime/plan/RaceVerifier.h"

#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/CommandOrder.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

using namespace dlrt;

namespace {

/// Bytes of the arena.
struct Stretch {
  uint64_t begin, end;
  bool writes;
};

/// What happened to a stretch of bytes so far.
struct History {
  static constexpr uint32_t nobody = ~0u;
  uint32_t writer = nobody;
  std::vector<uint32_t> readers; ///< since that write
};

/// Walks the commands in their order, which the deps respect, and collects what
/// must be ordered. If each access comes after the last write, and each write
/// also after the reads since then, all conflicting pairs are ordered by
/// transitivity.
class Walk {
public:
  Walk(const fb::PlanT &plan, const fb::ProgramT &program, std::string place)
      : plan(plan), program(program), place(std::move(place)),
        waits(program.commands.size(), History::nobody) {}

  Status run() {
    for (uint32_t c = 0; c < program.commands.size(); ++c) {
      std::vector<Stretch> touched = arenaStretches(*program.commands[c]);
      DLRT_TRY(checkInside(c, touched));
      for (uint32_t dep : program.commands[c]->deps)
        waits[dep] = c;
      // Reads first: an in-place operand is read before it is written.
      for (bool writes : {false, true})
        for (const Stretch &stretch : touched)
          if (stretch.writes == writes && !access(c, stretch))
            return planError(place, "its commands touch too many pieces of "
                                    "memory to be verified");
    }
    return checkOrder();
  }

private:
  /// What is looked at takes memory; a small file could ask for terabytes.
  static constexpr size_t mostVisits = size_t(1) << 26;

  struct Conflict {
    OrderedPair pair;
    bool writes; ///< the later one
    uint64_t at;
  };

  std::vector<Stretch> arenaStretches(const fb::CommandT &command) const {
    std::vector<Stretch> stretches;
    for (const Access &access : accessesOf(plan, command)) {
      const fb::BufferT &buffer = *plan.buffers[access.range.buffer()];
      uint64_t begin = buffer.offset + access.range.offset();
      if (buffer.space == fb::Space::Arena && access.range.bytes() != 0)
        stretches.push_back(
            {begin, begin + access.range.bytes(), access.writes});
    }
    return stretches;
  }

  Status checkInside(uint32_t c, std::vector<Stretch> touched) const {
    std::sort(touched.begin(), touched.end(),
              [](const Stretch &a, const Stretch &b) {
                return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
              });
    // Ends of what begins before the current offset, and what begins at it.
    uint64_t writeEnd = 0, readEnd = 0;
    for (size_t i = 0; i < touched.size();) {
      uint64_t begin = touched[i].begin;
      size_t group = i, writers = 0;
      for (; i < touched.size() && touched[i].begin == begin; ++i)
        writers += touched[i].writes;
      if (begin < writeEnd || (writers != 0 && begin < readEnd) || writers > 1)
        return planError(
            fmt::format("{} command {} ({})", place, c, title(c)),
            fmt::format("its bindings overlap at arena offset {}", begin));
      for (; group < i; ++group) {
        uint64_t &end = touched[group].writes ? writeEnd : readEnd;
        end = std::max(end, touched[group].end);
      }
    }
    return {};
  }

  std::string title(uint32_t command) const {
    return factsOf(plan, *program.commands[command]).title;
  }

  /// Notes that `later` has to come after `earlier`, unless it waits for it.
  void require(uint32_t earlier, uint32_t later, const Stretch &stretch,
               uint64_t at) {
    if (earlier == later || earlier == History::nobody ||
        waits[earlier] == later)
      return;
    if (!conflicts.empty() && conflicts.back().pair.before == earlier &&
        conflicts.back().pair.after == later)
      return;
    conflicts.push_back({{earlier, later}, stretch.writes, at});
    ++visits;
  }

  /// Makes `at` a border between two pieces.
  void splitAt(uint64_t at) {
    auto next = pieces.lower_bound(at);
    if (next != pieces.end() && next->first == at)
      return;
    History before;
    if (next != pieces.begin())
      before = std::prev(next)->second;
    visits += before.readers.size();
    pieces.emplace_hint(next, at, std::move(before));
  }

  /// False if there is too much to look at.
  bool access(uint32_t c, const Stretch &stretch) {
    splitAt(stretch.begin);
    splitAt(stretch.end);
    auto first = pieces.find(stretch.begin), last = pieces.find(stretch.end);
    for (auto at = first; at != last; ++at, ++visits) {
      History &h = at->second;
      require(h.writer, c, stretch, at->first);
      if (!stretch.writes)
        h.readers.push_back(c);
      else
        for (uint32_t reader : h.readers)
          require(reader, c, stretch, at->first);
      if (visits > mostVisits)
        return false;
    }
    if (stretch.writes) {
      // One writer of all of it: the pieces become one again.
      pieces.erase(std::next(first), last);
      first->second = {c, {}};
    }
    return true;
  }

  Status checkOrder() const {
    std::vector<OrderedPair> pairs;
    for (const Conflict &conflict : conflicts)
      pairs.push_back(conflict.pair);
    std::vector<uint8_t> ordered = happensBefore(program, pairs);
    auto racing = std::find(ordered.begin(), ordered.end(), 0);
    if (racing == ordered.end())
      return {};
    const auto &[pair, writes, at] =
        conflicts[static_cast<size_t>(racing - ordered.begin())];
    return planError(
        place,
        fmt::format("race: command {} ({}) {} bytes at arena offset {} "
                    "without waiting for command {} ({})",
                    pair.after, title(pair.after), writes ? "writes" : "reads",
                    at, pair.before, title(pair.before)));
  }

  const fb::PlanT &plan;
  const fb::ProgramT &program;
  std::string place;
  std::vector<uint32_t> waits; ///< of each command: who last waits for it
  std::map<uint64_t, History> pieces; ///< begin -> until the next begin
  std::vector<Conflict> conflicts;
  size_t visits = 0;
};

} // namespace

Status dlrt::verifyNoRaces(const fb::PlanT &plan) {
  for (const auto &step : plan.steps) {
    for (const auto &part : step->programs)
      DLRT_TRY(Walk(plan, *part,
                    fmt::format("step '{}' {}", step->name, nameOf(part->kind)))
                   .run());
  }
  return {};
}
