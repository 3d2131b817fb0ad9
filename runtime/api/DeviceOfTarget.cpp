#include "runtime/api/DeviceOfTarget.h"

#include "runtime/device/cuda/DeviceFactory.h"
#include "runtime/exec/CpuDevice.h"
#include "runtime/plan/Memories.h"

using namespace dlrt;

DeviceFactory dlrt::deviceOfTarget() {
  return [](const LoadedPlan &loaded, const DeviceOptions &options) {
    return targetOf(loaded.first()) == fb::Target::Cuda
               ? cudaDevice(loaded, options)
               : cpuDevice(loaded, options);
  };
}
