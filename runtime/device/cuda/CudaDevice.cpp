#include "runtime/device/cuda/CudaDevice.h"

#include "runtime/base/Numbers.h"
#include "runtime/device/cuda/DeviceFactory.h"
#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/Memories.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace dlrt;
using namespace dlrt::cuda;

Expected<std::unique_ptr<Device>>
dlrt::cudaDevice(const LoadedPlan &loaded, const DeviceOptions &options) {
  auto device = CudaDevice::create(loaded, options);
  if (!device)
    return device.takeError();
  return std::unique_ptr<Device>(std::move(*device));
}

Expected<std::unique_ptr<CudaDevice>>
CudaDevice::create(const LoadedPlan &loaded, const DeviceOptions &options) {
  if (loaded.mesh.ranks() != 1)
    return Status(Code::Unavailable,
                  fmt::format("a mesh of {} ranks needs --target=cpu: in this "
                              "version a plan for CUDA has one",
                              loaded.mesh.ranks()));
  if (options.ranks.first != 0 || options.ranks.count != 1 ||
      options.ranks.total != 1)
    return Status(Code::Plan, fmt::format("the plan is for 1 rank, not for {}",
                                          options.ranks.total));
  if (options.checks.guard)
    return Status(Code::Usage, "guarded memory is for plans of processors");
  DLRT_TRY(checkMemories(loaded, {fb::Memory::Device}));
  Expected<const Driver *> driver = Driver::open();
  if (!driver)
    return driver.takeError();
  Expected<DeviceFacts> facts = DeviceFacts::first(**driver);
  if (!facts)
    return facts.takeError();
  std::unique_ptr<CudaDevice> device(
      new CudaDevice(loaded, **driver, std::move(*facts)));
  DLRT_TRY(device->prepare(loaded, options));
  return device;
}

CudaDevice::CudaDevice(const LoadedPlan &loaded, const Driver &cuda,
                       DeviceFacts facts)
    : set(loaded), plan(loaded.first()), cuda(cuda), facts(std::move(facts)),
      places(loaded), context(cuda, this->facts.ordinal), memory(cuda),
      pinned(cuda), modules(cuda), stream(cuda), copies(cuda),
      reports(loaded, Ranks()) {
  for (const auto &setting : plan.settings)
    settings.push_back(setting->value);
}

CudaDevice::~CudaDevice() {
  if (stream.get())
    cuda.streamSynchronize(stream.get());
  for (Step &step : steps)
    for (Program &program : step.programs)
      for (Run &run : program.runs)
        if (run.exec)
          cuda.execDestroy(run.exec);
}

Status CudaDevice::prepare(const LoadedPlan &loaded,
                           const DeviceOptions &options) {
  DLRT_TRY(context.create());
  thread = std::this_thread::get_id();
  if (!plan.kernels.empty()) {
    Expected<size_t> choice = chooseImage(plan, facts, options.isa);
    if (!choice)
      return choice.takeError();
    imageIndex = *choice;
    DLRT_TRY(modules.load(loaded, imageIndex, facts));
  }
  if (!options.ownKernels)
    products.prepare(plan);
  DLRT_TRY(allocate());
  DLRT_TRY(cuda.check(stream.create(), "making a stream"));
  DLRT_TRY(cuda.check(copies.create(), "making a stream"));
  for (auto *events : {&done, &copied})
    for (EventScope &event : *events)
      DLRT_TRY(
          cuda.check(event.create(cuda, eventWithoutTime), "making an event"));
  DLRT_TRY(
      cuda.check(cuda.fill(memory.at(0), 0, places.deviceBytes, stream.get()),
                 "clearing the device's memory"));
  if (options.trace)
    record = std::make_unique<Trace>(1);
  if (options.trace || options.checks.any()) {
    oneByOne = std::make_unique<OneByOne>(cuda, stream.get(), options.checks,
                                          record.get());
    DLRT_TRY(oneByOne->prepare(plan, memory.at(0)));
  }
  for (uint32_t s = 0; s < plan.steps.size(); ++s) {
    Step &step = steps.emplace_back();
    step.areaUsers.assign(places.steps[s].areas, 0);
    for (size_t p = 0; p < plan.steps[s]->programs.size(); ++p)
      DLRT_TRY(prepareProgram(s, p));
  }
  return cuda.check(cuda.streamSynchronize(stream.get()),
                    "preparing the device");
}

