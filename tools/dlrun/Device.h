// The device that the commands run on.
#ifndef DLRUN_DEVICE_H
#define DLRUN_DEVICE_H

#include "runtime/device/Device.h"

#include <string>

namespace dlrun {

/// Apart from the commands, so that tests can link them with another one.
dlrt::DeviceFactory deviceFactory();

/// What the machine lacks for ranks of this plan that are processes.
dlrt::Status lackForProcesses(const dlrt::fb::PlanT &plan);
/// DeviceOptions::gpu of this rank. All call it together, and get the same
/// error if there is one. `host` is for messages.
dlrt::Expected<uint32_t> gpuForRank(const dlrt::fb::PlanT &plan,
                                    dlrt::Transport &transport,
                                    const std::string &host);

} // namespace dlrun

#endif
