#include "runtime/device/cuda/Binding.h"

#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/MatrixProduct.h"
#include "runtime/plan/SourceText.h"
#include "runtime/plan/StepPrograms.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

using namespace dlrt;
using namespace dlrt::cuda;

Binding::Binding(const On &on, uint32_t step, size_t program,
                 std::vector<JointCommand> commands)
    : on(on), step(step), program(program), joint(std::move(commands)),
      own(on.places.steps[step]), ownProgram(own.programs[program]),
      batches(hasBatch(planOf(0).steps[step]->programs[program]->kind)) {}

uint32_t Binding::slots() const {
  return batches ? own.slots : Places::updateSlots;
}

RunPlaces Binding::placesOf(uint32_t slot) const {
  RunPlaces run;
  run.area = batches ? slot % own.areas : 0;
  run.values = on.pinned.at(batches ? own.host[slot] : own.updateHost[slot]);
  run.report = on.pinned.at(ownProgram.reports[slot]);
  return run;
}

BoundProgram Binding::bind(const RunPlaces &run, bool bringsBatch) const {
  BoundProgram out;
  Pointer area =
      on.memory.at(batches ? own.device[run.area] : own.updateDevice);
  if (!batches)
    out.batch = {run.values, area, on.places.valueBytes, {}};
  else if (bringsBatch)
    out.batch = {run.values, area, own.areaBytes, {}};
  for (const ReportRange &range : ownProgram.reported)
    out.reports.push_back({run.report + range.at,
                           on.memory.at(range.deviceOffset),
                           range.bytes,
                           {}});
  out.commands.resize(joint.size());
  for (uint32_t c = 0; c < joint.size(); ++c) {
    bindCommand(joint[c], area, out.commands[c]);
    order(c, out);
  }
  orderMessages(out);
  return out;
}

/// Bytes [a, a + n) and [b, b + m).
static bool overlap(uint64_t a, uint64_t n, uint64_t b, uint64_t m) {
  return a < b + m && b < a + n;
}

/// Behind the batch, and before the reports of what it writes.
void Binding::order(uint32_t index, BoundProgram &out) const {
  Command &command = out.commands[index];
  for (const JointCommand::Part &part : joint[index].parts) {
    const fb::PlanT &plan = planOf(part.rank);
    for (const Access &access : accessesOf(plan, commandOf(part))) {
      if (plan.buffers[access.range.buffer()]->space != fb::Space::Arena) {
        command.readsBatch = true;
        continue;
      }
      Pointer at = arenaAddress(part.rank, access.range);
      for (Transfer &report : out.reports)
        if (access.writes &&
            overlap(at, access.range.bytes(), report.device, report.bytes) &&
            (report.after.empty() || report.after.back() != index))
          report.after.push_back(index);
    }
  }
}

/// NCCL wants the operations of a communicator one after the other, in one
/// order on all ranks. The numbers of a rank's communications ascend in its
/// program, which the plan's checks have proved, and are the same on all ranks.
void Binding::orderMessages(BoundProgram &out) const {
  std::optional<uint32_t> last;
  for (uint32_t c = 0; c < out.commands.size(); ++c) {
    if (out.commands[c].messages.empty())
      continue;
    std::vector<uint32_t> &after = out.commands[c].after;
    if (last && !std::binary_search(after.begin(), after.end(), *last))
      after.insert(std::upper_bound(after.begin(), after.end(), *last), *last);
    last = c;
  }
}

void Binding::bindCommand(const JointCommand &from, Pointer area,
                          Command &out) const {
  const JointCommand::Part &first = from.parts.front();
  const fb::CommandT &command = commandOf(first);
  out.after = from.after;
  out.rank = on.ranks.first + first.rank;
  out.number = first.number;
  out.tiles = static_cast<uint32_t>(factsOf(planOf(first.rank), command).tiles);
  visitWork(command, OfKind{[&](const fb::LaunchT &launch) {
                              bindLaunch(first, launch, area, out);
                            },
                            [&](const fb::MultiplyT &product) {
                              bindLaunch(first, *product.launch, area, out);
                              bindProduct(first, product, out);
                            },
                            [&](const fb::CopyT &copy) {
                              auto at = [&](uint32_t buffer, uint64_t offset) {
                                return addressOf(first.rank,
                                                 {buffer, offset, copy.bytes},
                                                 area);
                              };
                              out.copies.push_back(
                                  {at(copy.from, copy.from_offset),
                                   at(copy.to, copy.to_offset), copy.bytes});
                            },
                            [&](const fb::CommunicateT &) {
                              bindMeeting(*from.meeting, area, out);
                            }});
  describe(from, out);
}

