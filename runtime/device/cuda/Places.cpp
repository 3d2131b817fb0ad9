#include "runtime/device/cuda/Places.h"

#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/DTypes.h"
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

uint64_t ProgramPlaces::positionOf(uint32_t buffer) const {
  for (auto [known, at] : buffers)
    if (known == buffer)
      return at;
  return 0;
}

/// A copy takes as long as some thousands of bytes more.
static constexpr uint64_t nearBytes = 4096;

static void layOutReport(const fb::PlanT &plan, const fb::ProgramT &program,
                         ProgramPlaces &out) {
  struct Piece {
    uint64_t offset, bytes;
    uint32_t buffer;
  };
  std::vector<Piece> pieces;
  auto add = [&](uint32_t buffer, uint64_t bytes) {
    pieces.push_back({plan.buffers[buffer]->offset, bytes, buffer});
  };
  for (const auto &flag : program.errors)
    add(flag->buffer, sizeof(int32_t));
  for (const auto &metric : program.metrics)
    if (metric->shape.empty())
      add(metric->buffer, sizeOf(metric->dtype));
  std::sort(pieces.begin(), pieces.end(),
            [](auto &a, auto &b) { return a.offset < b.offset; });
  for (const Piece &piece : pieces) {
    uint64_t end = piece.offset + piece.bytes;
    if (out.reported.empty() || piece.offset > out.reported.back().arenaOffset +
                                                   out.reported.back().bytes +
                                                   nearBytes) {
      out.reported.push_back({piece.offset, 0, out.reportBytes});
    }
    ReportRange &range = out.reported.back();
    range.bytes = std::max(range.bytes, end - range.arenaOffset);
    out.buffers.push_back(
        {piece.buffer, range.at + piece.offset - range.arenaOffset});
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
static uint32_t slotsOf(const InputRing &ring, const fb::StepT &step) {
  constexpr uint64_t mostNodes = 2048, most = 8, least = 4;
  uint64_t nodes = 1;
  for (const auto &program : step.programs)
    nodes += program->commands.size();
  uint64_t slots = std::min<uint64_t>(ring.slots, mostNodes / nodes);
  return static_cast<uint32_t>(std::clamp(slots, least, most));
}

void Places::addStep(const PlanSet &set, const fb::StepT &step, Parts &device,
                     Parts &host) {
  const fb::PlanT &plan = set.first();
  InputRing ring = inputRing(set.mesh, plan, step);
  StepPlaces &out = steps.emplace_back();
  out.slots = slotsOf(ring, step);
  Parts area;
  area.add(valueBytes);
  for (uint64_t bytes : ring.componentBytes)
    out.components.push_back(bytes == 0 ? StepPlaces::unused : area.add(bytes));
  fits &= area.total(out.areaBytes);
  // A small batch is there sooner than another stream could be told of it.
  constexpr uint64_t large = 1 << 20;
  out.areas = out.areaBytes > large ? 2 : 1;
  out.device = addRow(device, out.areas, out.areaBytes);
  out.host = addRow(host, out.slots, out.areaBytes);
  out.updateDevice = device.add(valueBytes);
  out.updateHost = addRow(host, updateSlots, valueBytes);
  for (const auto &program : step.programs) {
    ProgramPlaces &places = out.programs.emplace_back();
    for (const auto &command : program->commands) {
      const fb::LaunchT *launch = kernelLaunch(*command);
      uint64_t scratch =
          launch ? variantOf(*plan.kernels[launch->kernel]).scratch_bytes : 0;
      places.scratch.push_back(scratch == 0 ? 0 : device.add(scratch));
    }
    layOutReport(plan, *program, places);
    bool isUpdate = program->kind == fb::ProgramKind::Update;
    places.reports =
        addRow(host, isUpdate ? updateSlots : out.slots, places.reportBytes);
  }
}

Places::Places(const PlanSet &set)
    : arenaBytes(set.first().arena_bytes),
      valueBytes(stepValueBytes(set.first())), fits(true) {
  Parts device, host;
  device.add(arenaBytes); // at 0: buffers have arena offsets
  for (const auto &step : set.first().steps)
    addStep(set, *step, device, host);
  fits &= device.total(deviceBytes) && host.total(hostBytes);
}
