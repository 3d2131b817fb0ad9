// NCCL's types as the emulated library needs them: declared anew from NVIDIA's
// documentation, so that it shares no mistake with the runtime's own
// declarations. NcclAbiCheck.cpp compares them with nccl.h where that is.
#ifndef DL_TEST_DEVICE_NCCL_API_H
#define DL_TEST_DEVICE_NCCL_API_H

#include <cstddef>

namespace emulated::nccl {

enum Status : int {
  Success = 0,
  SystemError = 2,
  InternalError = 3,
  InvalidArgument = 4,
  InvalidUsage = 5,
  RemoteError = 6,
};

enum DataType : int { Int8 = 0, Uint8 = 1 };

struct UniqueId {
  char bytes[128];
};

} // namespace emulated::nccl

#endif