Status CudaDevice::allocate() {
  if (!places.fits)
    return {Code::Unavailable, "the plan needs more memory than there are "
                               "addresses"};
  Result result = memory.allocate(places.deviceBytes);
  if (result == outOfMemory) {
    size_t left = 0, all = 0;
    cuda.memoryInfo(&left, &all);
    return {Code::Unavailable,
            fmt::format("the plan needs {} of memory on {}, which has {} left "
                        "of {}",
                        humanBytes(places.deviceBytes), facts.name,
                        humanBytes(left), humanBytes(all))};
  }
  DLRT_TRY(cuda.check(result, "taking the device's memory"));
  return cuda.check(pinned.allocate(std::max<uint64_t>(places.hostBytes, 1)),
                    "taking memory of the host for batches");
}

Status CudaDevice::prepareProgram(uint32_t step, size_t index) {
  const StepPlaces &stepPlaces = places.steps[step];
  Program &program = steps[step].programs.emplace_back();
  program.program = plan.steps[step]->programs[index].get();
  program.places = &stepPlaces.programs[index];
  program.description = fmt::format("step '{}' ({})", plan.steps[step]->name,
                                    nameOf(program.program->kind));
  bool isUpdate = program.program->kind == fb::ProgramKind::Update;
  uint32_t slots = isUpdate ? Places::updateSlots : stepPlaces.slots;
  for (uint32_t slot = 0; slot < slots; ++slot) {
    Run &run = program.runs.emplace_back();
    bind(step, program, slot, run);
    if (slot == 0) {
      DLRT_TRY(tryProducts(run.bound).within(program.description));
      for (const Command &command : run.bound.commands)
        if (command.kernel && !command.product)
          program.blocks += command.kernel->blocks;
    }
    if (oneByOne)
      continue;
    Expected<Exec> exec =
        makeGraph(cuda, context.get(), stream.get(), run.bound);
    if (!exec)
      return exec.takeError().within(program.description);
    run.exec = *exec;
    run.bound = {};
    DLRT_TRY(cuda.check(cuda.graphUpload(run.exec, stream.get()),
                        "bringing a graph to the device"));
  }
  return {};
}

/// Once before they are captured: code is brought to the device when it is
/// called for the first time. Nothing has been computed yet, all is zero, and
/// so is what they make of it.
Status CudaDevice::tryProducts(const BoundProgram &program) const {
  for (const Command &command : program.commands)
    if (command.product)
      DLRT_TRY(command.product->call(command.operands, stream.get(),
                                     command.kernel->description));
  return {};
}

/// Bytes [a, a + n) and [b, b + m).
static bool overlap(uint64_t a, uint64_t n, uint64_t b, uint64_t m) {
  return a < b + m && b < a + n;
}

void CudaDevice::bind(uint32_t step, const Program &program, uint32_t slot,
                      Run &run) const {
  const StepPlaces &own = places.steps[step];
  bool isUpdate = program.program->kind == fb::ProgramKind::Update;
  run.area = isUpdate ? 0 : slot % own.areas;
  run.values = pinned.at(isUpdate ? own.updateHost[slot] : own.host[slot]);
  run.report = pinned.at(program.places->reports[slot]);
  Pointer area = memory.at(isUpdate ? own.updateDevice : own.device[run.area]);
  if (isUpdate)
    run.bound.batch = {run.values, area, places.valueBytes, {}};
  else if (own.areas == 1 || oneByOne)
    run.bound.batch = {run.values, area, own.areaBytes, {}};
  for (const ReportRange &range : program.places->reported)
    run.bound.reports.push_back(
        {run.report + range.at, memory.at(range.arenaOffset), range.bytes, {}});
  const auto &commands = program.program->commands;
  run.bound.commands.resize(commands.size());
  for (uint32_t c = 0; c < commands.size(); ++c) {
    Command &command = run.bound.commands[c];
    bindCommand(step, program, c, area, command);
    for (const Access &access : accessesOf(plan, *commands[c])) {
      const fb::BufferT &buffer = *plan.buffers[access.range.buffer()];
      command.readsBatch |= buffer.space != fb::Space::Arena;
      for (size_t r = 0; access.writes && r < run.bound.reports.size(); ++r) {
        const ReportRange &range = program.places->reported[r];
        std::vector<uint32_t> &after = run.bound.reports[r].after;
        if (overlap(buffer.offset + access.range.offset(), access.range.bytes(),
                    range.arenaOffset, range.bytes) &&
            (after.empty() || after.back() != c))
          after.push_back(c);
      }
    }
  }
}

