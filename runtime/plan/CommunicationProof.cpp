#include "runtime/plan/CommunicationProof.h"

#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/SourceText.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/plan/Transfers.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

using namespace dlrt;

namespace {

/// An exchange of a program.
struct Exchange {
  const fb::CommunicateT *work;
  uint32_t command;
};

std::vector<Exchange> exchangesOf(const fb::ProgramT &program) {
  std::vector<Exchange> found;
  for (uint32_t c = 0; c < program.commands.size(); ++c)
    if (const auto *work = program.commands[c]->work.AsCommunicate())
      found.push_back({work, c});
  return found;
}

/// Groups along some axes whose members run the same plans.
struct Pattern {
  uint32_t example; ///< a rank of such a group
  /// The members that run each of its plans.
  std::map<uint32_t, std::vector<uint32_t>> members;
};

/// Executes the programs of one kind of one step.
class Execution {
public:
  using Patterns = std::map<std::vector<uint32_t>, std::vector<Pattern>>;

  Execution(const PlanSet &set, Patterns &patterns, std::string place)
      : set(set), patterns(patterns), place(std::move(place)),
        next(set.plans.size(), 0) {}

  void add(const fb::ProgramT &program) {
    programs.push_back(&program);
    sequences.push_back(exchangesOf(program));
    for (const Exchange &exchange : sequences.back())
      ++meetings[exchange.work->order].expected;
  }

  Status run() {
    for (uint32_t p = 0; p < sequences.size(); ++p)
      arrive(p);
    while (!ready.empty()) {
      uint64_t order = *ready.begin();
      ready.erase(ready.begin());
      std::vector<uint32_t> plans = std::move(meetings[order].arrived);
      DLRT_TRY(meet(order, plans));
      for (uint32_t p : plans) {
        ++next[p];
        arrive(p);
      }
    }
    return checkAtEnd();
  }

private:
  /// All exchanges with one number.
  struct Meeting {
    uint32_t expected = 0; ///< plans that have it
    std::vector<uint32_t> arrived;
  };
  /// The lengths of what goes to one member, in order.
  using Lengths = std::vector<uint64_t>;
  /// Of what goes to and comes from each member of a group, which are counted
  /// from the rank itself where the exchange says so.
  struct Row {
    std::vector<Lengths> sends, receives;
    bool relative = false;
  };

  const Exchange &current(uint32_t plan) const {
    return sequences[plan][next[plan]];
  }

  /// A plan's ranks come to their next exchange.
  void arrive(uint32_t plan) {
    if (next[plan] == sequences[plan].size())
      return;
    uint64_t order = current(plan).work->order;
    Meeting &meeting = meetings[order];
    meeting.arrived.push_back(plan);
    if (meeting.arrived.size() == meeting.expected)
      ready.insert(order);
  }

  std::string describe(uint32_t plan) const {
    const Exchange &exchange = current(plan);
    const auto &ops = programs[plan]->commands[exchange.command]->ops;
    std::string text = fmt::format("exchange {}", exchange.work->order);
    if (!ops.empty())
      text += fmt::format(" ({})",
                          sourceText(*set.plans[plan]->sources[ops.front()]));
    return text;
  }

  /// Ranks whose exchange needs others that never come to it.
  Status checkAtEnd() const {
    std::string waiting;
    for (uint32_t p = 0; p < sequences.size(); ++p)
      if (next[p] != sequences[p].size())
        waiting += fmt::format("{}rank {} in {}", waiting.empty() ? "" : ", ",
                               set.plans[p]->ranks.front(), describe(p));
    if (waiting.empty())
      return {};
    return planError(place, "ranks wait for one another for ever: " + waiting);
  }

