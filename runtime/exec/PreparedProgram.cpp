#include "runtime/exec/PreparedProgram.h"

#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/JointProgram.h"
#include "runtime/plan/StepPrograms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace dlrt;

/// Each thread takes several portions of a command, so that a slow one does
/// not hold up the others, but not so many that counting them shows.
static constexpr uint32_t portionsPerThread = 8;
/// Waking who looks instead takes as long as some looks.
static constexpr double looksMissed = 4;

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
  uint32_t portions = portionsPerThread; ///< of the tiles, for each thread
};

/// Gives each command of the ranks' joint program its code and its pointers.
class Preparation {
public:
  Preparation(const PreparedFor &with, uint32_t step, fb::ProgramKind kind,
              const PreparedFor::Address &address, uint32_t slots,
              std::vector<PreparedAccess> *accesses)
      : with(with), address(address), slots(slots), accesses(accesses) {
    for (uint32_t rank : with.ranks) {
      const fb::PlanT &plan = with.set.of(rank);
      ranks.push_back({&plan, programOf(*plan.steps[step], kind)});
    }
  }

  Expected<PreparedProgram> build(const std::vector<JointCommand> &joint) {
    for (const JointCommand &command : joint)
      DLRT_TRY(place(command));
    placeConstants();
    connect(joint);
    size_t count = out.commands.size();
    out.alone =
        out.errands.empty() && (with.threads == 1 || (allSerial && !isMany()));
    out.wakes = isMany();
    if (!out.alone) {
      out.progress = std::make_unique<CommandProgress[]>(count);
      out.readyWords = (count + 63) / 64;
      out.ready = std::make_unique<std::atomic<uint64_t>[]>(out.readyWords);
    }
    return std::move(out);
  }

private:
  struct Rank {
    const fb::PlanT *plan;
    const fb::ProgramT *program;
  };

  bool isMany() const { return ranks.size() > 1; }

  const fb::CommandT &commandOf(const JointCommand::Part &part) const {
    return *ranks[part.rank].program->commands[part.number];
  }

  Status place(const JointCommand &command) {
    return command.meeting ? placeMeeting(command)
                           : placeOwn(command.parts.front());
  }

  /// A new command at the end, without bindings.
  Status add(const JointCommand::Part &part, CommandCode code, uint64_t tiles,
             bool serial) {
    if (tiles >= uint64_t(1) << 31)
      return {Code::Unavailable,
              fmt::format("a communication of {} tiles", tiles)};
    PreparedCommand prepared = {};
    prepared.entry = code.entry;
    prepared.description = code.description;
    firstConstants.push_back(out.constants.size());
    out.constants.insert(out.constants.end(), code.constants.begin(),
                         code.constants.end());
    prepared.rank = with.ranks[part.rank];
    prepared.number = part.number;
    prepared.tiles = static_cast<uint32_t>(tiles);
    prepared.serial = serial || with.threads == 1;
    double seconds = commandOf(part).seconds;
    double portions = 1;
    if (!serial) {
      if (with.threads > 1)
        portions = with.threads * code.portions;
      portions = std::max(portions, seconds / with.lookEvery);
    }
    prepared.grain = static_cast<uint32_t>(std::clamp(
        double(tiles) / portions, 1.0, std::max(1.0, double(tiles))));
    prepared.isLong = seconds * prepared.grain / static_cast<double>(tiles) >
                      looksMissed * with.lookEvery;
    allSerial &= prepared.serial;
    out.commands.push_back(prepared);
    return {};
  }

  /// What a command works on, by ranks at hand.
  using Bound = std::vector<std::pair<uint32_t, fb::Range>>;

  /// Of the last command that was added.
  void bind(const Bound &bound) {
    bool readsBatch = std::ranges::any_of(
        bound, [&](const auto &one) { return isInput(one.first, one.second); });
    PreparedCommand &command = out.commands.back();
    command.firstBinding = static_cast<uint32_t>(out.bindings.size());
    command.slotStride = readsBatch ? static_cast<uint32_t>(bound.size()) : 0;
    for (uint32_t slot = 0; slot < (readsBatch ? slots : 1); ++slot)
      for (const auto &[r, range] : bound)
        out.bindings.push_back(address(r, range.buffer(), slot) +
                               range.offset());
  }

  /// What a rank's command touches, which is the last one that was added or a
  /// part of it.
  void note(const JointCommand::Part &part) {
    if (!accesses)
      return;
    const fb::CommandT &command = commandOf(part);
    uint32_t own = static_cast<uint32_t>(out.commands.size()) - 1;
    bool exchanges = command.work.type == fb::Work::Communicate;
    for (const Access &access : accessesOf(*ranks[part.rank].plan, command))
      accesses->push_back({own, part.rank, access.range, access.writes,
                           exchanges && access.writes});
  }

