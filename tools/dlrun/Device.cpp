#include "tools/dlrun/Device.h"

#include "runtime/exec/CpuDevice.h"

dlrt::DeviceFactory dlrun::deviceFactory() { return dlrt::cpuDevice; }
