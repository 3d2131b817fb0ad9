#include "test/runtime/LazyDevice.h"

#include "runtime/plan/InputRing.h"
#include "runtime/plan/StepPrograms.h"

#include <fmt/format.h>

#include <cstring>
#include <sys/mman.h>

using namespace dlrt;
using namespace dlrt::test;

static void protect(const Executor &executor, int protection) {
  for (uint32_t rank = 0; rank < executor.ranks(); ++rank) {
    MemoryRange range = executor.memory(rank);
    if (range.bytes != 0 && mprotect(range.begin, range.bytes, protection) != 0)
      std::abort();
  }
}

class LazyDevice::Access {
public:
  explicit Access(const Executor &executor) : executor(executor) {
    protect(executor, PROT_READ | PROT_WRITE);
  }
  ~Access() { protect(executor, PROT_NONE); }

private:
  const Executor &executor;
};

LazyDevice::LazyDevice(const LoadedPlan &loaded, const Ranks &ranks,
                       std::unique_ptr<Executor> executor)
    : set(loaded), range(ranks), inner(std::move(executor)) {
  for (const auto &setting : set.first().settings)
    settings.push_back(setting->value);
  for (uint32_t step = 0; step < set.first().steps.size(); ++step) {
    staging.emplace_back();
    for (uint32_t rank = 0; rank < range.count; ++rank) {
      const fb::PlanT &plan = set.of(range.first + rank);
      Staging &out = staging.back().emplace_back();
      out.bytes = inputRing(set.mesh, plan, *plan.steps[step]).componentBytes;
      for (uint64_t bytes : out.bytes) {
        out.offsets.push_back(out.slotBytes);
        out.slotBytes += bytes;
      }
      out.memory.resize(out.slotBytes * inner->inputSlots(step));
    }
  }
  protect(*inner, PROT_NONE);
}

LazyDevice::~LazyDevice() { protect(*inner, PROT_READ | PROT_WRITE); }

Expected<std::unique_ptr<Device>>
LazyDevice::create(const LoadedPlan &loaded, const DeviceOptions &options) {
  auto executor = Executor::create(loaded, options);
  if (!executor)
    return executor.takeError();
  return std::unique_ptr<Device>(
      new LazyDevice(loaded, options.ranks, std::move(*executor)));
}

Ticket LazyDevice::submit(const Launch &launch) {
  if (queue.size() == launchesAhead)
    runOldest();
  queue.push_back({launch, settings});
  return finished + queue.size();
}

void LazyDevice::copyBatch(const Launch &launch, uint32_t rank) {
  const std::vector<uint64_t> &bytes = staging[launch.step][rank].bytes;
  for (size_t c = 0; c < bytes.size(); ++c) {
    InputPlace place = {launch.step, launch.slot, c, rank};
    if (bytes[c] != 0)
      std::memcpy(inner->inputAddress(place), inputAddress(place), bytes[c]);
  }
}

/// The inner executor numbers launches as this one does.
void LazyDevice::runOldest() {
  const Launch &launch = queue.front().launch;
  for (size_t i = 0; i < settings.size(); ++i)
    inner->setSetting(i, queue.front().settings[i]);
  Access access(*inner);
  for (uint32_t rank = 0; rank < range.count; ++rank)
    if (hasBatch(launch.kind))
      copyBatch(launch, rank);
  (void)inner->wait(inner->submit(launch)); // asked for again by its waiter
  queue.pop_front();
  ++finished;
}

Expected<Report> LazyDevice::wait(Ticket ticket) {
  while (finished < ticket && !queue.empty())
    runOldest();
  return inner->wait(ticket);
}

Status LazyDevice::read(const BufferPlace &from,
                        std::span<uint8_t> into) const {
  DLRT_TRY(checkAccess(set, range, from, into.size(), queue.size()));
  Access access(*inner);
  return inner->read(from, into);
}

Status LazyDevice::write(const BufferPlace &to, std::span<const uint8_t> from) {
  DLRT_TRY(checkAccess(set, range, to, from.size(), queue.size()));
  Access access(*inner);
  return inner->write(to, from);
}

uint8_t *LazyDevice::inputAddress(const InputPlace &place) const {
  const Staging &in = staging[place.step][place.rank];
  if (in.bytes[place.component] == 0)
    return nullptr;
  return in.memory.data() + place.slot * in.slotBytes +
         in.offsets[place.component];
}
