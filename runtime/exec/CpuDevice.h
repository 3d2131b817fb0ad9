// The processor's cores as a device.
#ifndef DLRT_EXEC_CPUDEVICE_H
#define DLRT_EXEC_CPUDEVICE_H

#include "runtime/device/Device.h"

namespace dlrt {

/// A DeviceFactory.
Expected<std::unique_ptr<Device>> cpuDevice(const LoadedPlan &loaded,
                                            const DeviceOptions &options);

} // namespace dlrt

#endif
