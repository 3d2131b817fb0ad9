#include "runtime/exec/Executor.h"

#include "runtime/base/Numbers.h"
#include "runtime/exec/Cpu.h"
#include "runtime/exec/CpuDevice.h"
#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/InputRing.h"
#include "runtime/plan/SourceText.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

using namespace dlrt;

Expected<std::unique_ptr<Executor>>
Executor::create(const LoadedPlan &loaded, const DeviceOptions &options) {
  if (uint32_t ranks = loaded.mesh.ranks(); ranks != 1)
    return Status(
        Code::Unavailable,
        fmt::format("the plan is for a mesh of {} ranks, this version "
                    "runs one",
                    ranks));
  std::unique_ptr<Executor> executor(new Executor(loaded));
  DLRT_TRY(executor->loadKernels(loaded, options.isa));
  executor->describeKernels();
  DLRT_TRY(executor->layOut(options.threads, options.checks.guard));
  if (options.trace)
    executor->record = std::make_unique<Trace>(options.threads);
  DLRT_TRY(executor->startWorkers(options));
  DLRT_TRY(executor->prepareSteps(options.threads));
  if (executor->checked)
    executor->prepareChecks();
  return executor;
}

Expected<std::unique_ptr<Device>>
dlrt::cpuDevice(const LoadedPlan &loaded, const DeviceOptions &options) {
  auto executor = Executor::create(loaded, options);
  if (!executor)
    return executor.takeError();
  return std::unique_ptr<Device>(std::move(*executor));
}

Status Executor::startWorkers(const DeviceOptions &options) {
  if (options.checks.any()) {
    std::vector<MemoryRange> scratch;
    for (uint64_t offset : scratchOffsets)
      scratch.push_back({arena.at(offset), scratchBytes});
    checked = std::make_unique<CheckedWorkers>(options.checks);
    return checked->start(scratch, record.get());
  }
  std::vector<void *> scratch;
  for (uint64_t offset : scratchOffsets)
    scratch.push_back(arena.at(offset));
  return workers.start(scratch, record.get());
}

Status Executor::loadKernels(const LoadedPlan &loaded, const std::string &isa) {
  if (plan.kernels.empty())
    return {};
  Expected<size_t> choice = chooseImage(plan, isa);
  if (!choice)
    return choice.takeError();
  imageIndex = *choice;
  Expected<ElfImage> image =
      ElfImage::load(loaded.sections[plan.images[imageIndex]->section].bytes);
  if (!image)
    return image.takeError();
  kernels = std::move(*image);
  for (const auto &kernel : plan.kernels) {
    const std::string &symbol = cpuVariant(*kernel).entry;
    KernelEntry entry = kernels.find(symbol);
    if (!entry)
      return {Code::Plan,
              fmt::format("kernel '{}': there is no '{}' in the image for {}",
                          kernel->name, symbol,
                          plan.images[imageIndex]->features)};
    entries.push_back(entry);
  }
  return {};
}

void Executor::describeKernels() {
  for (const auto &kernel : plan.kernels) {
    std::string text = fmt::format("kernel '{}'", kernel->name);
    const char *separator = " (";
    for (uint32_t op : kernel->ops) {
      text += separator + sourceText(*plan.sources[op]);
      separator = ", ";
    }
    descriptions.push_back(text + (kernel->ops.empty() ? "" : ")"));
  }
}

Executor::Input Executor::layOutInput(const fb::StepT &step,
                                      ArenaLayout &layout) const {
  InputRing ring = inputRing({}, plan, step);
  const std::vector<uint64_t> &bytes = ring.componentBytes;
  Input input;
  input.slots = ring.slots;
  for (uint32_t slot = 0; slot < input.slots; ++slot)
    for (size_t c = 0; c < bytes.size(); ++c) {
      uint64_t offset = layout.add(bytes[c]);
      if (slot == 0)
        input.offsets.push_back(offset);
      else if (slot == 1 && c == 0)
        input.slotBytes = offset - input.offsets[0];
    }
  return input;
}