  Status placeOwn(const JointCommand::Part &part) {
    const fb::CommandT &command = commandOf(part);
    const fb::PlanT &plan = *ranks[part.rank].plan;
    CommandCode code = {runCopy, "a copy", {}};
    if (const auto *launch = kernelLaunch(command)) {
      code.entry = with.entries[launch->kernel];
      code.description = with.descriptions[launch->kernel].c_str();
      constantsOf(with.set.mesh, *launch, plan.ranks.front(),
                  with.ranks[part.rank], code.constants);
      if (variantOf(*plan.kernels[launch->kernel]).streams)
        code.portions = 1;
    } else {
      code.constants = {static_cast<int64_t>(command.work.AsCopy()->bytes)};
    }
    DLRT_TRY(add(part, std::move(code), factsOf(plan, command).tiles,
                 command.serial));
    Bound bound;
    for (const Access &access : accessesOf(plan, command))
      bound.push_back({part.rank, access.range});
    bind(bound);
    note(part);
    return {};
  }

  Status placeMeeting(const JointCommand &command) {
    const Meeting &meeting = *command.meeting;
    CommandCode code = {runCopies, "a communication", {}};
    code.constants.push_back(static_cast<int64_t>(meeting.copies.size()));
    uint64_t tiles = 0;
    for (const Meeting::Copy &copy : meeting.copies) {
      code.constants.push_back(static_cast<int64_t>(tiles));
      code.constants.push_back(static_cast<int64_t>(copy.target.bytes()));
      tiles += tilesOf(copy.target.bytes());
    }
    // One that has a tile is finished by whoever runs it.
    DLRT_TRY(add(command.parts.front(), std::move(code),
                 std::max<uint64_t>(tiles, 1), /*serial=*/tiles <= 1));
    Bound bound;
    for (const Meeting::Copy &copy : meeting.copies) {
      bound.push_back({copy.from, copy.source});
      bound.push_back({copy.to, copy.target});
    }
    bind(bound);
    for (const JointCommand::Part &part : command.parts)
      note(part);
    return addErrand(meeting);
  }

  bool isInput(uint32_t r, const fb::Range &range) const {
    return ranks[r].plan->buffers[range.buffer()]->space == fb::Space::Input;
  }

  Status addErrand(const Meeting &meeting) {
    if (!with.errands)
      return {};
    MeetingPlaces places;
    places.address = [address = address](uint32_t rank, const fb::Range &range,
                                         uint32_t slot) {
      return address(rank, range.buffer(), slot) + range.offset();
    };
    for (const auto *messages : {&meeting.sends, &meeting.receives})
      for (const Meeting::Message &message : *messages)
        if (isInput(message.rank, message.range))
          places.slots = slots;
    Expected<std::unique_ptr<Errand>> errand = with.errands(meeting, places);
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

  void connect(const std::vector<JointCommand> &joint) {
    std::vector<std::vector<uint32_t>> waiters(out.commands.size());
    for (uint32_t c = 0; c < out.commands.size(); ++c) {
      out.commands[c].dependencies =
          static_cast<uint32_t>(joint[c].after.size());
      for (uint32_t dep : joint[c].after)
        waiters[dep].push_back(c);
    }
    for (uint32_t c = 0; c < waiters.size(); ++c) {
      if (out.commands[c].dependencies == 0)
        out.roots.push_back(c);
      out.commands[c].firstSuccessor =
          static_cast<uint32_t>(out.successors.size());
      out.commands[c].successorCount = static_cast<uint32_t>(waiters[c].size());
      out.successors.insert(out.successors.end(), waiters[c].begin(),
                            waiters[c].end());
    }
  }

  const PreparedFor &with;
  const PreparedFor::Address &address;
  uint32_t slots;
  std::vector<PreparedAccess> *accesses;
  std::vector<Rank> ranks; ///< at hand
  PreparedProgram out;
  std::vector<size_t> firstConstants;
  bool allSerial = true;
};

/// What an exchange waits for goes before what no other rank waits for, each in
/// the program's order: an update, whose gradients have arrived, does not hold
/// up the backward that makes the next ones.
void putAwaitedFirst(std::vector<JointCommand> &commands) {
  std::vector<bool> awaited(commands.size(), false);
  for (size_t c = commands.size(); c-- > 0;) {
    if (commands[c].meeting)
      awaited[c] = true;
    if (awaited[c])
      for (uint32_t before : commands[c].after)
        awaited[before] = true;
  }
  std::vector<uint32_t> order, place(commands.size());
  for (bool wanted : {true, false})
    for (uint32_t c = 0; c < commands.size(); ++c)
      if (awaited[c] == wanted) {
        place[c] = static_cast<uint32_t>(order.size());
        order.push_back(c);
      }
  std::vector<JointCommand> sorted;
  for (uint32_t c : order) {
    sorted.push_back(std::move(commands[c]));
    for (uint32_t &before : sorted.back().after)
      before = place[before];
    std::sort(sorted.back().after.begin(), sorted.back().after.end());
  }
  commands = std::move(sorted);
}

} // namespace

Expected<PreparedProgram>
dlrt::prepareProgram(const PreparedFor &with, uint32_t step,
                     fb::ProgramKind kind, const PreparedFor::Address &address,
                     uint32_t slots, std::vector<PreparedAccess> *accesses) {
  Expected<std::vector<JointCommand>> joint =
      joinPrograms(with.set, with.ranks, step, kind);
  if (!joint)
    return joint.takeError();
  putAwaitedFirst(*joint);
  return Preparation(with, step, kind, address, slots, accesses).build(*joint);
}
