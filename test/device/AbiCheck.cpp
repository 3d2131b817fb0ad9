// Compiles only if Api.h and DriverApi.h say what cuda.h says: names, sizes and
// kinds of arguments, layouts, numbers. Built where cuda.h is.
#include "test/abi/SameCall.h"
#include "test/device/DriverApi.h"

#include <cstddef>
#include <cuda.h>

namespace emulated {

using dlabi::IsSame;

#define CHECK(name)                                                            \
  static_assert(IsSame<decltype(DriverApi::name), decltype(&::name)>::value,   \
                #name)
CHECK(cuInit);
CHECK(cuGetErrorName);
CHECK(cuDeviceGetAttribute);
CHECK(cuDevicePrimaryCtxRetain);
CHECK(cuDevicePrimaryCtxReset_v2);
CHECK(cuCtxSetCurrent);
CHECK(cuModuleLoadData);
CHECK(cuModuleUnload);
CHECK(cuModuleGetFunction);
CHECK(cuFuncSetAttribute);
CHECK(cuMemAlloc_v2);
CHECK(cuMemFree_v2);
CHECK(cuMemHostAlloc);
CHECK(cuMemcpyHtoD_v2);
CHECK(cuMemcpyDtoH_v2);
CHECK(cuMemcpyHtoDAsync_v2);
CHECK(cuMemcpyDtoHAsync_v2);
CHECK(cuMemsetD8Async);
CHECK(cuStreamCreate);
CHECK(cuStreamSynchronize);
CHECK(cuStreamWaitEvent);
CHECK(cuEventCreate);
CHECK(cuEventRecord);
CHECK(cuEventSynchronize);
CHECK(cuEventQuery);
CHECK(cuLaunchKernel);
CHECK(cuGraphCreate);
CHECK(cuGraphAddKernelNode_v2);
CHECK(cuGraphAddMemcpyNode);
CHECK(cuGraphAddMemsetNode);
CHECK(cuGraphAddEmptyNode);
CHECK(cuGraphAddChildGraphNode);
CHECK(cuStreamBeginCapture_v2);
CHECK(cuStreamEndCapture);
CHECK(cuGraphInstantiateWithFlags);
CHECK(cuGraphLaunch);
CHECK(cuGraphExecDestroy);
CHECK(cuGraphDestroy);
#undef CHECK

#define CHECK(ours, member, theirs, field)                                     \
  static_assert(sizeof(ours) == sizeof(theirs) &&                              \
                    offsetof(ours, member) == offsetof(theirs, field),         \
                #theirs "::" #field)
CHECK(KernelNodeParams, sharedBytes, CUDA_KERNEL_NODE_PARAMS, sharedMemBytes);
CHECK(KernelNodeParams, arguments, CUDA_KERNEL_NODE_PARAMS, kernelParams);
CHECK(KernelNodeParams, context, CUDA_KERNEL_NODE_PARAMS, ctx);
CHECK(MemsetNodeParams, elementBytes, CUDA_MEMSET_NODE_PARAMS, elementSize);
CHECK(MemsetNodeParams, height, CUDA_MEMSET_NODE_PARAMS, height);
CHECK(CopyParams, from.type, CUDA_MEMCPY3D, srcMemoryType);
CHECK(CopyParams, from.device, CUDA_MEMCPY3D, srcDevice);
CHECK(CopyParams, to.type, CUDA_MEMCPY3D, dstMemoryType);
CHECK(CopyParams, to.host, CUDA_MEMCPY3D, dstHost);
CHECK(CopyParams, to.device, CUDA_MEMCPY3D, dstDevice);
CHECK(CopyParams, width, CUDA_MEMCPY3D, WidthInBytes);
CHECK(CopyParams, depth, CUDA_MEMCPY3D, Depth);
CHECK(HostNodeParams, data, CUDA_HOST_NODE_PARAMS, userData);
#undef CHECK

#define CHECK(ours, theirs) static_assert(int(ours) == int(theirs), #theirs)
CHECK(OutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
CHECK(NotInitialized, CUDA_ERROR_NOT_INITIALIZED);
CHECK(NoDevice, CUDA_ERROR_NO_DEVICE);
CHECK(InvalidDevice, CUDA_ERROR_INVALID_DEVICE);
CHECK(InvalidImage, CUDA_ERROR_INVALID_IMAGE);
CHECK(InvalidContext, CUDA_ERROR_INVALID_CONTEXT);
CHECK(NoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
CHECK(InvalidPtx, CUDA_ERROR_INVALID_PTX);
CHECK(InvalidSource, CUDA_ERROR_INVALID_SOURCE);
CHECK(InvalidHandle, CUDA_ERROR_INVALID_HANDLE);
CHECK(NotFound, CUDA_ERROR_NOT_FOUND);
CHECK(NotReady, CUDA_ERROR_NOT_READY);
CHECK(IllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
CHECK(LaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
CHECK(LaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
CHECK(LaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
CHECK(NotSupported, CUDA_ERROR_NOT_SUPPORTED);
CHECK(CaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
CHECK(CaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
CHECK(Unknown, CUDA_ERROR_UNKNOWN);
CHECK(HostMemory, CU_MEMORYTYPE_HOST);
CHECK(DeviceMemoryType, CU_MEMORYTYPE_DEVICE);
CHECK(UnifiedMemory, CU_MEMORYTYPE_UNIFIED);
CHECK(MaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
CHECK(MaxGridZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
CHECK(MaxSharedPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
CHECK(WarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
CHECK(Multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
CHECK(AsyncEngines, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
CHECK(UnifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
CHECK(CapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
CHECK(CapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
CHECK(MaxSharedPerBlockOptin,
      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
CHECK(FunctionMaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
CHECK(FunctionLocalBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
CHECK(FunctionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
CHECK(FunctionMaxDynamicShared,
      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
#undef CHECK

} // namespace emulated