  Status meet(uint64_t order, const std::vector<uint32_t> &plans) {
    const std::vector<uint32_t> &axes = current(plans[0]).work->axes;
    for (uint32_t p : plans)
      if (current(p).work->axes != axes)
        return planError(
            place, fmt::format("ranks {} and {} go along different axes in {}",
                               set.plans[plans[0]]->ranks.front(),
                               set.plans[p]->ranks.front(), describe(p)));
    uint32_t size = set.mesh.groupSize(axes);
    std::map<uint32_t, Row> rows;
    for (uint32_t p : plans) {
      Row &row = rows[p];
      row.relative = current(p).work->relative;
      row.sends.resize(size);
      row.receives.resize(size);
      forEachMember(current(p).work->sends,
                    [&](uint32_t member, const fb::Range &range) {
                      row.sends[member].push_back(range.bytes());
                    });
      forEachMember(current(p).work->receives,
                    [&](uint32_t member, const fb::Range &range) {
                      row.receives[member].push_back(range.bytes());
                    });
    }
    Row silent = {std::vector<Lengths>(size), std::vector<Lengths>(size)};
    auto rowOf = [&](uint32_t plan) -> const Row & {
      auto found = rows.find(plan);
      return found == rows.end() ? silent : found->second;
    };
    for (const Pattern &pattern : patternsAlong(axes))
      for (const auto &[from, senders] : pattern.members)
        for (const auto &[to, receivers] : pattern.members)
          DLRT_TRY(match(order, axes, pattern, rowOf(from), senders, rowOf(to),
                         receivers));
    return {};
  }

  /// What each of some members sends to each of others must be what these
  /// receive. All senders say the same, and all receivers do.
  Status match(uint64_t order, const std::vector<uint32_t> &axes,
               const Pattern &pattern, const Row &sender,
               const std::vector<uint32_t> &senders, const Row &receiver,
               const std::vector<uint32_t> &receivers) const {
    if (sender.relative || receiver.relative)
      return matchPairs(order, axes, pattern, sender, senders, receiver,
                        receivers);
    return matchMembers(order, axes, pattern, sender.sends, senders,
                        receiver.receives, receivers);
  }

  /// Two relative sides agree by the distance of their members alone: of pairs
  /// of one distance the first is looked at.
  Status matchPairs(uint64_t order, const std::vector<uint32_t> &axes,
                    const Pattern &pattern, const Row &sender,
                    const std::vector<uint32_t> &senders, const Row &receiver,
                    const std::vector<uint32_t> &receivers) const {
    uint32_t size = static_cast<uint32_t>(sender.sends.size()), distances = 0;
    bool both = sender.relative && receiver.relative;
    std::vector<bool> seen(size);
    for (uint32_t i : senders)
      for (uint32_t j : receivers) {
        uint32_t there = (j + size - i) % size, back = (i + size - j) % size;
        if (both && seen[there])
          continue;
        seen[there] = true;
        const Lengths &sent = sender.sends[sender.relative ? there : j];
        const Lengths &received =
            receiver.receives[receiver.relative ? back : i];
        if (sent != received)
          return mismatch(order, axes, pattern, i, j, sent, received);
        if (both && ++distances == size)
          return {};
      }
    return {};
  }

  Status matchMembers(uint64_t order, const std::vector<uint32_t> &axes,
                      const Pattern &pattern, const std::vector<Lengths> &sends,
                      const std::vector<uint32_t> &senders,
                      const std::vector<Lengths> &receives,
                      const std::vector<uint32_t> &receivers) const {
    uint32_t i = senders.front(), j = receivers.front();
    for (uint32_t receiver : receivers)
      if (sends[receiver] != receives[i])
        return mismatch(order, axes, pattern, i, receiver, sends[receiver],
                        receives[i]);
    for (uint32_t sender : senders)
      if (receives[sender] != sends[j])
        return mismatch(order, axes, pattern, sender, j, sends[j],
                        receives[sender]);
    return {};
  }

  Status mismatch(uint64_t order, const std::vector<uint32_t> &axes,
                  const Pattern &pattern, uint32_t from, uint32_t to,
                  const Lengths &sent, const Lengths &received) const {
    auto text = [](const Lengths &lengths) {
      std::string all;
      for (uint64_t bytes : lengths)
        all += fmt::format("{}{}", all.empty() ? "" : " + ", bytes);
      return all.empty() ? "nothing" : all + " bytes";
    };
    return planError(
        place,
        fmt::format("exchange {}: rank {} sends {} to rank {}, which "
                    "waits for {} from it",
                    order, set.mesh.rankOf(from, pattern.example, axes),
                    text(sent), set.mesh.rankOf(to, pattern.example, axes),
                    text(received)));
  }