Status Executor::layOut(unsigned threads, bool guarded) {
  ArenaLayout layout(guarded);
  layout.add(plan.arena_bytes); // at 0: buffer offsets are arena offsets
  scalarsOffset = layout.add(stepValueBytes(plan));
  for (const auto &step : plan.steps) {
    steps.emplace_back();
    steps.back().input = layOutInput(*step, layout);
  }
  for (const auto &kernel : plan.kernels)
    scratchBytes = std::max(scratchBytes, cpuVariant(*kernel).scratch_bytes);
  for (unsigned t = 0; t < threads; ++t)
    scratchOffsets.push_back(layout.add(scratchBytes));
  if (!layout.total(allocated))
    return {Code::Unavailable, "the plan needs more memory than there are "
                               "addresses"};
  Expected<Arena> memory = Arena::allocate(layout);
  if (!memory)
    return memory.takeError();
  arena = std::move(*memory);
  return {};
}

Status Executor::prepareSteps(unsigned threads) {
  for (uint32_t s = 0; s < steps.size(); ++s) {
    const fb::StepT &step = *plan.steps[s];
    BufferAddress address = [&](uint32_t index, uint32_t slot) -> uint8_t * {
      const fb::BufferT &buffer = *plan.buffers[index];
      switch (buffer.space) {
      case fb::Space::Input:
        return inputAddress({s, slot, buffer.offset});
      case fb::Space::Scalars:
        return arena.at(scalarsOffset);
      case fb::Space::Arena:
        break;
      }
      return arena.at(buffer.offset);
    };
    auto prepare = [&](const fb::ProgramT &program, uint32_t slots,
                       PreparedProgram &out) -> Status {
      Expected<PreparedProgram> prepared = prepareProgram(
          plan, program, entries, descriptions, address, slots, threads);
      if (!prepared)
        return prepared.takeError();
      out = std::move(*prepared);
      return {};
    };
    for (const auto &program : step.programs)
      DLRT_TRY(prepare(
          *program,
          program->kind == fb::ProgramKind::Update ? 1 : steps[s].input.slots,
          steps[s].programs.emplace_back()));
  }
  return {};
}

/// What is dead as a program begins: all but the states, and what programs
/// report, which may still be read.
void Executor::prepareChecks() {
  std::vector<bool> isPinned(plan.buffers.size(), false);
  auto pinReports = [&](const fb::ProgramT &program) {
    for (const auto &metric : program.metrics)
      isPinned[metric->buffer] = true;
    for (const auto &flag : program.errors)
      isPinned[flag->buffer] = true;
  };
  for (const auto &state : plan.states)
    isPinned[state->buffer] = true;
  for (const auto &step : plan.steps) {
    for (const auto &program : step->programs)
      pinReports(*program);
  }
  std::vector<std::pair<uint64_t, uint64_t>> pinned;
  for (size_t b = 0; b < plan.buffers.size(); ++b)
    if (isPinned[b])
      pinned.push_back({plan.buffers[b]->offset,
                        plan.buffers[b]->offset + plan.buffers[b]->bytes});
  std::sort(pinned.begin(), pinned.end());
  pinned.push_back({plan.arena_bytes, plan.arena_bytes});
  std::vector<MemoryRange> dead;
  uint64_t end = 0;
  for (auto [first, last] : pinned) {
    if (first > end)
      dead.push_back({arena.at(end), first - end});
    end = std::max(end, last);
  }
  for (size_t s = 0; s < steps.size(); ++s) {
    for (size_t p = 0; p < steps[s].programs.size(); ++p)
      describeForChecks(steps[s].programs[p], *plan.steps[s]->programs[p],
                        isPinned, dead);
  }
}

