// What the emulated driver says to emulated libraries beside it, and to nobody
// else: no driver has these functions.
#include "test/device/Driver.h"

using namespace emulated;

extern "C" __attribute__((visibility("default"))) int
dlemuEnter(const char *name) {
  std::lock_guard<std::recursive_mutex> lock(driver().mutex);
  return driver().enter(name);
}

extern "C" __attribute__((visibility("default"))) bool
dlemuHolds(DevicePointer at, size_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(driver().mutex);
  return driver().memory.holds(at, bytes);
}
