#include "runtime/device/cuda/OneByOne.h"

#include <algorithm>
#include <numeric>

using namespace dlrt;
using namespace dlrt::cuda;

OneByOne::OneByOne(const Driver &cuda, Stream stream,
                   const Communicator &communicator, const CheckOptions &checks,
                   Trace *record)
    : cuda(cuda), stream(stream), communicator(communicator), checks(checks),
      record(record), random(checks.orderSeed.value_or(0)) {}

Status OneByOne::prepare() {
  DLRT_TRY(cuda.check(begin.create(cuda, eventWithTime), "making an event"));
  return cuda.check(end.create(cuda, eventWithTime), "making an event");
}

void OneByOne::add(const fb::PlanT &plan, Pointer arena) {
  std::vector<Bytes> kept;
  auto keep = [&](uint32_t buffer) {
    kept.push_back(
        {arena + plan.buffers[buffer]->offset, plan.buffers[buffer]->bytes});
  };
  for (const auto &state : plan.states)
    keep(state->buffer);
  // Metrics are asked for when other programs have run.
  for (const auto &step : plan.steps)
    for (const auto &program : step->programs) {
      for (const auto &metric : program->metrics)
        keep(metric->buffer);
      for (const auto &flag : program->errors)
        keep(flag->buffer);
    }
  std::sort(kept.begin(), kept.end(),
            [](auto &a, auto &b) { return a.begin < b.begin; });
  Pointer at = arena;
  for (const Bytes &piece : kept) {
    if (piece.begin > at)
      dead.push_back({at, piece.begin - at});
    at = std::max(at, piece.begin + piece.bytes);
  }
  if (arena + plan.arena_bytes > at)
    dead.push_back({at, arena + plan.arena_bytes - at});
}

/// As they stand, or any order that is allowed.
void OneByOne::chooseOrder(const BoundProgram &program) {
  size_t count = program.commands.size();
  order.resize(count);
  std::iota(order.begin(), order.end(), 0u);
  if (!checks.orderSeed)
    return;
  order.clear();
  ready.clear();
  waitsFor.assign(count, 0);
  for (uint32_t c = 0; c < count; ++c) {
    waitsFor[c] = static_cast<uint32_t>(program.commands[c].after.size());
    if (waitsFor[c] == 0)
      ready.push_back(c);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    uint32_t chosen = ready.back();
    ready.pop_back();
    order.push_back(chosen);
    for (uint32_t c = chosen + 1; c < count; ++c) {
      const std::vector<uint32_t> &after = program.commands[c].after;
      if (std::binary_search(after.begin(), after.end(), chosen) &&
          --waitsFor[c] == 0)
        ready.push_back(c);
    }
  }
}

Status OneByOne::poison() {
  constexpr unsigned char nan = 0xff; // of each floating-point type
  for (const Bytes &piece : dead)
    DLRT_TRY(cuda.check(cuda.fill(piece.begin, nan, piece.bytes, stream),
                        "poisoning the device's memory"));
  return {};
}

Status OneByOne::transfer(const Transfer &transfer, bool toDevice) {
  Result result = toDevice ? cuda.copyToDevice(transfer.device, transfer.host,
                                               transfer.bytes, stream)
                           : cuda.copyToHost(transfer.host, transfer.device,
                                             transfer.bytes, stream);
  if (result == success)
    result = cuda.streamSynchronize(stream);
  return cuda.check(result, toDevice ? "copying a batch to the device"
                                     : "copying metrics from the device");
}

Status OneByOne::run(const BoundProgram &program, const Launch &launch) {
  uint64_t started = traceClock();
  if (record)
    ++record->launch;
  if (checks.poison)
    DLRT_TRY(poison());
  if (program.batch)
    DLRT_TRY(transfer(*program.batch, /*toDevice=*/true));
  chooseOrder(program);
  for (uint32_t command : order)
    DLRT_TRY(runCommand(program, command));
  for (const Transfer &report : program.reports)
    DLRT_TRY(transfer(report, /*toDevice=*/false));
  if (record)
    record->runs.add({started, traceClock(), record->launch, launch.step,
                      launch.kind, static_cast<uint64_t>(launch.scalars[1])});
  return {};
}

Status OneByOne::runCommand(const BoundProgram &program, uint32_t index) {
  const Command &command = program.commands[index];
  Result result = cuda.eventRecord(begin.get(), stream);
  if (result == success && command.product) {
    DLRT_TRY(command.product->call(command.operands, stream,
                                   command.kernel->description));
  } else if (result == success && command.kernel) {
    const Kernel &kernel = *command.kernel;
    result =
        cuda.launchKernel(kernel.function, kernel.blocks, 1, 1, kernel.threads,
                          1, 1, kernel.sharedBytes, stream,
                          const_cast<void **>(command.places.data()), nullptr);
  }
  for (const CopyOnDevice &copy : command.copies)
    if (result == success && copy.bytes != 0)
      result = cuda.copyOnDevice(copy.to, copy.from, copy.bytes, stream);
  if (result == success && !command.messages.empty())
    DLRT_TRY(communicator.start(command.messages, stream, command.description));
  if (result == success)
    result = cuda.eventRecord(end.get(), stream);
  if (result == success)
    DLRT_TRY(communicator.wait(end.get(), result).within(command.description));
  if (result != success)
    return cuda.check(result, command.description);
  if (!record)
    return {};
  uint64_t now = traceClock();
  float milliseconds = 0;
  DLRT_TRY(cuda.check(cuda.eventElapsed(&milliseconds, begin.get(), end.get()),
                      "asking for a command's time"));
  // As long as the device took, and as late as the host knows of it.
  uint64_t took = static_cast<uint64_t>(std::max(milliseconds, 0.0f) * 1e6f);
  record->threads[0].add({now - took, now, record->launch, command.rank,
                          command.number, 0, command.tiles});
  return {};
}
