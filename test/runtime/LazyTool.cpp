// dlrun on the device that the host cannot reach into.
#include "test/runtime/LazyDevice.h"
#include "tools/dlrun/Device.h"

dlrt::DeviceFactory dlrun::deviceFactory() {
  return dlrt::test::LazyDevice::create;
}

dlrt::Status dlrun::lackForProcesses(const dlrt::fb::PlanT &) { return {}; }

dlrt::Expected<uint32_t> dlrun::gpuForRank(const dlrt::fb::PlanT &,
                                           dlrt::Transport &,
                                           const std::string &) {
  return 0u;
}