void Executor::describeForChecks(const PreparedProgram &prepared,
                                 const fb::ProgramT &program,
                                 const std::vector<bool> &isPinned,
                                 const std::vector<MemoryRange> &dead) {
  auto isTemporary = [&](const fb::Range &range) {
    return plan.buffers[range.buffer()]->space == fb::Space::Arena &&
           !isPinned[range.buffer()];
  };
  // Pieces of buffers that commands use as a whole: each dies on its own.
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> borders; // to a number
  for (const auto &command : program.commands)
    for (const Access &access : accessesOf(plan, *command))
      if (const fb::Range &range = access.range; isTemporary(range)) {
        borders[{range.buffer(), range.offset()}];
        borders[{range.buffer(), range.offset() + range.bytes()}];
      }
  uint32_t count = 0;
  for (auto &[border, number] : borders)
    number = count++;
  std::vector<std::vector<CheckedWorkers::Temporary>> temporaries;
  for (const auto &command : program.commands) {
    temporaries.emplace_back();
    for (const Access &access : accessesOf(plan, *command)) {
      const fb::Range &range = access.range;
      if (!isTemporary(range))
        continue;
      uint64_t end = range.offset() + range.bytes();
      auto border = borders.find({range.buffer(), range.offset()});
      for (uint64_t at = range.offset(); at < end;) {
        uint32_t number = border->second;
        uint64_t next = (++border)->first.second;
        temporaries.back().push_back(
            {number, {arenaAddress(range.buffer()) + at, next - at}});
        at = next;
      }
    }
  }
  checked->describe(prepared, dead, temporaries);
}

uint8_t *Executor::inputAddress(const InputPlace &place) const {
  const Input &input = steps[place.step].input;
  return arena.at(input.offsets[place.component] +
                  place.slot * input.slotBytes);
}

uint8_t *Executor::arenaAddress(uint32_t buffer) const {
  return arena.at(plan.buffers[buffer]->offset);
}

Status Executor::read(const BufferPlace &from, std::span<uint8_t> into) const {
  DLRT_TRY(checkAccess(plan, from, into.size(), submitted - finished));
  if (!into.empty())
    std::memcpy(into.data(), arenaAddress(from.buffer) + from.offset,
                into.size());
  return {};
}

Status Executor::write(const BufferPlace &to, std::span<const uint8_t> from) {
  DLRT_TRY(checkAccess(plan, to, from.size(), submitted - finished));
  if (!from.empty())
    std::memcpy(arenaAddress(to.buffer) + to.offset, from.data(), from.size());
  return {};
}

Ticket Executor::submit(const Launch &launch) {
  if (submitted - finished == launchesAhead)
    runOldest();
  queue[submitted % launchesAhead] = launch;
  queuedSettings[submitted % launchesAhead] = settings;
  return ++submitted;
}

Expected<Report> Executor::wait(Ticket ticket) {
  if (ticket == 0 || ticket > submitted)
    return Status(
        Code::Bug,
        fmt::format("launch {} is waited for, but not submitted", ticket));
  while (finished < ticket)
    runOldest();
  return reports.of(ticket);
}

void Executor::runOldest() {
  const Launch &launch = queue[finished % launchesAhead];
  std::memcpy(arena.at(scalarsOffset), launch.scalars.data(),
              sizeof(launch.scalars));
  for (size_t i = 0; i < settings.size(); ++i)
    std::memcpy(arena.at(scalarsOffset + (scalarCount + i) * sizeof(double)),
                &queuedSettings[finished % launchesAhead][i], sizeof(double));
  Step &step = steps[launch.step];
  size_t index = programIndex(*plan.steps[launch.step], launch.kind);
  bool hasBatch = launch.kind != fb::ProgramKind::Update;
  runProgram(launch, step.programs[index], hasBatch ? launch.slot : 0);
  ++finished;
  reports.note(finished, launch,
               [this](uint32_t buffer, uint32_t bytes, uint8_t *into) {
                 if (bytes == 4) // no call for what nearly all metrics are
                   std::memcpy(into, arenaAddress(buffer), 4);
                 else
                   std::memcpy(into, arenaAddress(buffer), bytes);
               });
}

void Executor::runProgram(const Launch &launch, PreparedProgram &program,
                          uint32_t slot) {
  uint64_t begin = record ? traceClock() : 0;
  if (record)
    ++record->launch;
  if (checked)
    checked->run(program, slot);
  else
    workers.run(program, slot);
  if (record)
    record->runs.add({begin, traceClock(), record->launch, launch.step,
                      launch.kind, static_cast<uint64_t>(launch.scalars[1])});
}
