#include "tools/dlrun/Device.h"

#include "runtime/device/cuda/DeviceFactory.h"
#include "runtime/exec/CpuDevice.h"
#include "runtime/plan/Memories.h"

using namespace dlrt;

/// The one that the plan was compiled for.
DeviceFactory dlrun::deviceFactory() {
  return [](const LoadedPlan &loaded, const DeviceOptions &options) {
    return targetOf(loaded.first()) == fb::Target::Cuda
               ? cudaDevice(loaded, options)
               : cpuDevice(loaded, options);
  };
}

Status dlrun::lackForProcesses(const fb::PlanT &plan) {
  return targetOf(plan) == fb::Target::Cuda ? cudaForProcesses() : Status();
}

Expected<uint32_t> dlrun::gpuForRank(const fb::PlanT &plan,
                                     Transport &transport,
                                     const std::string &host) {
  return targetOf(plan) == fb::Target::Cuda ? gpuOfRank(transport, host) : 0u;
}
