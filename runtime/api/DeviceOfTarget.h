// Which device runs a plan.
#ifndef DLRT_API_DEVICEOFTARGET_H
#define DLRT_API_DEVICEOFTARGET_H

#include "runtime/device/Device.h"

namespace dlrt {

/// The one that the plan was compiled for.
DeviceFactory deviceOfTarget();

} // namespace dlrt

#endif
