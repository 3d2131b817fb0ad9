// Launches under way: what is called in each step.
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <cstring>

using namespace dlrt;
using namespace dlrt::cuda;

CudaDevice::Run &CudaDevice::runOf(const Launch &launch, Program &program) {
  if (!hasBatch(launch.kind))
    return program.runs[program.updates++ % Places::updateSlots];
  return program.runs[launch.slot];
}

Ticket CudaDevice::submit(const Launch &launch) {
  if (submitted - finished == launchesAhead)
    finishOldest();
  size_t index = programIndex(*plan.steps[launch.step], launch.kind);
  Program &program = steps[launch.step].programs[index];
  Run &run = runOf(launch, program);
  // What stands in its memory on the host must have been taken from there.
  while (run.last > finished)
    finishOldest();
  queue[submitted % launchesAhead] = {launch, &program, &run};
  run.last = ++submitted;
  std::memcpy(run.places.values, launch.scalars.data(), sizeof(launch.scalars));
  if (!settings.empty())
    std::memcpy(run.places.values + scalarCount * sizeof(int64_t),
                settings.data(), settings.size() * sizeof(double));
  if (lost.ok())
    lose(start(launch, program, run), submitted);
  blocksRun += program.blocks;
  return submitted;
}

Status CudaDevice::start(const Launch &launch, Program &program, Run &run) {
  DLRT_TRY(enter());
  Event end = done[(submitted - 1) % launchesAhead].get();
  if (oneByOne) {
    DLRT_TRY(oneByOne->run(run.bound, launch));
    return failure(program, cuda.eventRecord(end, stream.get()));
  }
  Result result = success;
  if (hasBatch(launch.kind) && places.steps[launch.step].areas > 1)
    result = bringBatch(launch.step, run);
  if (result == success)
    result = cuda.graphLaunch(run.exec, stream.get());
  if (result == success)
    result = cuda.eventRecord(end, stream.get());
  return failure(program, result);
}

/// While earlier steps run, as soon as nobody reads the area any more.
Result CudaDevice::bringBatch(uint32_t step, const Run &run) {
  const StepPlaces &own = places.steps[step];
  Ticket &user = steps[step].areaUsers[run.places.area];
  Event here = copied[(submitted - 1) % launchesAhead].get();
  Result result = success;
  if (user > finished)
    result = cuda.streamWaitEvent(copies.get(),
                                  done[(user - 1) % launchesAhead].get(), 0);
  user = submitted;
  if (result == success)
    result = cuda.copyToDevice(memory.at(own.device[run.places.area]),
                               run.places.values, own.areaBytes, copies.get());
  if (result == success)
    result = cuda.eventRecord(here, copies.get());
  if (result == success)
    result = cuda.streamWaitEvent(stream.get(), here, 0);
  return result;
}

/// After the first failure nothing of the device can be relied on.
void CudaDevice::lose(Status status, Ticket ticket) {
  if (status.ok() || (firstLost != 0 && firstLost <= ticket))
    return;
  lost = std::move(status);
  firstLost = ticket;
  disconnect();
}

/// One kernel is named; where there are more, the driver does not say which.
Status CudaDevice::failure(const Program &program, Result result) const {
  if (result == success)
    return {};
  std::string place =
      program.kernels == 1
          ? program.kernel->description
          : fmt::format("one of its {} kernels (with --trace they run one by "
                        "one, and it is named)",
                        program.kernels);
  return cuda.check(result, fmt::format("{} on {}: {}", program.description,
                                        facts.name, place));
}

Expected<Report> CudaDevice::wait(Ticket ticket) {
  if (ticket == 0 || ticket > submitted)
    return Status(
        Code::Bug,
        fmt::format("launch {} is waited for, but not submitted", ticket));
  DLRT_TRY(enter());
  while (finished < ticket)
    finishOldest();
  if (firstLost != 0 && ticket >= firstLost)
    return lost;
  return reports.of(ticket);
}

void CudaDevice::finishOldest() {
  const Queued &queued = queue[finished % launchesAhead];
  const Program &program = *queued.program;
  Event end = done[finished % launchesAhead].get();
  Ticket ticket = ++finished;
  if (firstLost != 0 && firstLost <= ticket)
    return;
  current.store(program.description.c_str(), std::memory_order_relaxed);
  Result result = success;
  Status connected = communicator.wait(end, result);
  current.store(nullptr, std::memory_order_relaxed);
  if (!connected.ok())
    return lose(std::move(connected).within(program.description), ticket);
  if (result != success)
    return lose(failure(program, result), ticket);
  const uint8_t *report = queued.run->places.report;
  reports.note(
      ticket, queued.launch,
      [&](uint32_t rank, uint32_t buffer, uint32_t bytes, uint8_t *into) {
        std::memcpy(into, report + program.places->positionOf(rank, buffer),
                    bytes);
      });
}
