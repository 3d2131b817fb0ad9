#include "runtime/exec/PreparedProgram.h"

#include <algorithm>

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
  for (uint32_t c = 0; c < waiters.size(); ++c) {
    out.commands[c].firstSuccessor =
        static_cast<uint32_t>(out.successors.size());
    out.commands[c].successorCount = static_cast<uint32_t>(waiters[c].size());
    out.successors.insert(out.successors.end(), waiters[c].begin(),
                          waiters[c].end());
  }
}

PreparedProgram
dlrt::prepareProgram(const fb::PlanT &plan, const fb::ProgramT &program,
                     const std::vector<KernelEntry> &entries,
                     const std::vector<std::string> &descriptions,
                     const BufferAddress &address, uint32_t slots,
                     unsigned threads) {
  PreparedProgram out;
  out.tables.resize(slots);
  size_t constants = 0; // commands point into them: they must not move
  for (const auto &command : program.commands)
    constants += command->constants.size();
  out.constants.reserve(constants);
  uint32_t bindings = 0;
  for (const auto &command : program.commands) {
    const fb::KernelT &kernel = *plan.kernels[command->kernel];
    PreparedCommand prepared = {};
    prepared.entry = entries[command->kernel];
    prepared.description = descriptions[command->kernel].c_str();
    if (!command->constants.empty())
      prepared.constants = out.constants.data() + out.constants.size();
    out.constants.insert(out.constants.end(), command->constants.begin(),
                         command->constants.end());
    prepared.firstBinding = bindings;
    prepared.number = static_cast<uint32_t>(out.commands.size());
    prepared.tiles = static_cast<uint32_t>(kernel.tiles);
    prepared.serial = command->serial || threads == 1;
    prepared.grain =
        prepared.serial
            ? prepared.tiles
            : std::max(1u, prepared.tiles / (threads * portionsPerThread));
    out.alone &= prepared.serial;
    out.commands.push_back(prepared);
    bindings += static_cast<uint32_t>(command->bindings.size());
    for (uint32_t slot = 0; slot < slots; ++slot)
      for (const fb::Range &range : command->bindings)
        out.tables[slot].push_back(address(range.buffer(), slot) +
                                   range.offset());
  }
  countEdges(program, out);
  if (!out.alone) {
    size_t count = out.commands.size();
    out.progress = std::make_unique<CommandProgress[]>(count);
    out.ready = std::make_unique<std::atomic<uint64_t>[]>(count);
  }
  return out;
}
