#include "runtime/exec/Executor.h"

#include "runtime/base/Numbers.h"
#include "runtime/exec/Cpu.h"
#include "runtime/exec/CpuDevice.h"
#include "runtime/exec/TransportErrand.h"
#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/InputRing.h"
#include "runtime/plan/Memories.h"
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
  const Ranks &ranks = options.ranks;
  DLRT_TRY(checkRanks(loaded, ranks));
  DLRT_TRY(checkMemories(loaded, {fb::Memory::Host}));
  std::unique_ptr<Executor> executor(new Executor(loaded, ranks));
  DLRT_TRY(executor->loadKernels(loaded, options.isa));
  executor->describeKernels();
  DLRT_TRY(executor->layOut(options.threads, options.checks.guard));
  if (options.trace)
    executor->record = std::make_unique<Trace>(options.threads);
  DLRT_TRY(executor->startWorkers(options));
  DLRT_TRY(executor->prepareSteps(options));
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
      scratch.push_back({memories[0].arena.at(offset), scratchBytes});
    checked = std::make_unique<CheckedWorkers>(options.checks);
    if (options.checks.anomalies) {
      anomalies = std::make_unique<AnomalyFinder>();
      checked->finder = anomalies.get();
    }
    return checked->start(scratch, record.get(), options.denormals);
  }
  std::vector<void *> scratch;
  for (uint64_t offset : scratchOffsets)
    scratch.push_back(memories[0].arena.at(offset));
  return workers.start(scratch, record.get(), options.denormals);
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
    const std::string &symbol = variantOf(*kernel).entry;
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
    std::vector<std::string> ops; // in other words each once
    for (uint32_t op : kernel->ops)
      if (std::string one = sourceText(*plan.sources[op]);
          std::ranges::find(ops, one) == ops.end())
        ops.push_back(std::move(one));
    constexpr size_t most = 8;
    for (size_t i = 0; i < std::min(ops.size(), most); ++i)
      text += (i ? ", " : " (") + ops[i];
    if (ops.size() > most)
      text += fmt::format(" and {} more", ops.size() - most);
    descriptions.push_back(text + (ops.empty() ? "" : ")"));
  }
}

Executor::Input Executor::layOutInput(uint32_t rank, uint32_t step,
                                      ArenaLayout &layout) const {
  InputRing ring = inputRing(set.mesh, planOf(rank), *planOf(rank).steps[step]);
  const std::vector<uint64_t> &bytes = ring.componentBytes;
  Input input;
  input.offsets.assign(bytes.size(), Input::unused);
  for (uint32_t slot = 0; slot < steps[step].slots; ++slot)
    for (size_t c = 0; c < bytes.size(); ++c) {
      if (bytes[c] == 0)
        continue;
      uint64_t offset = layout.add(bytes[c]);
      if (slot == 0)
        input.offsets[c] = offset;
      else if (slot == 1)
        input.slotBytes = offset - input.offsets[c];
    }
  return input;
}

ArenaLayout Executor::layOutRank(uint32_t rank, unsigned threads,
                                 bool guarded) {
  ArenaLayout layout(guarded);
  Memory &memory = memories[rank];
  layout.add(planOf(rank).arena_bytes); // at 0: buffers have arena offsets
  memory.scalarsOffset = layout.add(stepValueBytes(plan));
  for (uint32_t s = 0; s < steps.size(); ++s)
    memory.inputs.push_back(layOutInput(rank, s, layout));
  if (rank == 0)
    for (unsigned t = 0; t < threads; ++t)
      scratchOffsets.push_back(layout.add(scratchBytes));
  return layout;
}

Status Executor::layOut(unsigned threads, bool guarded) {
  for (const auto &kernel : plan.kernels)
    scratchBytes = std::max(scratchBytes, variantOf(*kernel).scratch_bytes);
  steps.resize(plan.steps.size());
  // A slot has a batch of each rank.
  for (uint32_t s = 0; s < steps.size(); ++s) {
    steps[s].slots = ~0u;
    for (uint32_t r = 0; r < range.count; ++r)
      steps[s].slots =
          std::min(steps[s].slots,
                   inputRing(set.mesh, planOf(r), *planOf(r).steps[s]).slots);
  }
  memories.resize(range.count);
  std::vector<ArenaLayout> layouts;
  bool fits = true;
  for (uint32_t r = 0; r < range.count; ++r) {
    uint64_t bytes;
    layouts.push_back(layOutRank(r, threads, guarded));
    fits &= layouts.back().total(bytes) &&
            !__builtin_add_overflow(allocated, bytes, &allocated);
  }
  if (!fits)
    return {Code::Unavailable, "the plan needs more memory than there are "
                               "addresses"};
  DLRT_TRY(Arena::checkFits(allocated));
  for (uint32_t r = 0; r < range.count; ++r) {
    Expected<Arena> memory = Arena::allocate(layouts[r]);
    if (!memory)
      return memory.takeError();
    memories[r].arena = std::move(*memory);
  }
  return {};
}

