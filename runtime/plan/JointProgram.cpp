#include "runtime/plan/JointProgram.h"

#include "runtime/plan/StepPrograms.h"
#include "runtime/plan/Transfers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

using namespace dlrt;

namespace {

/// Each rank's commands as far as it comes, then the communications that their
/// members have all come to.
class Joining {
public:
  Joining(const PlanSet &set, std::span<const uint32_t> atHand, uint32_t step,
          fb::ProgramKind kind)
      : set(set), atHand(atHand) {
    for (uint32_t r = 0; r < atHand.size(); ++r) {
      indexOf[atHand[r]] = r;
      ranks.push_back({programOf(*set.of(atHand[r]).steps[step], kind), 0, {}});
    }
  }

  Expected<std::vector<JointCommand>> join() {
    for (uint32_t r = 0; r < ranks.size(); ++r)
      for (const auto &command : ranks[r].program->commands)
        if (const auto *work = command->work.AsCommunicate())
          ++gatherings[keyOf(r, *work)].expected;
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t r = 0; r < ranks.size(); ++r)
        while (ranks[r].next < ranks[r].program->commands.size() &&
               placeNext(r))
          moved = true;
    }
    for (uint32_t r = 0; r < ranks.size(); ++r)
      if (ranks[r].next != ranks[r].program->commands.size())
        return Status(Code::Bug,
                      fmt::format("rank {} communicates with nobody at "
                                  "command {}",
                                  atHand[r], ranks[r].next));
    return std::move(out);
  }

private:
  struct Rank {
    const fb::ProgramT *program;
    uint32_t next;               ///< command to place
    std::vector<uint32_t> index; ///< of the placed ones
  };
  /// Number of a communication, and the first rank of a group.
  using Key = std::pair<uint64_t, uint32_t>;
  struct Gathering {
    uint32_t expected = 0; ///< ranks at hand
    std::vector<uint32_t> arrived;
  };

  const fb::CommandT &nextOf(uint32_t r) const {
    return *ranks[r].program->commands[ranks[r].next];
  }
  const fb::CommunicateT &nextWork(uint32_t r) const {
    return *nextOf(r).work.AsCommunicate();
  }
  Key keyOf(uint32_t r, const fb::CommunicateT &work) const {
    return {work.order, set.mesh.rankOf(0, atHand[r], work.axes)};
  }

  /// False where other ranks have to come first.
  bool placeNext(uint32_t r) {
    const auto *work = nextOf(r).work.AsCommunicate();
    if (!work) {
      place({r}, std::nullopt);
      return true;
    }
    Gathering &gathering = gatherings[keyOf(r, *work)];
    std::vector<uint32_t> &arrived = gathering.arrived;
    if (std::find(arrived.begin(), arrived.end(), r) == arrived.end())
      arrived.push_back(r);
    if (arrived.size() != gathering.expected)
      return false;
    std::vector<uint32_t> members = std::move(arrived);
    std::sort(members.begin(), members.end());
    place(members, meetingOf(members));
    return true;
  }

  void place(const std::vector<uint32_t> &members,
             std::optional<Meeting> meeting) {
    uint32_t own = static_cast<uint32_t>(out.size());
    JointCommand &made = out.emplace_back();
    made.meeting = std::move(meeting);
    for (uint32_t r : members) {
      Rank &rank = ranks[r];
      const fb::CommandT &command = nextOf(r);
      made.parts.push_back({r, rank.next++});
      for (uint32_t dep : command.deps)
        made.after.push_back(rank.index[dep]);
      rank.index.push_back(own);
    }
    std::sort(made.after.begin(), made.after.end());
    made.after.erase(std::unique(made.after.begin(), made.after.end()),
                     made.after.end());
  }

  /// What a rank at hand (its index) sends to each rank of the mesh, in order.
  using Sent = std::map<std::pair<uint32_t, uint32_t>, std::vector<fb::Range>>;

  Sent sentBy(const std::vector<uint32_t> &members) const {
    Sent sent;
    for (uint32_t r : members) {
      const fb::CommunicateT &work = nextWork(r);
      forEachMember(work.sends, [&](uint32_t member, const fb::Range &range) {
        sent[{r, peerOf(set.mesh, work, member, atHand[r])}].push_back(range);
      });
    }
    return sent;
  }

  Meeting meetingOf(const std::vector<uint32_t> &members) const {
    Meeting meeting;
    Sent sent = sentBy(members);
    for (uint32_t r : members) {
      meeting.order = nextWork(r).order;
      addMember(r, nextWork(r), sent, meeting);
    }
    return meeting;
  }

  /// Tells apart what stays at hand and what goes elsewhere.
  void addMember(uint32_t r, const fb::CommunicateT &work, const Sent &sent,
                 Meeting &meeting) const {
    uint32_t rank = atHand[r];
    meeting.members.push_back({r, &work});
    uint64_t in = 0, away = 0;
    forEachMember(work.sends, [&](uint32_t member, const fb::Range &range) {
      uint32_t peer = peerOf(set.mesh, work, member, rank);
      away += peer == rank ? 0 : range.bytes();
      if (!indexOf.contains(peer))
        meeting.sends.push_back({r, peer, range});
    });
    std::map<uint32_t, size_t> taken; // of what each member sends
    forEachMember(work.receives, [&](uint32_t member, const fb::Range &range) {
      uint32_t peer = peerOf(set.mesh, work, member, rank);
      in += peer == rank ? 0 : range.bytes();
      auto local = indexOf.find(peer);
      if (local == indexOf.end())
        meeting.receives.push_back({r, peer, range});
      else
        meeting.copies.push_back({local->second, r,
                                  sent.at({local->second, rank})[taken[peer]++],
                                  range});
    });
    meeting.bytes = std::max({meeting.bytes, in, away});
  }

  const PlanSet &set;
  std::span<const uint32_t> atHand;
  std::map<uint32_t, uint32_t> indexOf; ///< of a rank of the mesh at hand
  std::vector<Rank> ranks;
  std::map<Key, Gathering> gatherings;
  std::vector<JointCommand> out;
};

} // namespace

Expected<std::vector<JointCommand>>
dlrt::joinPrograms(const PlanSet &set, std::span<const uint32_t> ranks,
                   uint32_t step, fb::ProgramKind kind) {
  return Joining(set, ranks, step, kind).join();
}