void Binding::bindMeeting(const Meeting &meeting, Pointer area,
                          Command &out) const {
  for (const Meeting::Copy &copy : meeting.copies)
    out.copies.push_back({addressOf(copy.from, copy.source, area),
                          addressOf(copy.to, copy.target, area),
                          copy.target.bytes()});
  out.communicator = &on.communicator;
  auto bindAll = [&](const std::vector<Meeting::Message> &from,
                     std::vector<RemoteBytes> &to) {
    for (const Meeting::Message &message : from)
      if (message.range.bytes() != 0) // on both sides
        to.push_back({addressOf(message.rank, message.range, area),
                      message.range.bytes(), message.peer});
  };
  bindAll(meeting.sends, out.messages.sends);
  bindAll(meeting.receives, out.messages.receives);
}

void Binding::bindLaunch(const JointCommand::Part &part,
                         const fb::LaunchT &launch, Pointer area,
                         Command &out) const {
  out.kernel = &on.kernels[launch.kernel];
  for (const fb::Range &range : launch.bindings)
    out.arguments.push_back(addressOf(part.rank, range, area));
  std::vector<int64_t> constants;
  constantsOf(on.set.mesh, launch, planOf(part.rank).ranks.front(),
              on.ranks.first + part.rank, constants);
  for (int64_t constant : constants)
    out.arguments.push_back(static_cast<uint64_t>(constant));
  if (out.kernel->scratchBytes != 0)
    out.arguments.push_back(
        on.memory.at(ownProgram.scratch[part.rank][part.number]));
  for (uint64_t &argument : out.arguments)
    out.places.push_back(&argument);
}

void Binding::bindProduct(const JointCommand::Part &part,
                          const fb::MultiplyT &product, Command &out) const {
  const fb::PlanT &plan = planOf(part.rank);
  out.product = on.products.of(plan, product);
  for (size_t i = 0; i < product.matrices.size(); ++i)
    out.operands.matrices[i] =
        out.arguments[product.matrices[i].binding()] + offsetOf(product, i);
  if (product.bias != -1)
    out.operands.bias = out.arguments[static_cast<uint32_t>(product.bias)];
  out.operands.workspace = arenaAddress(part.rank, {product.workspace, 0, 0});
}

/// What messages name it by, with the op's line.
void Binding::describe(const JointCommand &from, Command &out) const {
  const JointCommand::Part &first = from.parts.front();
  const fb::PlanT &plan = planOf(first.rank);
  const fb::CommandT &command = commandOf(first);
  if (out.kernel) {
    out.description = out.kernel->description;
    return;
  }
  out.description = factsOf(plan, command).title;
  if (!command.ops.empty())
    out.description +=
        fmt::format(" ({})", sourceText(*plan.sources[command.ops.front()]));
}

Pointer Binding::arenaAddress(uint32_t rank, const fb::Range &range) const {
  return on.memory.at(on.places.arenas[rank] +
                      planOf(rank).buffers[range.buffer()]->offset +
                      range.offset());
}

Pointer Binding::addressOf(uint32_t rank, const fb::Range &range,
                           Pointer area) const {
  const fb::BufferT &buffer = *planOf(rank).buffers[range.buffer()];
  switch (buffer.space) {
  case fb::Space::Arena:
    return arenaAddress(rank, range);
  case fb::Space::Input:
    // Of a batch without bytes kernels may still look behind nothing.
    if (uint64_t at = own.components[rank][buffer.offset];
        at != StepPlaces::unused)
      return area + at + range.offset();
    break;
  case fb::Space::Scalars:
    break;
  }
  return area + range.offset();
}
