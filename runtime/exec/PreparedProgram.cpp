#include "runtime/exec/PreparedProgram.h"

#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/StepPrograms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

using namespace dlrt;

/// Each thread takes several portions of a command, so that a slow one does
/// not hold up the others, but not so many that counting them shows.
static constexpr uint32_t portionsPerThread = 8;

static void copyTile(void *to, const void *from, int64_t tile, int64_t bytes) {
  int64_t size = static_cast<int64_t>(copyTileBytes), begin = tile * size;
  int64_t end = std::min(begin + size, bytes);
  if (begin < end)
    std::memcpy(static_cast<uint8_t *>(to) + begin,
                static_cast<const uint8_t *>(from) + begin,
                static_cast<size_t>(end - begin));
}

/// Kernels of ours. This one's bindings are from and to, the constant is the
/// number of bytes.
static void runCopy(void *const *bindings, const int64_t *constants, void *,
                    int64_t tileBegin, int64_t tileEnd) {
  for (int64_t tile = tileBegin; tile < tileEnd; ++tile)
    copyTile(bindings[1], bindings[0], tile, constants[0]);
}

/// Several copies. Bindings: from and to of each. Constants: how many they are,
/// then of each its first tile and its bytes.
static void runCopies(void *const *bindings, const int64_t *constants, void *,
                      int64_t tileBegin, int64_t tileEnd) {
  int64_t count = constants[0], low = 0, high = count;
  while (high - low > 1) { // the last one that begins at the tile or before
    int64_t middle = low + (high - low) / 2;
    (constants[1 + 2 * middle] <= tileBegin ? low : high) = middle;
  }
  for (int64_t tile = tileBegin; tile < tileEnd && low < count; ++tile) {
    while (low + 1 < count && constants[1 + 2 * (low + 1)] <= tile)
      ++low;
    copyTile(bindings[2 * low + 1], bindings[2 * low],
             tile - constants[1 + 2 * low], constants[2 + 2 * low]);
  }
}

static uint64_t tilesOf(uint64_t bytes) {
  return (bytes + copyTileBytes - 1) / copyTileBytes;
}

namespace {

/// What code runs a command, with which constants.
struct CommandCode {
  KernelEntry entry;
  const char *description;
  std::vector<int64_t> constants;
};

/// Puts the programs of ranks together, in an order that all dependencies
/// respect: each rank's as far as it comes, then the communications that its
/// members have all come to.
class JointProgram {
public:
  JointProgram(const PreparedFor &with, uint32_t step, fb::ProgramKind kind,
               const PreparedFor::Address &address, uint32_t slots,
               std::vector<PreparedAccess> *accesses)
      : with(with), address(address), slots(slots), accesses(accesses) {
    out.tables.resize(slots);
    for (uint32_t r = 0; r < with.ranks.size(); ++r) {
      const fb::PlanT &plan = with.set.of(with.ranks[r]);
      indexOf[with.ranks[r]] = r;
      ranks.push_back({&plan, programOf(*plan.steps[step], kind), 0, {}});
    }
  }

  Expected<PreparedProgram> build() {
    countParticipants();
    DLRT_TRY(placeAll());
    placeConstants();
    connect();
    size_t count = out.commands.size();
    out.alone =
        out.errands.empty() && (with.threads == 1 || (allSerial && !isMany()));
    out.wakes = isMany();
    if (!out.alone) {
      out.progress = std::make_unique<CommandProgress[]>(count);
      out.ready = std::make_unique<std::atomic<uint64_t>[]>(count);
    }
    return std::move(out);
  }

private:
  struct Rank {
    const fb::PlanT *plan;
    const fb::ProgramT *program;
    size_t next;                 ///< command to place
    std::vector<uint32_t> index; ///< of the placed ones
  };
  /// Number of a communication, and the first rank of a group.
  using Key = std::pair<uint64_t, uint32_t>;
  struct Gathering {
    uint32_t expected = 0; ///< ranks at hand
    std::vector<uint32_t> arrived;
  };