  const std::vector<Pattern> &patternsAlong(const std::vector<uint32_t> &axes) {
    auto [known, isNew] = patterns.try_emplace(axes);
    if (!isNew)
      return known->second;
    uint32_t size = set.mesh.groupSize(axes);
    std::set<std::vector<uint32_t>> seen;
    for (uint32_t rank = 0; rank < set.mesh.ranks(); ++rank) {
      if (set.mesh.memberOf(rank, axes) != 0)
        continue;
      std::vector<uint32_t> plans(size);
      for (uint32_t m = 0; m < size; ++m)
        plans[m] = set.planOfRank[set.mesh.rankOf(m, rank, axes)];
      if (!seen.insert(plans).second)
        continue;
      Pattern &pattern = known->second.emplace_back(Pattern{rank, {}});
      for (uint32_t m = 0; m < size; ++m)
        pattern.members[plans[m]].push_back(m);
    }
    return known->second;
  }

  const PlanSet &set;
  Patterns &patterns;
  std::string place;
  std::vector<const fb::ProgramT *> programs;   ///< by plan
  std::vector<std::vector<Exchange>> sequences; ///< by plan
  std::vector<size_t> next;                     ///< in a plan's sequence
  std::map<uint64_t, Meeting> meetings;         ///< by order
  std::set<uint64_t> ready;
};

} // namespace

static std::string placeOf(const fb::StepT &step, const fb::ProgramT &program) {
  return fmt::format("step '{}' {}", step.name, nameOf(program.kind));
}

Status dlrt::executeCommunication(const PlanSet &set) {
  Execution::Patterns patterns;
  const fb::PlanT &first = set.first();
  for (size_t s = 0; s < first.steps.size(); ++s)
    for (size_t p = 0; p < first.steps[s]->programs.size(); ++p) {
      Execution execution(
          set, patterns,
          placeOf(*first.steps[s], *first.steps[s]->programs[p]));
      for (const auto &plan : set.plans)
        execution.add(*plan->steps[s]->programs[p]);
      DLRT_TRY(execution.run());
    }
  return {};
}

static Status checkOrder(const fb::StepT &step, const fb::ProgramT &program) {
  std::vector<Exchange> exchanges = exchangesOf(program);
  for (size_t e = 1; e < exchanges.size(); ++e)
    if (exchanges[e].work->order <= exchanges[e - 1].work->order)
      return planError(placeOf(step, program),
                       fmt::format("exchange {} comes after exchange {}",
                                   exchanges[e].work->order,
                                   exchanges[e - 1].work->order));
  return {};
}

Status dlrt::checkCommunicationOrder(const fb::PlanT &plan) {
  for (const auto &step : plan.steps)
    for (const auto &program : step->programs)
      DLRT_TRY(checkOrder(*step, *program));
  return {};
}

/// Exchanges write what other commands read: without one of them they would
/// read what somebody has left there.
static Status checkReads(const fb::PlanT &plan, const fb::StepT &step,
                         const fb::ProgramT &program) {
  std::vector<bool> filled(plan.buffers.size());
  for (size_t b = 0; b < filled.size(); ++b)
    filled[b] = plan.buffers[b]->space != fb::Space::Arena;
  for (const auto &state : plan.states)
    filled[state->buffer] = true;
  for (uint32_t c = 0; c < program.commands.size(); ++c) {
    const fb::CommandT &command = *program.commands[c];
    std::vector<Access> accesses = accessesOf(plan, command);
    auto missing = std::find_if(
        accesses.begin(), accesses.end(), [&](const Access &access) {
          return !access.writes && access.range.bytes() != 0 &&
                 !filled[access.range.buffer()];
        });
    bool reads = missing != accesses.end();
    if (reads && kernelLaunch(command))
      return planError(
          fmt::format("{} command {} ({})", placeOf(step, program), c,
                      factsOf(plan, command).title),
          fmt::format("it reads buffer {}, which nothing before it writes",
                      missing->range.buffer()));
    // A copy of nothing is nothing.
    for (const Access &access : accesses)
      if (access.writes && !(reads && command.work.AsCopy()))
        filled[access.range.buffer()] = true;
  }
  return {};
}

Status dlrt::checkWhatIsRead(const fb::PlanT &plan) {
  for (const auto &step : plan.steps)
    for (const auto &program : step->programs)
      DLRT_TRY(checkReads(plan, *step, *program));
  return {};
}

Status dlrt::verifyCommunication(const PlanSet &set) {
  DLRT_TRY(executeCommunication(set));
  for (const auto &plan : set.plans)
    DLRT_TRY(checkCommunicationOrder(*plan));
  for (const auto &plan : set.plans)
    if (set.mesh.ranks() > 1)
      DLRT_TRY(checkWhatIsRead(*plan));
  return {};
}