void CudaDevice::bindLaunch(uint32_t step, const fb::LaunchT &launch,
                            uint64_t scratch, Pointer area,
                            Command &out) const {
  out.kernel = &modules.kernels[launch.kernel];
  for (const fb::Range &range : launch.bindings)
    out.arguments.push_back(addressOf(step, range, area));
  for (int64_t constant : launch.constants)
    out.arguments.push_back(static_cast<uint64_t>(constant));
  if (out.kernel->scratchBytes != 0)
    out.arguments.push_back(memory.at(scratch));
  for (uint64_t &argument : out.arguments)
    out.places.push_back(&argument);
}

void CudaDevice::bindCommand(uint32_t step, const Program &program,
                             size_t index, Pointer area, Command &out) const {
  const fb::CommandT &command = *program.program->commands[index];
  out.tiles = static_cast<uint32_t>(factsOf(plan, command).tiles);
  out.after = command.deps;
  std::sort(out.after.begin(), out.after.end());
  out.after.erase(std::unique(out.after.begin(), out.after.end()),
                  out.after.end());
  visitWork(command,
            OfKind{[&](const fb::LaunchT &launch) {
                     bindLaunch(step, launch, program.places->scratch[index],
                                area, out);
                   },
                   [&](const fb::MultiplyT &product) {
                     bindLaunch(step, *product.launch,
                                program.places->scratch[index], area, out);
                     out.product = products.of(plan, product);
                     for (size_t i = 0; i < product.matrices.size(); ++i)
                       out.operands.matrices[i] =
                           out.arguments[product.matrices[i].binding()];
                     out.operands.workspace =
                         memory.at(plan.buffers[product.workspace]->offset);
                   },
                   [&](const fb::CopyT &copy) {
                     out.from = addressOf(
                         step, {copy.from, copy.from_offset, copy.bytes}, area);
                     out.to = addressOf(
                         step, {copy.to, copy.to_offset, copy.bytes}, area);
                     out.bytes = copy.bytes;
                   },
                   // Nobody to exchange with: a mesh of one rank has no group.
                   [](const fb::CommunicateT &) {}});
}

Pointer CudaDevice::addressOf(uint32_t step, const fb::Range &range,
                              Pointer area) const {
  const fb::BufferT &buffer = *plan.buffers[range.buffer()];
  switch (buffer.space) {
  case fb::Space::Arena:
    return memory.at(buffer.offset + range.offset());
  case fb::Space::Input:
    // Of a batch without bytes kernels may still look behind nothing.
    if (uint64_t at = places.steps[step].components[buffer.offset];
        at != StepPlaces::unused)
      return area + at + range.offset();
    break;
  case fb::Space::Scalars:
    break;
  }
  return area + range.offset();
}

uint8_t *CudaDevice::inputAddress(const InputPlace &place) const {
  const StepPlaces &step = places.steps[place.step];
  uint64_t at = step.components[place.component];
  return at == StepPlaces::unused ? nullptr
                                  : pinned.at(step.host[place.slot] + at);
}

Status CudaDevice::enter() const {
  if (thread == std::this_thread::get_id())
    return {};
  DLRT_TRY(context.enter());
  thread = std::this_thread::get_id();
  return {};
}

Status CudaDevice::read(const BufferPlace &from,
                        std::span<uint8_t> into) const {
  DLRT_TRY(checkAccess(set, Ranks(), from, into.size(), submitted - finished));
  if (into.empty())
    return {};
  DLRT_TRY(enter());
  // In the stream, which nothing else waits for.
  Pointer at = memory.at(plan.buffers[from.buffer]->offset + from.offset);
  Result result = cuda.copyToHost(into.data(), at, into.size(), stream.get());
  if (result == success)
    result = cuda.streamSynchronize(stream.get());
  return cuda.check(result, "reading the device's memory");
}

Status CudaDevice::write(const BufferPlace &to, std::span<const uint8_t> from) {
  DLRT_TRY(checkAccess(set, Ranks(), to, from.size(), submitted - finished));
  if (from.empty())
    return {};
  DLRT_TRY(enter());
  Pointer at = memory.at(plan.buffers[to.buffer]->offset + to.offset);
  Result result = cuda.copyToDevice(at, from.data(), from.size(), stream.get());
  if (result == success)
    result = cuda.streamSynchronize(stream.get());
  return cuda.check(result, "writing the device's memory");
}