  bool isMany() const { return ranks.size() > 1; }

  const fb::CommandT &commandOf(uint32_t r, size_t index) const {
    return *ranks[r].program->commands[index];
  }
  Key keyOf(uint32_t r, const fb::CommunicateT &work) const {
    return {work.order, with.set.mesh.rankOf(0, with.ranks[r], work.axes)};
  }

  void countParticipants() {
    for (uint32_t r = 0; r < ranks.size(); ++r)
      for (const auto &command : ranks[r].program->commands)
        if (const auto *work = command->work.AsCommunicate())
          ++gatherings[keyOf(r, *work)].expected;
  }

  Status placeAll() {
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t r = 0; r < ranks.size(); ++r)
        while (ranks[r].next < ranks[r].program->commands.size()) {
          bool placed = false;
          DLRT_TRY(placeNext(r, placed));
          if (!placed)
            break;
          moved = true;
        }
    }
    for (uint32_t r = 0; r < ranks.size(); ++r)
      if (ranks[r].next != ranks[r].program->commands.size())
        return {Code::Bug, fmt::format("rank {} communicates with nobody at "
                                       "command {}",
                                       with.ranks[r], ranks[r].next)};
    return {};
  }

  /// `placed` stays false where other ranks have to come first.
  Status placeNext(uint32_t r, bool &placed) {
    const fb::CommandT &command = commandOf(r, ranks[r].next);
    const auto *work = command.work.AsCommunicate();
    if (!work) {
      placed = true;
      return placeOwn(r, command);
    }
    Gathering &gathering = gatherings[keyOf(r, *work)];
    std::vector<uint32_t> &arrived = gathering.arrived;
    if (std::find(arrived.begin(), arrived.end(), r) == arrived.end())
      arrived.push_back(r);
    if (arrived.size() != gathering.expected)
      return {};
    placed = true;
    return placeMeeting(std::move(arrived));
  }

  /// A new command at the end. Its bindings follow.
  Status add(uint32_t r, CommandCode code, uint64_t tiles, bool serial) {
    if (tiles >= uint64_t(1) << 31)
      return {Code::Unavailable,
              fmt::format("a communication of {} tiles", tiles)};
    PreparedCommand prepared = {};
    prepared.entry = code.entry;
    prepared.description = code.description;
    firstConstants.push_back(out.constants.size());
    out.constants.insert(out.constants.end(), code.constants.begin(),
                         code.constants.end());
    prepared.firstBinding = static_cast<uint32_t>(out.tables[0].size());
    prepared.rank = with.ranks[r];
    prepared.number = static_cast<uint32_t>(ranks[r].next);
    prepared.tiles = static_cast<uint32_t>(tiles);
    prepared.serial = serial || with.threads == 1;
    prepared.grain =
        prepared.serial
            ? prepared.tiles
            : std::max(1u, prepared.tiles / (with.threads * portionsPerThread));
    allSerial &= prepared.serial;
    out.commands.push_back(prepared);
    dependencies.emplace_back();
    priorities.push_back(0);
    return {};
  }

  void bind(uint32_t r, const fb::Range &range) {
    for (uint32_t slot = 0; slot < slots; ++slot)
      out.tables[slot].push_back(address(r, range.buffer(), slot) +
                                 range.offset());
  }

  /// A rank's command is the last one that was added, or a part of it.
  void join(uint32_t r, const fb::CommandT &command) {
    Rank &rank = ranks[r];
    std::vector<uint32_t> &deps = dependencies.back();
    for (uint32_t dep : command.deps)
      deps.push_back(rank.index[dep]);
    priorities.back() = std::max(priorities.back(), command.priority);
    uint32_t own = static_cast<uint32_t>(out.commands.size()) - 1;
    rank.index.push_back(own);
    ++rank.next;
    bool exchanges = command.work.type == fb::Work::Communicate;
    if (accesses)
      for (const Access &access : accessesOf(*rank.plan, command))
        accesses->push_back(
            {own, r, access.range, access.writes, exchanges && access.writes});
  }

  Status placeOwn(uint32_t r, const fb::CommandT &command) {
    const fb::PlanT &plan = *ranks[r].plan;
    CommandCode code = {runCopy, "a copy", {}};
    if (const auto *launch = kernelLaunch(command)) {
      code.entry = with.entries[launch->kernel];
      code.description = with.descriptions[launch->kernel].c_str();
      constantsOf(with.set.mesh, *launch, plan.ranks.front(), with.ranks[r],
                  code.constants);
    } else {
      code.constants = {static_cast<int64_t>(command.work.AsCopy()->bytes)};
    }
    DLRT_TRY(
        add(r, std::move(code), factsOf(plan, command).tiles, command.serial));
    for (const Access &access : accessesOf(plan, command))
      bind(r, access.range);
    join(r, command);
    return {};
  }

  /// What a rank at hand (its index) sends to each rank of the mesh, in order.
  using Sent = std::map<std::pair<uint32_t, uint32_t>, std::vector<fb::Range>>;

  Sent sentBy(const std::vector<uint32_t> &members) const {
    Sent sent;
    for (uint32_t r : members) {
      const auto &work = *commandOf(r, ranks[r].next).work.AsCommunicate();
      for (const fb::Transfer &send : work.sends)
        sent[{r, with.set.mesh.rankOf(send.member(), with.ranks[r], work.axes)}]
            .push_back(send.range());
    }
    return sent;
  }

  struct LocalCopy {
    uint32_t from, to; ///< indices of the ranks at hand
    fb::Range source, target;
  };

  /// Tells apart what stays at hand and what goes elsewhere.
  void addMember(uint32_t r, const fb::CommunicateT &work, const Sent &sent,
                 Meeting &meeting, std::vector<LocalCopy> &copies) const {
    const Mesh &mesh = with.set.mesh;
    uint32_t rank = with.ranks[r];
    meeting.members.push_back({rank, &work});
    uint64_t in = 0, away = 0;
    for (const fb::Transfer &send : work.sends) {
      uint32_t peer = mesh.rankOf(send.member(), rank, work.axes);
      away += peer == rank ? 0 : send.range().bytes();
      if (!indexOf.contains(peer))
        meeting.sends.push_back({rank, peer, send.range()});
    }
    std::map<uint32_t, size_t> taken; // of what each member sends
    for (const fb::Transfer &receive : work.receives) {
      uint32_t peer = mesh.rankOf(receive.member(), rank, work.axes);
      in += peer == rank ? 0 : receive.range().bytes();
      auto local = indexOf.find(peer);
      if (local == indexOf.end()) {
        meeting.receives.push_back({rank, peer, receive.range()});
        continue;
      }
      copies.push_back({local->second, r,
                        sent.at({local->second, rank})[taken[peer]++],
                        receive.range()});
    }
    meeting.bytes = std::max({meeting.bytes, in, away});
  }

  Status placeMeeting(std::vector<uint32_t> members) {
    std::sort(members.begin(), members.end());
    Meeting meeting;
    std::vector<LocalCopy> copies;
    Sent sent = sentBy(members);
    for (uint32_t r : members) {
      const auto &work = *commandOf(r, ranks[r].next).work.AsCommunicate();
      meeting.order = work.order;
      addMember(r, work, sent, meeting, copies);
    }
    CommandCode code = {runCopies, "a communication", {}};
    code.constants.push_back(static_cast<int64_t>(copies.size()));
    uint64_t tiles = 0;
    for (const LocalCopy &copy : copies) {
      code.constants.push_back(static_cast<int64_t>(tiles));
      code.constants.push_back(static_cast<int64_t>(copy.target.bytes()));
      tiles += tilesOf(copy.target.bytes());
    }
    // One that has a tile is finished by whoever runs it.
    DLRT_TRY(add(members[0], std::move(code), std::max<uint64_t>(tiles, 1),
                 /*serial=*/tiles <= 1));
    for (const LocalCopy &copy : copies) {
      bind(copy.from, copy.source);
      bind(copy.to, copy.target);
    }
    for (uint32_t r : members)
      join(r, commandOf(r, ranks[r].next));
    return addErrand(std::move(meeting));
  }

  bool isInput(const Meeting::Message &message) const {
    const fb::PlanT &plan = with.set.of(message.rank);
    return plan.buffers[message.range.buffer()]->space == fb::Space::Input;
  }

  Status addErrand(Meeting meeting) {
    if (!with.errands)
      return {};
    meeting.address = [indexOf = indexOf,
                       address = address](uint32_t rank, const fb::Range &range,
                                          uint32_t slot) {
      return address(indexOf.at(rank), range.buffer(), slot) + range.offset();
    };
    for (const auto *messages : {&meeting.sends, &meeting.receives})
      for (const Meeting::Message &message : *messages)
        if (isInput(message))
          meeting.slots = slots;
    Expected<std::unique_ptr<Errand>> errand = with.errands(meeting);
    if (!errand)
      return errand.takeError();
    if (!*errand)
      return {};
    out.commands.back().errand = errand->get();
    out.commands.back().serial = false; // its turn comes from elsewhere
    out.errands.push_back(std::move(*errand));
    return {};
  }

  /// Only now they do not move any more.
  void placeConstants() {
    firstConstants.push_back(out.constants.size());
    for (size_t c = 0; c < out.commands.size(); ++c)
      if (firstConstants[c] != firstConstants[c + 1])
        out.commands[c].constants = &out.constants[firstConstants[c]];
  }

  void connect() {
    std::vector<std::vector<uint32_t>> waiters(out.commands.size());
    for (uint32_t c = 0; c < out.commands.size(); ++c) {
      std::vector<uint32_t> &deps = dependencies[c];
      std::sort(deps.begin(), deps.end());
      deps.erase(std::unique(deps.begin(), deps.end()), deps.end());
      out.commands[c].dependencies = static_cast<uint32_t>(deps.size());
      for (uint32_t dep : deps)
        waiters[dep].push_back(c);
    }
    // Of those that become ready at once the one with most behind it is first.
    auto isUrgent = [&](uint32_t a, uint32_t b) {
      return std::pair(priorities[b], a) < std::pair(priorities[a], b);
    };
    for (uint32_t c = 0; c < waiters.size(); ++c) {
      std::sort(waiters[c].begin(), waiters[c].end(), isUrgent);
      if (out.commands[c].dependencies == 0)
        out.roots.push_back(c);
      out.commands[c].firstSuccessor =
          static_cast<uint32_t>(out.successors.size());
      out.commands[c].successorCount = static_cast<uint32_t>(waiters[c].size());
      out.successors.insert(out.successors.end(), waiters[c].begin(),
                            waiters[c].end());
    }
    std::sort(out.roots.begin(), out.roots.end(), isUrgent);
  }

  const PreparedFor &with;
  const PreparedFor::Address &address;
  uint32_t slots;
  std::vector<PreparedAccess> *accesses;
  std::vector<Rank> ranks;
  std::map<uint32_t, uint32_t> indexOf; ///< of a rank of the mesh at hand
  std::map<Key, Gathering> gatherings;
  PreparedProgram out;
  std::vector<size_t> firstConstants;
  std::vector<std::vector<uint32_t>> dependencies;
  std::vector<uint64_t> priorities;
  bool allSerial = true;
};

} // namespace

Expected<PreparedProgram>
dlrt::prepareProgram(const PreparedFor &with, uint32_t step,
                     fb::ProgramKind kind, const PreparedFor::Address &address,
                     uint32_t slots, std::vector<PreparedAccess> *accesses) {
  return JointProgram(with, step, kind, address, slots, accesses).build();
}
