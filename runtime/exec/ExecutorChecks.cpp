// What the checked workers have to know of memory.
#include "runtime/exec/Executor.h"

#include <algorithm>
#include <map>
#include <optional>

using namespace dlrt;

namespace {

/// Buffers of a plan whose bytes live from program to program: the states, and
/// what programs report, which may still be read.
std::vector<bool> pinnedBuffers(const fb::PlanT &plan) {
  std::vector<bool> isPinned(plan.buffers.size(), false);
  for (const auto &state : plan.states)
    isPinned[state->buffer] = true;
  for (const auto &step : plan.steps)
    for (const auto &program : step->programs) {
      for (const auto &metric : program->metrics)
        isPinned[metric->buffer] = true;
      for (const auto &flag : program->errors)
        isPinned[flag->buffer] = true;
    }
  return isPinned;
}

/// Offsets that are dead as a program begins: all others'.
std::vector<std::pair<uint64_t, uint64_t>>
deadBytes(const fb::PlanT &plan, const std::vector<bool> &isPinned) {
  std::vector<std::pair<uint64_t, uint64_t>> pinned;
  for (size_t b = 0; b < plan.buffers.size(); ++b)
    if (isPinned[b])
      pinned.push_back({plan.buffers[b]->offset,
                        plan.buffers[b]->offset + plan.buffers[b]->bytes});
  std::sort(pinned.begin(), pinned.end());
  pinned.push_back({plan.arena_bytes, plan.arena_bytes});
  std::vector<std::pair<uint64_t, uint64_t>> dead;
  uint64_t end = 0;
  for (auto [first, last] : pinned) {
    if (first > end)
      dead.push_back({end, first});
    end = std::max(end, last);
  }
  return dead;
}

} // namespace

void Executor::prepareChecks() {
  std::vector<std::vector<bool>> isPinned; // by plan
  for (const auto &each : set.plans)
    isPinned.push_back(pinnedBuffers(*each));
  std::vector<MemoryRange> dead;
  for (uint32_t r = 0; r < range.count; ++r) {
    uint32_t p = set.planOfRank[range.first + r];
    for (auto [begin, end] : deadBytes(*set.plans[p], isPinned[p]))
      dead.push_back({memories[r].arena.at(begin), end - begin});
  }
  for (uint32_t s = 0; s < steps.size(); ++s)
    for (size_t p = 0; p < steps[s].programs.size(); ++p) {
      Step &step = steps[s];
      describeForChecks(step.programs[p], step.accesses[p], isPinned, dead);
      if (anomalies)
        describeFloats(s, step.programs[p], step.accesses[p], isPinned);
    }
}

/// The dtype of a buffer's numbers if they are floats.
static std::optional<fb::DType>
floatsIn(const fb::PlanT &plan, const fb::DatasetT &dataset, uint32_t index) {
  const fb::BufferT &buffer = *plan.buffers[index];
  auto ifFloat = [](fb::DType dtype) {
    return dtype == fb::DType::F32 || dtype == fb::DType::F64
               ? std::optional(dtype)
               : std::nullopt;
  };
  if (buffer.space == fb::Space::Input)
    return ifFloat(dataset.components[buffer.offset]->dtype);
  for (const auto &state : plan.states)
    if (state->buffer == index)
      return ifFloat(state->dtype);
  // A value's name ends in what it is: "conv1/conv2d [4,10,24,24] f32".
  if (buffer.space == fb::Space::Arena && buffer.name.ends_with("] f32"))
    return fb::DType::F32;
  if (buffer.space == fb::Space::Arena && buffer.name.ends_with("] f64"))
    return fb::DType::F64;
  if (buffer.space == fb::Space::Arena && buffer.name.ends_with("] bf16"))
    return fb::DType::BF16;
  return std::nullopt;
}

void Executor::describeFloats(uint32_t step, const PreparedProgram &prepared,
                              const std::vector<PreparedAccess> &accesses,
                              const std::vector<std::vector<bool>> &isPinned) {
  std::vector<std::vector<AnomalyFinder::Floats>> all(prepared.commands.size());
  for (const PreparedAccess &access : accesses) {
    uint32_t number = access.range.buffer();
    const fb::PlanT &own = planOf(access.rank);
    const fb::BufferT &buffer = *own.buffers[number];
    auto dtype = floatsIn(own, *own.datasets[own.steps[step]->dataset], number);
    if (!dtype)
      continue;
    bool isInput = buffer.space == fb::Space::Input;
    bool kept = isPinned[set.planOfRank[range.first + access.rank]][number];
    all[access.command].push_back(
        {addressOf(access.rank, step, number, 0) + access.range.offset(),
         access.range.bytes(),
         isInput ? memories[access.rank].inputs[step].slotBytes : 0, *dtype,
         access.writes, access.receives, kept, &buffer.name});
  }
  anomalies->describe(prepared, std::move(all));
}

void Executor::describeForChecks(PreparedProgram &prepared,
                                 const std::vector<PreparedAccess> &accesses,
                                 const std::vector<std::vector<bool>> &isPinned,
                                 const std::vector<MemoryRange> &dead) {
  auto isTemporary = [&](const PreparedAccess &access) {
    return planOf(access.rank).buffers[access.range.buffer()]->space ==
               fb::Space::Arena &&
           !isPinned[set.planOfRank[range.first + access.rank]]
                    [access.range.buffer()];
  };
  // Pieces of buffers that commands use as a whole: each dies on its own.
  using Border = std::tuple<uint32_t, uint32_t, uint64_t>;
  std::map<Border, uint32_t> borders; // to a number
  for (const PreparedAccess &access : accesses)
    if (const fb::Range &bytes = access.range; isTemporary(access)) {
      borders[{access.rank, bytes.buffer(), bytes.offset()}];
      borders[{access.rank, bytes.buffer(), bytes.offset() + bytes.bytes()}];
    }
  uint32_t count = 0;
  for (auto &[border, number] : borders)
    number = count++;
  size_t commands = prepared.commands.size();
  std::vector<std::vector<CheckedWorkers::Temporary>> temporaries(commands);
  std::vector<std::vector<MemoryRange>> received(commands);
  for (const PreparedAccess &access : accesses) {
    const fb::Range &bytes = access.range;
    uint8_t *buffer = arenaAddress(bytes.buffer(), access.rank);
    if (access.receives)
      received[access.command].push_back(
          {buffer + bytes.offset(), bytes.bytes()});
    if (!isTemporary(access))
      continue;
    uint64_t end = bytes.offset() + bytes.bytes();
    auto border = borders.find({access.rank, bytes.buffer(), bytes.offset()});
    for (uint64_t at = bytes.offset(); at < end;) {
      uint32_t number = border->second;
      uint64_t next = std::get<2>((++border)->first);
      temporaries[access.command].push_back({number, {buffer + at, next - at}});
      at = next;
    }
  }
  checked->describe(prepared, dead, temporaries, std::move(received));
}
