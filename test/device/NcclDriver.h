// What the emulated driver says to the emulated NCCL; see ForLibraries.cpp.
#ifndef DL_TEST_DEVICE_NCCL_DRIVER_H
#define DL_TEST_DEVICE_NCCL_DRIVER_H

#include <cstddef>

namespace emulated::nccl {

struct DriverCalls {
  int (*enter)(const char *name);
  bool (*holds)(unsigned long long at, size_t bytes);
  int (*issue)(void *stream, int (*run)(void *), void (*release)(void *),
               void *data);
  bool (*captures)(void *stream);
  int (*device)();
  void (*progress)(bool patient);
};

const DriverCalls &driver();

} // namespace emulated::nccl

#endif