uint8_t *Executor::addressOf(uint32_t rank, uint32_t step, uint32_t index,
                             uint32_t slot) const {
  const fb::BufferT &buffer = *planOf(rank).buffers[index];
  switch (buffer.space) {
  case fb::Space::Input:
    // A rank without items has no ring; kernels may still look behind nothing.
    if (uint8_t *at = inputAddress({step, slot, buffer.offset, rank}))
      return at;
    [[fallthrough]];
  case fb::Space::Scalars:
    return memories[rank].arena.at(memories[rank].scalarsOffset);
  case fb::Space::Arena:
    break;
  }
  return memories[rank].arena.at(buffer.offset);
}

Status Executor::prepareSteps(const DeviceOptions &options) {
  PreparedFor with = {set, {}, entries, descriptions, options.threads, {}};
  for (uint32_t r = 0; r < range.count; ++r)
    with.ranks.push_back(range.first + r);
  if (Transport *transport = options.transport) {
    // The thread that creates the device runs its programs.
    if (options.place && !checked) {
      workers.ownCore =
          std::make_unique<OwnCore>(*options.place * options.threads);
      workers.patience = std::chrono::milliseconds(2); // nobody wants the core
    }
    with.lookEvery = 100e-6;
    workers.betweenCommands = [transport] { transport->poll(); };
    workers.beforeRest = [transport] { transport->rest(); };
    if (checked)
      checked->beforeRun = workers.beforeRest;
    with.errands = [transport](const Meeting &meeting,
                               const MeetingPlaces &places) {
      return transportErrand(*transport, meeting, places);
    };
  } else if (options.link) {
    link = std::make_unique<Link>(*options.link);
    DLRT_TRY(link->start());
    with.errands = [this](const Meeting &meeting, const MeetingPlaces &) {
      return link->errand(meeting);
    };
  }
  for (uint32_t s = 0; s < steps.size(); ++s) {
    Step &step = steps[s];
    auto address = [this, s](uint32_t rank, uint32_t buffer, uint32_t slot) {
      return addressOf(rank, s, buffer, slot);
    };
    for (const auto &program : plan.steps[s]->programs) {
      fb::ProgramKind kind = program->kind;
      Expected<PreparedProgram> prepared = prepareProgram(
          with, s, kind, address, hasBatch(kind) ? step.slots : 1,
          checked ? &step.accesses.emplace_back() : nullptr);
      if (!prepared)
        return prepared.takeError();
      step.programs.push_back(std::move(*prepared));
    }
    if (!checked)
      for (PreparedProgram &program : step.programs)
        workers.adopt(program);
  }
  return {};
}

uint8_t *Executor::inputAddress(const InputPlace &place) const {
  const Memory &memory = memories[place.rank];
  const Input &input = memory.inputs[place.step];
  if (input.offsets[place.component] == Input::unused)
    return nullptr;
  return memory.arena.at(input.offsets[place.component] +
                         place.slot * input.slotBytes);
}

uint8_t *Executor::arenaAddress(uint32_t buffer, uint32_t rank) const {
  return memories[rank].arena.at(planOf(rank).buffers[buffer]->offset);
}

Status Executor::read(const BufferPlace &from, std::span<uint8_t> into) const {
  DLRT_TRY(checkAccess(set, range, from, into.size(), submitted - finished));
  if (!into.empty())
    std::memcpy(into.data(), arenaAddress(from.buffer, from.rank) + from.offset,
                into.size());
  return {};
}

Status Executor::write(const BufferPlace &to, std::span<const uint8_t> from) {
  DLRT_TRY(checkAccess(set, range, to, from.size(), submitted - finished));
  if (!from.empty())
    std::memcpy(arenaAddress(to.buffer, to.rank) + to.offset, from.data(),
                from.size());
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
  for (Memory &memory : memories) {
    uint8_t *scalars = memory.arena.at(memory.scalarsOffset);
    std::memcpy(scalars, launch.scalars.data(), sizeof(launch.scalars));
    for (size_t i = 0; i < settings.size(); ++i)
      std::memcpy(scalars + (scalarCount + i) * sizeof(double),
                  &queuedSettings[finished % launchesAhead][i], sizeof(double));
  }
  Step &step = steps[launch.step];
  size_t index = programIndex(*plan.steps[launch.step], launch.kind);
  runProgram(launch, step.programs[index],
             hasBatch(launch.kind) ? launch.slot : 0);
  ++finished;
  reports.note(
      finished, launch,
      [this](uint32_t rank, uint32_t buffer, uint32_t bytes, uint8_t *into) {
        const uint8_t *from = arenaAddress(buffer, rank);
        if (bytes == 4) // no call for what nearly all metrics are
          std::memcpy(into, from, 4);
        else
          std::memcpy(into, from, bytes);
      });
  if (anomalies)
    reports.refuse(finished, anomalies->verdict());
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
