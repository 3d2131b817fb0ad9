// The part of CUDA's driver interface that the device needs, declared here, so
// that nothing of the toolkit is needed to build or to run: the driver is
// opened when a plan for CUDA is.
#ifndef DLRT_DEVICE_CUDA_DRIVER_H
#define DLRT_DEVICE_CUDA_DRIVER_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace dlrt::cuda {

using Result = int;
using Ordinal = int;
using Pointer = unsigned long long;
using Context = struct ContextT *;
using Module = struct ModuleT *;
using Function = struct FunctionT *;
using Stream = struct StreamT *;
using Event = struct EventT *;
using Graph = struct GraphT *;
using Node = struct NodeT *;
using Exec = struct ExecT *;

/// CUuuid: which piece of hardware a device is, whatever its number here.
struct DeviceId {
  uint8_t bytes[16];
};

/// CUDA_KERNEL_NODE_PARAMS, its second version.
struct KernelNode {
  Function function;
  unsigned grid[3], block[3], sharedBytes;
  void **arguments, **extra;
  void *kernel;
  Context context;
};

/// CUDA_MEMCPY3D, of which one row is used.
struct CopyNode {
  struct Side {
    size_t xInBytes, y, z, levelOfDetail;
    unsigned memoryType;
    void *host;
    Pointer device;
    void *array, *reserved;
    size_t pitch, height;
  };
  Side from, to;
  size_t widthInBytes, height, depth;
};

enum : Result {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  stubLibrary = 34,
  deviceUnavailable = 46, ///< another process has it alone
  noDevice = 100,
  invalidDevice = 101,
  invalidImage = 200,
  invalidContext = 201,
  noBinaryForDevice = 209,
  invalidPtx = 218,
  noPtxCompiler = 221,
  unsupportedPtx = 222,
  invalidSource = 300,
  invalidHandle = 400,
  notFound = 500,
  notReady = 600,
  notSupported = 801,
  systemNotReady = 802,
  driverMismatch = 803,
  deviceNotSupported = 804,
};

enum : int { // attributes of a device
  attributeMaxThreads = 1,
  attributeMajor = 75,
  attributeMinor = 76,
  attributeMaxShared = 97, ///< of a block whose function asks for it
};

enum : int { // attributes of a function
  functionMaxThreads = 0,
  functionSharedBytes = 1, ///< that its code declares
  functionMaxDynamicShared = 8,
};

enum : unsigned {
  memoryOfHost = 1,
  memoryOfDevice = 2,
  streamNonBlocking = 1,
  captureRelaxed = 2, ///< of a stream, whatever else is called meanwhile
  eventWithTime = 0,
  eventWithoutTime = 2,
};

