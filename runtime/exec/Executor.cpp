#include "runtime/exec/Executor.h"

#include "runtime/base/Numbers.h"
#include "runtime/exec/Cpu.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace dlrt;

std::string dlrt::sourceText(const fb::SourceT &source) {
  std::string text = source.op;
  if (!source.module_.empty())
    text += fmt::format(" in '{}'", source.module_);
  if (!source.location.empty())
    text += " at " + source.location;
  return text;
}

Expected<std::unique_ptr<Executor>>
Executor::create(const LoadedPlan &loaded, const ExecutorOptions &options) {
  std::unique_ptr<Executor> executor(new Executor(loaded));
  DLRT_TRY(executor->loadKernels(loaded, options.isa));
  executor->describeKernels();
  DLRT_TRY(executor->layOut(options.threads));
  std::vector<void *> scratch;
  for (uint64_t offset : executor->scratchOffsets)
    scratch.push_back(executor->arena.at(offset));
  DLRT_TRY(executor->workers.start(scratch));
  executor->prepareSteps(options.threads);
  return executor;
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
    KernelEntry entry = kernels.find(kernel->name);
    if (!entry)
      return {Code::Plan,
              fmt::format("kernel '{}' is not in the image for {}",
                          kernel->name, plan.images[imageIndex]->features)};
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

/// Batches that may wait at once: many small ones, so that the loader's thread
/// need not be woken for each, or a few large ones.
static uint32_t ringSlots(const fb::StepT &step, uint64_t batchBytes) {
  constexpr uint64_t ringBytes = 1 << 20, tableBytes = 4 << 20;
  uint64_t bindings = 1;
  for (const auto &program : step.micro)
    for (const auto &command : program->commands)
      bindings += command->bindings.size();
  uint64_t slots = std::min(ringBytes / std::max<uint64_t>(batchBytes, 1),
                            tableBytes / (bindings * sizeof(void *)));
  return static_cast<uint32_t>(std::clamp<uint64_t>(slots, 4, 64));
}

Executor::Input Executor::layOutInput(const fb::StepT &step,
                                      ArenaLayout &layout) const {
  const fb::DatasetT &dataset = *plan.datasets[step.dataset];
  std::vector<uint64_t> bytes;
  uint64_t total = 0;
  for (const auto &component : dataset.components) {
    uint64_t item = 0;
    itemBytes(*component, item);
    bytes.push_back(item * dataset.batch_size);
    total += bytes.back();
  }
  Input input;
  input.slots = ringSlots(step, total);
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

Status Executor::layOut(unsigned threads) {
  ArenaLayout layout;
  layout.add(plan.arena_bytes); // at 0: buffer offsets are arena offsets
  scalarsOffset = layout.add(scalarCount * sizeof(int64_t));
  for (const auto &step : plan.steps) {
    steps.emplace_back();
    steps.back().input = layOutInput(*step, layout);
  }
  uint64_t scratch = 0;
  for (const auto &kernel : plan.kernels)
    scratch = std::max(scratch, kernel->scratch_bytes);
  for (unsigned t = 0; t < threads; ++t)
    scratchOffsets.push_back(layout.add(scratch));
  if (!layout.total(allocated))
    return {Code::Unavailable, "the plan needs more memory than there are "
                               "addresses"};
  Expected<Arena> memory = Arena::allocate(allocated);
  if (!memory)
    return memory.takeError();
  arena = std::move(*memory);
  return {};
}

void Executor::prepareSteps(unsigned threads) {
  for (uint32_t s = 0; s < steps.size(); ++s) {
    const fb::StepT &step = *plan.steps[s];
    BufferAddress address = [&](uint32_t index, uint32_t slot) -> void * {
      const fb::BufferT &buffer = *plan.buffers[index];
      switch (buffer.space) {
      case fb::Space::Input:
        return inputAddress(s, slot, buffer.offset);
      case fb::Space::Scalars:
        return arena.at(scalarsOffset);
      case fb::Space::Arena:
        break;
      }
      return arena.at(buffer.offset);
    };
    for (const auto &program : step.micro)
      steps[s].micro.push_back(prepareProgram(plan, *program, entries,
                                              descriptions, address,
                                              steps[s].input.slots, threads));
    if (step.update)
      steps[s].update = prepareProgram(plan, *step.update, entries,
                                       descriptions, address, 1, threads);
  }
}

uint8_t *Executor::inputAddress(uint32_t step, uint32_t slot,
                                size_t component) const {
  const Input &input = steps[step].input;
  return arena.at(input.offsets[component] + slot * input.slotBytes);
}

uint8_t *Executor::arenaAddress(uint32_t buffer) const {
  return arena.at(plan.buffers[buffer]->offset);
}

Ticket Executor::submit(const Launch &launch) {
  if (submitted - finished == queueLength)
    runOldest();
  queue[submitted % queueLength] = launch;
  return ++submitted;
}

Status Executor::wait(Ticket ticket) {
  while (finished < std::min(ticket, submitted))
    runOldest();
  return std::exchange(failure, Status());
}

void Executor::runOldest() {
  const Launch &launch = queue[finished % queueLength];
  std::memcpy(arena.at(scalarsOffset), launch.scalars.data(),
              sizeof(launch.scalars));
  Step &step = steps[launch.step];
  if (launch.phase == Launch::Phase::Update)
    workers.run(step.update, 0);
  else
    workers.run(step.micro[static_cast<size_t>(launch.phase)], launch.slot);
  if (Status status = checkErrorFlags(launch); !status.ok() && failure.ok())
    failure = std::move(status);
  ++finished;
}

Status Executor::checkErrorFlags(const Launch &launch) const {
  const fb::StepT &step = *plan.steps[launch.step];
  const fb::ProgramT &program =
      launch.phase == Launch::Phase::Update
          ? *step.update
          : *step.micro[static_cast<size_t>(launch.phase)];
  for (const auto &flag : program.errors) {
    int32_t value;
    std::memcpy(&value, arenaAddress(flag->buffer), sizeof(value));
    if (value != 0)
      return {Code::Training,
              fmt::format("{} ({})", flag->message,
                          sourceText(*plan.sources[flag->source]))};
  }
  return {};
}
