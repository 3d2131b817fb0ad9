// Ranks that are processes share out the GPUs that they see.
#include "runtime/comm/Transport.h"
#include "runtime/device/cuda/DeviceFactory.h"
#include "runtime/device/cuda/Nccl.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>

using namespace dlrt;
using namespace dlrt::cuda;

using IdBytes = std::array<uint8_t, sizeof(DeviceId)>;

static Expected<std::vector<DeviceId>> visibleDevices() {
  Expected<const Driver *> driver = Driver::open();
  if (!driver)
    return driver.takeError();
  const Driver &cuda = **driver;
  int count = 0;
  DLRT_TRY(cuda.check(cuda.deviceCount(&count), "counting devices"));
  std::vector<DeviceId> ids(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    Ordinal device = 0;
    DLRT_TRY(cuda.check(cuda.deviceGet(&device, i), "finding a device"));
    DLRT_TRY(cuda.check(cuda.deviceId(&ids[static_cast<size_t>(i)], device),
                        "asking for a device's number"));
  }
  return ids;
}

Status dlrt::cudaForProcesses() {
  auto devices = visibleDevices();
  if (!devices)
    return devices.takeError();
  if (devices->empty())
    return {Code::Unavailable,
            "the plan is for CUDA, and there is no NVIDIA GPU"};
  return nccl::Library::open().takeError();
}

/// What a rank tells: its GPUs, then its host.
static std::vector<uint8_t> told(const std::vector<DeviceId> &ids,
                                 const std::string &host) {
  std::vector<uint8_t> bytes(1 + ids.size() * sizeof(DeviceId));
  bytes[0] = static_cast<uint8_t>(ids.size());
  std::memcpy(bytes.data() + 1, ids.data(), ids.size() * sizeof(DeviceId));
  bytes.insert(bytes.end(), host.begin(), host.end());
  return bytes;
}

static Status noneLeft(uint32_t rank, uint32_t count, uint32_t holder,
                       const std::string &host) {
  return {
      Code::Unavailable,
      fmt::format("rank {} has no GPU of its own: its process on host {} "
                  "sees {}, and NCCL takes one rank to a GPU. Start fewer "
                  "processes on that host, or show them more GPUs "
                  "(CUDA_VISIBLE_DEVICES); dlrun PLAN, without -np and "
                  "mpirun, runs all ranks in one process on one GPU",
                  rank, host,
                  count == 1
                      ? fmt::format("one GPU, which rank {} has", holder)
                      : fmt::format("{} GPUs, which other ranks have", count))};
}

/// Each in turn takes the first that it sees and no earlier rank has: the
/// second of a host's processes the second GPU, and a process that its launcher
/// has given one of its own that one.
Expected<uint32_t> dlrt::gpuOfRank(Transport &transport,
                                   const std::string &host) {
  auto devices = visibleDevices(); // of all, whatever goes wrong here
  auto all = transport.gather(
      told(devices ? *devices : std::vector<DeviceId>(), host));
  if (!all)
    return all.takeError();
  std::map<IdBytes, uint32_t> takenBy;
  uint32_t own = 0;
  for (uint32_t rank = 0; rank < all->size(); ++rank) {
    const std::vector<uint8_t> &bytes = (*all)[rank];
    uint32_t count = bytes[0], chosen = 0;
    auto idOf = [&](uint32_t index) {
      IdBytes id;
      std::memcpy(id.data(), &bytes[1 + index * id.size()], id.size());
      return id;
    };
    while (chosen < count && takenBy.contains(idOf(chosen)))
      ++chosen;
    if (chosen == count)
      return noneLeft(
          rank, count, count == 0 ? 0 : takenBy[idOf(0)],
          {bytes.begin() + 1 + static_cast<ptrdiff_t>(count * sizeof(DeviceId)),
           bytes.end()});
    takenBy[idOf(chosen)] = rank;
    if (rank == transport.rank())
      own = chosen;
  }
  return own;
}
