// dlrun on the device that the host cannot reach into.
#include "test/runtime/LazyDevice.h"
#include "tools/dlrun/Device.h"

dlrt::DeviceFactory dlrun::deviceFactory() {
  return dlrt::test::LazyDevice::create;
}
