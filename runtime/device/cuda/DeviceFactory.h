// GPUs as a device.
#ifndef DLRT_DEVICE_CUDA_DEVICEFACTORY_H
#define DLRT_DEVICE_CUDA_DEVICEFACTORY_H

#include "runtime/device/Device.h"

namespace dlrt {

/// A DeviceFactory. Needs NVIDIA's driver when it is called, not before.
Expected<std::unique_ptr<Device>> cudaDevice(const LoadedPlan &loaded,
                                             const DeviceOptions &options);

} // namespace dlrt

#endif
