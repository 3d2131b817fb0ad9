// The device that the commands run on.
#ifndef DLRUN_DEVICE_H
#define DLRUN_DEVICE_H

#include "runtime/device/Device.h"

namespace dlrun {

/// Apart from the commands, so that tests can link them with another one.
dlrt::DeviceFactory deviceFactory();

} // namespace dlrun

#endif
