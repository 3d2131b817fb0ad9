#include "runtime/device/cuda/Places.h"

#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/InputRing.h"
#include "runtime/plan/Validator.h"

#include <algorithm>

using namespace dlrt;
using namespace dlrt::cuda;

uint64_t Parts::add(uint64_t bytes) {
  constexpr uint64_t alignment = 256, slack = bufferAlignment;
  uint64_t at = end, size;
  overflow |= __builtin_add_overflow(bytes, slack + alignment - 1, &size);
  overflow |= __builtin_add_overflow(end, size / alignment * alignment, &end);
  return at;
}

uint64_t ProgramPlaces::positionOf(uint32_t rank, uint32_t buffer) const {
  for (const Reported &known : buffers)
    if (known.rank == rank && known.buffer == buffer)
      return known.at;
  return 0;
}

/// A copy takes as long as some thousands of bytes more.
static constexpr uint64_t nearBytes = 4096;

void Places::layOutReport(const PlanSet &set, const Ranks &ranks,
                          const std::vector<ReportedValue> &values,
                          ProgramPlaces &out) const {
  struct Piece {
    uint64_t offset;
    const ReportedValue *value;
  };
  std::vector<Piece> pieces;
  for (const ReportedValue &value : values) {
    const fb::PlanT &plan = set.of(ranks.first + value.rank);
    pieces.push_back(
        {arenas[value.rank] + plan.buffers[value.buffer]->offset, &value});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](auto &a, auto &b) { return a.offset < b.offset; });
  for (const Piece &piece : pieces) {
    uint64_t end = piece.offset + piece.value->bytes;
    if (out.reported.empty() ||
        piece.offset > out.reported.back().deviceOffset +
                           out.reported.back().bytes + nearBytes)
      out.reported.push_back({piece.offset, 0, out.reportBytes});
    ReportRange &range = out.reported.back();
    range.bytes = std::max(range.bytes, end - range.deviceOffset);
    out.buffers.push_back({piece.value->rank, piece.value->buffer,
                           range.at + piece.offset - range.deviceOffset});
    out.reportBytes = (range.at + range.bytes + 7) / 8 * 8;
  }
}

static Row addRow(Parts &parts, uint64_t count, uint64_t bytes) {
  Row row;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t at = parts.add(bytes);
    if (i == 0)
      row.first = at;
    else if (i == 1)
      row.stride = at - row.first;
  }
  return row;
}

/// Each slot has a graph of each program, which takes time to make: as many as
/// launches under way have, and as many again for the loader.
static uint32_t slotsOf(uint32_t ringSlots, uint64_t nodes) {
  constexpr uint64_t mostNodes = 2048, most = 8, least = 4;
  uint64_t slots = std::min<uint64_t>(ringSlots, mostNodes / nodes);
  return static_cast<uint32_t>(std::clamp(slots, least, most));
}

static uint64_t nodesOf(const fb::StepT &step) {
  uint64_t nodes = 0;
  for (const auto &program : step.programs)
    if (program->kind != fb::ProgramKind::Initial) // which runs once
      nodes += program->commands.size();
  return nodes;
}

static uint32_t slotsOfRank(const PlanSet &set, const fb::PlanT &plan,
                            size_t step) {
  return slotsOf(inputRing(set.mesh, plan, *plan.steps[step]).slots,
                 1 + nodesOf(*plan.steps[step]));
}

void Places::addBatch(const PlanSet &set, const Ranks &ranks, size_t step,
                      StepPlaces &out) {
  uint32_t ringSlots = ~0u;
  uint64_t nodes = 1;
  Parts area;
  area.add(valueBytes);
  for (uint32_t r = 0; r < ranks.count; ++r) {
    const fb::PlanT &plan = set.of(ranks.first + r);
    InputRing ring = inputRing(set.mesh, plan, *plan.steps[step]);
    ringSlots = std::min(ringSlots, ring.slots);
    nodes += nodesOf(*plan.steps[step]);
    auto &components = out.components.emplace_back();
    for (uint64_t bytes : ring.componentBytes)
      components.push_back(bytes == 0 ? StepPlaces::unused : area.add(bytes));
  }
  out.slots = slotsOf(ringSlots, nodes);
  // Processes launch the graphs of one slot together.
  if (ranks.count < ranks.total)
    for (const auto &plan : set.plans)
      out.slots = std::min(out.slots, slotsOfRank(set, *plan, step));
  fits &= area.total(out.areaBytes);
}

void Places::addProgram(const PlanSet &set, const Ranks &ranks, size_t step,
                        size_t program, Parts &device,
                        ProgramPlaces &out) const {
  for (uint32_t r = 0; r < ranks.count; ++r) {
    const fb::PlanT &plan = set.of(ranks.first + r);
    auto &scratch = out.scratch.emplace_back();
    for (const auto &command : plan.steps[step]->programs[program]->commands) {
      const fb::LaunchT *launch = kernelLaunch(*command);
      uint64_t bytes =
          launch ? variantOf(*plan.kernels[launch->kernel]).scratch_bytes : 0;
      scratch.push_back(bytes == 0 ? 0 : device.add(bytes));
    }
  }
  layOutReport(set, ranks, reportedValues(set, ranks, step, program), out);
}

void Places::addStep(const PlanSet &set, const Ranks &ranks, size_t step,
                     Parts &device, Parts &host) {
  StepPlaces &out = steps.emplace_back();
  addBatch(set, ranks, step, out);
  // A small batch is there sooner than another stream could be told of it.
  constexpr uint64_t large = 1 << 20;
  out.areas = out.areaBytes > large ? 2 : 1;
  out.device = addRow(device, out.areas, out.areaBytes);
  out.host = addRow(host, out.slots, out.areaBytes);
  out.updateDevice = device.add(valueBytes);
  out.updateHost = addRow(host, updateSlots, valueBytes);
  const auto &programs = set.first().steps[step]->programs;
  for (size_t p = 0; p < programs.size(); ++p) {
    ProgramPlaces &places = out.programs.emplace_back();
    addProgram(set, ranks, step, p, device, places);
    bool batches = hasBatch(programs[p]->kind);
    places.reports =
        addRow(host, batches ? out.slots : updateSlots, places.reportBytes);
  }
}

Places::Places(const PlanSet &set, const Ranks &ranks)
    : valueBytes(stepValueBytes(set.first())), fits(true) {
  Parts device, host;
  for (uint32_t r = 0; r < ranks.count; ++r)
    arenas.push_back(device.add(set.of(ranks.first + r).arena_bytes));
  for (size_t s = 0; s < set.first().steps.size(); ++s)
    addStep(set, ranks, s, device, host);
  fits &= device.total(deviceBytes) && host.total(hostBytes);
}
