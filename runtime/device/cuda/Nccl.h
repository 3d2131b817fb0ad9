// The part of NVIDIA's library for communication that the device needs,
// declared here, so that nothing of the toolkit is needed to build or to run:
// the library is opened when ranks are processes with a GPU each.
#ifndef DLRT_DEVICE_CUDA_NCCL_H
#define DLRT_DEVICE_CUDA_NCCL_H

#include "runtime/device/cuda/Driver.h"

namespace dlrt::cuda::nccl {

using Status = int;
using Handle = struct HandleT *;

/// ncclUniqueId: one rank makes it, all start their communicator with it.
struct UniqueId {
  char bytes[128];
};

enum : Status { statusSuccess = 0, statusInProgress = 7 };
enum : int { typeByte = 0 }; // ncclDataType_t: ncclInt8

/// Member, symbol, result, arguments.
#define DLRT_NCCL_FUNCTIONS(X)                                                 \
  X(version, ncclGetVersion, Status, (int *))                                  \
  X(statusText, ncclGetErrorString, const char *, (Status))                    \
  X(lastError, ncclGetLastError, const char *, (Handle))                       \
  X(uniqueId, ncclGetUniqueId, Status, (UniqueId *))                           \
  X(create, ncclCommInitRank, Status, (Handle *, int, UniqueId, int))          \
  X(destroy, ncclCommDestroy, Status, (Handle))                                \
  X(abort, ncclCommAbort, Status, (Handle))                                    \
  X(asyncError, ncclCommGetAsyncError, Status, (Handle, Status *))             \
  X(groupStart, ncclGroupStart, Status, ())                                    \
  X(groupEnd, ncclGroupEnd, Status, ())                                        \
  X(send, ncclSend, Status, (const void *, size_t, int, int, Handle, Stream))  \
  X(receive, ncclRecv, Status, (void *, size_t, int, int, Handle, Stream))

/// The library of this process.
struct Library {
#define DLRT_NCCL_MEMBER(member, symbol, result, arguments)                    \
  result(*member) arguments;
  DLRT_NCCL_FUNCTIONS(DLRT_NCCL_MEMBER)
#undef DLRT_NCCL_MEMBER

  /// "NCCL 2.28.9"
  std::string name() const;
  /// With the library's own words, about `handle`, which may be null.
  dlrt::Status check(Status status, Code code, const std::string &what,
                     Handle handle = nullptr) const;

  static constexpr const char *file = "libnccl.so.2";
  /// The first of CUDA 12, which the driver's functions need.
  static constexpr int leastVersion = 21600;
  /// Opened once a process; says what is missing.
  static Expected<const Library *> open();
};

} // namespace dlrt::cuda::nccl

#endif
