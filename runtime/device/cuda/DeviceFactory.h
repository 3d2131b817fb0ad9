// GPUs as a device.
#ifndef DLRT_DEVICE_CUDA_DEVICEFACTORY_H
#define DLRT_DEVICE_CUDA_DEVICEFACTORY_H

#include "runtime/device/Device.h"

#include <string>

namespace dlrt {

/// A DeviceFactory. Needs NVIDIA's driver when it is called, not before.
Expected<std::unique_ptr<Device>> cudaDevice(const LoadedPlan &loaded,
                                             const DeviceOptions &options);

/// What this machine lacks for ranks that are processes with a GPU each.
Status cudaForProcesses();

/// DeviceOptions::gpu of this process, which is one rank; NCCL takes one rank
/// to a GPU. All ranks call it together, and get the same error if there are
/// too few. `host` is for messages.
Expected<uint32_t> gpuOfRank(Transport &transport, const std::string &host);

} // namespace dlrt

#endif
