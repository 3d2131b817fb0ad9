// The types of CUDA's driver interface as the emulated driver needs them:
// declared anew from NVIDIA's documentation, so that it shares no mistake with
// the runtime's own declarations. AbiCheck.cpp compares both with cuda.h where
// that is.
#ifndef DL_TEST_DEVICE_API_H
#define DL_TEST_DEVICE_API_H

#include <cstddef>
#include <cstdint>

namespace emulated {

enum Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  InvalidPtx = 218,
  InvalidSource = 300,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  LaunchFailed = 719,
  NotSupported = 801,
  CaptureUnsupported = 900,
  CaptureUnjoined = 904,
  Unknown = 999,
};

using DevicePointer = unsigned long long;

struct ContextT;
struct ModuleT;
struct FunctionT;
struct StreamT;
struct EventT;
struct GraphT;
struct NodeT;
struct ExecT;

struct KernelNodeParams {
  FunctionT *function;
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void **arguments, **extra;
  void *kernel;
  ContextT *context;
};

struct MemsetNodeParams {
  DevicePointer to;
  size_t pitch;
  unsigned value, elementBytes;
  size_t width, height;
};

enum MemoryType : unsigned {
  HostMemory = 1,
  DeviceMemoryType = 2,
  UnifiedMemory = 4
};

struct CopySide {
  size_t x, y, z, levelOfDetail;
  MemoryType type;
  void *host;
  DevicePointer device;
  void *array, *reserved;
  size_t pitch, height;
};

struct CopyParams { // CUDA_MEMCPY3D
  CopySide from, to;
  size_t width, height, depth;
};

struct HostNodeParams {
  void (*function)(void *);
  void *data;
};

enum DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxBlockX = 2,
  MaxBlockY = 3,
  MaxBlockZ = 4,
  MaxGridX = 5,
  MaxGridY = 6,
  MaxGridZ = 7,
  MaxSharedPerBlock = 8,
  WarpSize = 10,
  ClockRate = 13,
  Multiprocessors = 16,
  MemoryClockRate = 36,
  MemoryBusWidth = 37,
  AsyncEngines = 40,
  UnifiedAddressing = 41,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  MaxSharedPerBlockOptin = 97,
};

enum FunctionAttribute : int {
  FunctionMaxThreads = 0,
  FunctionSharedBytes = 1,
  FunctionLocalBytes = 3,
  FunctionRegisters = 4,
  FunctionMaxDynamicShared = 8,
};

} // namespace emulated

#endif
