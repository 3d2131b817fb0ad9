#include "runtime/exec/PreparedProgram.h"

#include "runtime/plan/CommandKinds.h"

#include <algorithm>
#include <cstring>

using namespace dlrt;

/// Each thread takes several portions of a command, so that a slow one does
/// not hold up the others, but not so many that counting them shows.
static constexpr uint32_t portionsPerThread = 8;

static void countEdges(const fb::ProgramT &program, PreparedProgram &out) {
  std::vector<std::vector<uint32_t>> waiters(program.commands.size());
  for (uint32_t c = 0; c < program.commands.size(); ++c) {
    std::vector<uint32_t> deps = program.commands[c]->deps;
    std::sort(deps.begin(), deps.end());
    deps.erase(std::unique(deps.begin(), deps.end()), deps.end());
    out.commands[c].dependencies = static_cast<uint32_t>(deps.size());
    for (uint32_t dep : deps)
      waiters[dep].push_back(c);
  }
  // Of those that become ready at once the one with most behind it is first.
  auto isUrgent = [&](uint32_t a, uint32_t b) {
    uint64_t first = program.commands[a]->priority;
    uint64_t second = program.commands[b]->priority;
    return std::pair(second, a) < std::pair(first, b);
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

/// A kernel of ours: bindings from and to, the constant is the number of bytes.
static void runCopy(void *const *bindings, const int64_t *constants, void *,
                    int64_t tileBegin, int64_t tileEnd) {
  auto tile = static_cast<int64_t>(copyTileBytes);
  int64_t begin = tileBegin * tile;
  int64_t end = std::min(tileEnd * tile, constants[0]);
  if (begin < end)
    std::memcpy(static_cast<uint8_t *>(bindings[1]) + begin,
                static_cast<const uint8_t *>(bindings[0]) + begin,
                static_cast<size_t>(end - begin));
}

namespace {

/// What code runs a command, with which constants.
struct CommandCode {
  KernelEntry entry;
  const char *description;
  std::vector<int64_t> constants;
};

} // namespace

static Expected<CommandCode>
codeOf(const fb::CommandT &command, const std::vector<KernelEntry> &entries,
       const std::vector<std::string> &descriptions) {
  return visitWork(
      command,
      OfKind{[&](const fb::LaunchT &launch) -> Expected<CommandCode> {
               return CommandCode{entries[launch.kernel],
                                  descriptions[launch.kernel].c_str(),
                                  launch.constants};
             },
             [](const fb::CopyT &copy) -> Expected<CommandCode> {
               return CommandCode{
                   runCopy, "a copy", {static_cast<int64_t>(copy.bytes)}};
             },
             [](const fb::CommunicateT &) -> Expected<CommandCode> {
               return Status(Code::Unavailable,
                             "the plan communicates between ranks, which this "
                             "version does not run");
             }});
}

Expected<PreparedProgram>
dlrt::prepareProgram(const fb::PlanT &plan, const fb::ProgramT &program,
                     const std::vector<KernelEntry> &entries,
                     const std::vector<std::string> &descriptions,
                     const BufferAddress &address, uint32_t slots,
                     unsigned threads) {
  PreparedProgram out;
  out.tables.resize(slots);
  std::vector<size_t> firstConstants;
  for (const auto &command : program.commands) {
    Expected<CommandCode> code = codeOf(*command, entries, descriptions);
    if (!code)
      return code.takeError();
    PreparedCommand prepared = {};
    prepared.entry = code->entry;
    prepared.description = code->description;
    firstConstants.push_back(out.constants.size());
    out.constants.insert(out.constants.end(), code->constants.begin(),
                         code->constants.end());
    prepared.firstBinding = static_cast<uint32_t>(out.tables[0].size());
    prepared.number = static_cast<uint32_t>(out.commands.size());
    prepared.tiles = static_cast<uint32_t>(factsOf(plan, *command).tiles);
    prepared.serial = command->serial || threads == 1;
    prepared.grain =
        prepared.serial
            ? prepared.tiles
            : std::max(1u, prepared.tiles / (threads * portionsPerThread));
    out.alone &= prepared.serial;
    out.commands.push_back(prepared);
    for (const Access &access : accessesOf(plan, *command))
      for (uint32_t slot = 0; slot < slots; ++slot)
        out.tables[slot].push_back(address(access.range.buffer(), slot) +
                                   access.range.offset());
  }
  // Only now they do not move any more.
  firstConstants.push_back(out.constants.size());
  for (size_t c = 0; c < out.commands.size(); ++c)
    if (firstConstants[c] != firstConstants[c + 1])
      out.commands[c].constants = &out.constants[firstConstants[c]];
  countEdges(program, out);
  if (!out.alone) {
    size_t count = out.commands.size();
    out.progress = std::make_unique<CommandProgress[]>(count);
    out.ready = std::make_unique<std::atomic<uint64_t>[]>(count);
  }
  return out;
}
