#include "runtime/device/cuda/CudaDevice.h"

#include "runtime/base/Numbers.h"
#include "runtime/device/cuda/DeviceFactory.h"
#include "runtime/plan/Memories.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

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
  DLRT_TRY(checkRanks(loaded, options.ranks));
  if (options.link)
    return Status(Code::Usage,
                  "--link is for plans of processors: on a GPU communications "
                  "are copies in its own time");
  if (options.checks.guard)
    return Status(Code::Usage, "guarded memory is for plans of processors");
  DLRT_TRY(checkMemories(loaded, {fb::Memory::Device}));
  Expected<const Driver *> driver = Driver::open();
  if (!driver)
    return driver.takeError();
  Expected<DeviceFacts> facts = DeviceFacts::of(**driver, options.gpu);
  if (!facts)
    return facts.takeError();
  std::unique_ptr<CudaDevice> device(
      new CudaDevice(loaded, options.ranks, **driver, std::move(*facts)));
  if (Status status = device->prepare(loaded, options); !status.ok()) {
    device->disconnect();
    return status;
  }
  return device;
}

CudaDevice::CudaDevice(const LoadedPlan &loaded, const Ranks &ranks,
                       const Driver &cuda, DeviceFacts facts)
    : set(loaded), range(ranks), plan(loaded.first()), cuda(cuda),
      facts(std::move(facts)), places(loaded, ranks),
      context(cuda, this->facts.ordinal), memory(cuda), pinned(cuda),
      modules(cuda), communicator(cuda), stream(cuda), copies(cuda),
      reports(loaded, ranks) {
  for (const auto &setting : plan.settings)
    settings.push_back(setting->value);
}

CudaDevice::~CudaDevice() {
  // What is still under way then waits for ranks that may never come to it.
  if (submitted != finished)
    disconnect();
  if (stream.get())
    cuda.streamSynchronize(stream.get());
  if (destroyGraphs())
    communicator.destroy();
  else
    communicator.forget();
}

/// False where a device that is lost does not let go of them.
bool CudaDevice::destroyGraphs() {
  bool gone = true;
  for (Step &step : steps)
    for (Program &program : step.programs)
      for (Run &run : program.runs)
        if (Exec exec = std::exchange(run.exec, nullptr))
          gone &= cuda.execDestroy(exec) == success;
  return gone;
}

/// After an error: no other rank is waited for any more, and none can go on.
/// NCCL waits for the end of its graphs, and they for what is under way, which
/// ends as soon as NCCL leaves.
void CudaDevice::disconnect() {
  if (!communicator)
    return;
  if (destroyGraphs())
    communicator.abort();
  else
    communicator.forget();
}

Status CudaDevice::prepare(const LoadedPlan &loaded,
                           const DeviceOptions &options) {
  if (options.denormals == Denormals::Flush)
    return {Code::Unavailable,
            "--flush-denormals: kernels of a GPU keep denormals, which cost "
            "nothing there; leave it out"};
  if (options.checks.anomalies)
    return {Code::Unavailable,
            "--detect-anomaly: not on GPUs in this version; the same model "
            "compiled for the CPU makes the same NaN"};
  DLRT_TRY(context.create());
  if (options.transport)
    DLRT_TRY(communicator.create(*options.transport));
  thread = std::this_thread::get_id();
  if (!plan.kernels.empty()) {
    Expected<size_t> choice = chooseImage(plan, facts, options.isa);
    if (!choice)
      return choice.takeError();
    imageIndex = *choice;
    DLRT_TRY(modules.load(loaded, imageIndex, facts));
  }
  if (!options.ownKernels) {
    std::vector<const fb::PlanT *> plans; // of the ranks at hand
    for (uint32_t r = 0; r < range.count; ++r)
      plans.push_back(&set.of(range.first + r));
    products.prepare(plans);
  }
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
    oneByOne = std::make_unique<OneByOne>(cuda, stream.get(), communicator,
                                          options.checks, record.get());
    DLRT_TRY(oneByOne->prepare());
    for (uint32_t r = 0; r < range.count; ++r)
      oneByOne->add(set.of(range.first + r), memory.at(places.arenas[r]));
  }
  for (uint32_t s = 0; s < plan.steps.size(); ++s) {
    Step &step = steps.emplace_back();
    step.areaUsers.assign(places.steps[s].areas, 0);
    for (size_t p = 0; p < plan.steps[s]->programs.size(); ++p)
      DLRT_TRY(prepareProgram(s, p));
  }
  return settle();
}

