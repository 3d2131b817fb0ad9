#include "tools/dlrun/Device.h"

#include "runtime/api/DeviceOfTarget.h"
#include "runtime/device/cuda/DeviceFactory.h"
#include "runtime/plan/Memories.h"

using namespace dlrt;

DeviceFactory dlrun::deviceFactory() { return deviceOfTarget(); }

Status dlrun::lackForProcesses(const fb::PlanT &plan) {
  return targetOf(plan) == fb::Target::Cuda ? cudaForProcesses() : Status();
}

Expected<uint32_t> dlrun::gpuForRank(const fb::PlanT &plan,
                                     Transport &transport,
                                     const std::string &host) {
  return targetOf(plan) == fb::Target::Cuda ? gpuOfRank(transport, host) : 0u;
}