/// Member, symbol, arguments. Symbols are what cuda.h's macros make of the
/// names in the documentation: many end in _v2.
#define DLRT_CUDA_FUNCTIONS(X)                                                 \
  X(init, cuInit, (unsigned))                                                  \
  X(driverVersion, cuDriverGetVersion, (int *))                                \
  X(errorName, cuGetErrorName, (Result, const char **))                        \
  X(errorString, cuGetErrorString, (Result, const char **))                    \
  X(deviceCount, cuDeviceGetCount, (int *))                                    \
  X(deviceGet, cuDeviceGet, (Ordinal *, int))                                  \
  X(deviceName, cuDeviceGetName, (char *, int, Ordinal))                       \
  X(deviceId, cuDeviceGetUuid_v2, (DeviceId *, Ordinal))                       \
  X(deviceAttribute, cuDeviceGetAttribute, (int *, int, Ordinal))              \
  X(retainContext, cuDevicePrimaryCtxRetain, (Context *, Ordinal))             \
  X(releaseContext, cuDevicePrimaryCtxRelease_v2, (Ordinal))                   \
  X(setContext, cuCtxSetCurrent, (Context))                                    \
  X(loadModule, cuModuleLoadData, (Module *, const void *))                    \
  X(unloadModule, cuModuleUnload, (Module))                                    \
  X(getFunction, cuModuleGetFunction, (Function *, Module, const char *))      \
  X(functionAttribute, cuFuncGetAttribute, (int *, int, Function))             \
  X(setFunctionAttribute, cuFuncSetAttribute, (Function, int, int))            \
  X(memoryAllocate, cuMemAlloc_v2, (Pointer *, size_t))                        \
  X(memoryFree, cuMemFree_v2, (Pointer))                                       \
  X(memoryInfo, cuMemGetInfo_v2, (size_t *, size_t *))                         \
  X(hostAllocate, cuMemHostAlloc, (void **, size_t, unsigned))                 \
  X(hostFree, cuMemFreeHost, (void *))                                         \
  X(copyToDevice, cuMemcpyHtoDAsync_v2,                                        \
    (Pointer, const void *, size_t, Stream))                                   \
  X(copyToHost, cuMemcpyDtoHAsync_v2, (void *, Pointer, size_t, Stream))       \
  X(copyOnDevice, cuMemcpyDtoDAsync_v2, (Pointer, Pointer, size_t, Stream))    \
  X(fill, cuMemsetD8Async, (Pointer, unsigned char, size_t, Stream))           \
  X(streamCreate, cuStreamCreate, (Stream *, unsigned))                        \
  X(streamDestroy, cuStreamDestroy_v2, (Stream))                               \
  X(streamSynchronize, cuStreamSynchronize, (Stream))                          \
  X(streamWaitEvent, cuStreamWaitEvent, (Stream, Event, unsigned))             \
  X(eventCreate, cuEventCreate, (Event *, unsigned))                           \
  X(eventDestroy, cuEventDestroy_v2, (Event))                                  \
  X(eventRecord, cuEventRecord, (Event, Stream))                               \
  X(eventSynchronize, cuEventSynchronize, (Event))                             \
  X(eventQuery, cuEventQuery, (Event))                                         \
  X(eventElapsed, cuEventElapsedTime, (float *, Event, Event))                 \
  X(launchKernel, cuLaunchKernel,                                              \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, Stream, void **, void **))                                      \
  X(graphCreate, cuGraphCreate, (Graph *, unsigned))                           \
  X(graphDestroy, cuGraphDestroy, (Graph))                                     \
  X(addKernelNode, cuGraphAddKernelNode_v2,                                    \
    (Node *, Graph, const Node *, size_t, const KernelNode *))                 \
  X(addCopyNode, cuGraphAddMemcpyNode,                                         \
    (Node *, Graph, const Node *, size_t, const CopyNode *, Context))          \
  X(addEmptyNode, cuGraphAddEmptyNode, (Node *, Graph, const Node *, size_t))  \
  X(addChildGraph, cuGraphAddChildGraphNode,                                   \
    (Node *, Graph, const Node *, size_t, Graph))                              \
  X(beginCapture, cuStreamBeginCapture_v2, (Stream, unsigned))                 \
  X(endCapture, cuStreamEndCapture, (Stream, Graph *))                         \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (Exec *, Graph, unsigned long long))                                       \
  X(graphUpload, cuGraphUpload, (Exec, Stream))                                \
  X(graphLaunch, cuGraphLaunch, (Exec, Stream))                                \
  X(execDestroy, cuGraphExecDestroy, (Exec))

struct Driver {
#define DLRT_CUDA_MEMBER(member, symbol, arguments) Result(*member) arguments;
  DLRT_CUDA_FUNCTIONS(DLRT_CUDA_MEMBER)
#undef DLRT_CUDA_MEMBER

  /// Opened and initialised once a process; says what is missing.
  static Expected<const Driver *> open();

  /// "out of memory (CUDA_ERROR_OUT_OF_MEMORY)"
  std::string textOf(Result result) const;
  /// An error of its kind: no device or memory, code that does not fit, a lost
  /// device, or a mistake of ours.
  Status check(Result result, const std::string &what) const;
};

} // namespace dlrt::cuda

#endif