Status CudaDevice::settle() {
  Event end = done[0].get();
  Result result = cuda.eventRecord(end, stream.get());
  if (result == success)
    DLRT_TRY(communicator.wait(end, result));
  return cuda.check(result, "preparing the device");
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
  Program &program = steps[step].programs.emplace_back();
  fb::ProgramKind kind = plan.steps[step]->programs[index]->kind;
  program.places = &places.steps[step].programs[index];
  program.description =
      fmt::format("step '{}' ({})", plan.steps[step]->name, nameOf(kind));
  std::vector<uint32_t> atHand(range.count);
  std::iota(atHand.begin(), atHand.end(), range.first);
  auto joint = joinPrograms(set, atHand, step, kind);
  if (!joint)
    return joint.takeError();
  Binding binding({set, range, places, modules.kernels, products, communicator,
                   memory, pinned},
                  step, index, std::move(*joint));
  for (uint32_t slot = 0; slot < binding.slots(); ++slot) {
    Run &run = program.runs.emplace_back();
    run.places = binding.placesOf(slot);
    run.bound = binding.bind(run.places, places.steps[step].areas == 1 ||
                                             oneByOne != nullptr);
    if (slot == 0)
      DLRT_TRY(describe(program, run.bound).within(program.description));
    DLRT_TRY(prepareRun(run).within(program.description));
  }
  return {};
}

/// What all slots have alike. Products and messages run once before they are
/// captured: code is brought to the device, and a way to another rank made,
/// when it is called for the first time. Nothing has been computed yet, all is
/// zero, and so is what they make of it.
Status CudaDevice::describe(Program &program, BoundProgram &bound) {
  for (Command &command : bound.commands) {
    if (!command.messages.empty())
      DLRT_TRY(communicator.start(command.messages, stream.get(),
                                  command.description));
    if (!command.kernel)
      continue;
    program.kernel = command.kernel;
    ++program.kernels;
    if (command.product && products.isGivenUp(*command.product))
      command.product = nullptr;
    if (command.product) {
      Status called = command.product->call(command.operands, stream.get(),
                                            command.description);
      if (called.ok())
        continue;
      products.giveUp(*std::exchange(command.product, nullptr), called);
    }
    program.blocks += command.kernel->blocks;
  }
  return {};
}

Status CudaDevice::prepareRun(Run &run) {
  if (oneByOne)
    return {};
  Expected<Exec> exec = makeGraph(cuda, context.get(), stream.get(), run.bound);
  if (!exec)
    return exec.takeError();
  run.exec = *exec;
  run.bound = {};
  return cuda.check(cuda.graphUpload(run.exec, stream.get()),
                    "bringing a graph to the device");
}

uint8_t *CudaDevice::inputAddress(const InputPlace &place) const {
  const StepPlaces &step = places.steps[place.step];
  uint64_t at = step.components[place.rank][place.component];
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

Pointer CudaDevice::addressOf(const BufferPlace &place) const {
  const fb::PlanT &own = set.of(range.first + place.rank);
  return memory.at(places.arenas[place.rank] +
                   own.buffers[place.buffer]->offset + place.offset);
}

Status CudaDevice::read(const BufferPlace &from,
                        std::span<uint8_t> into) const {
  DLRT_TRY(checkAccess(set, range, from, into.size(), submitted - finished));
  if (into.empty())
    return {};
  DLRT_TRY(enter());
  // In the stream, which nothing else waits for.
  Result result =
      cuda.copyToHost(into.data(), addressOf(from), into.size(), stream.get());
  if (result == success)
    result = cuda.streamSynchronize(stream.get());
  return cuda.check(result, "reading the device's memory");
}

Status CudaDevice::write(const BufferPlace &to, std::span<const uint8_t> from) {
  DLRT_TRY(checkAccess(set, range, to, from.size(), submitted - finished));
  if (from.empty())
    return {};
  DLRT_TRY(enter());
  Result result =
      cuda.copyToDevice(addressOf(to), from.data(), from.size(), stream.get());
  if (result == success)
    result = cuda.streamSynchronize(stream.get());
  return cuda.check(result, "writing the device's memory");
}
