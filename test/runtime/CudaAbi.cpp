// Compiles only if the device's Driver.h says what cuda.h says: arguments,
// layouts, numbers. Built where cuda.h is.
#include "runtime/device/cuda/Driver.h"
#include "test/abi/SameCall.h"

#include <cstddef>
#include <cuda.h>

namespace dlrt::cuda {

using dlabi::IsSame;

#define CHECK(member, symbol, arguments)                                       \
  static_assert(IsSame<Result(*) arguments, decltype(&::symbol)>::value,       \
                #symbol);
DLRT_CUDA_FUNCTIONS(CHECK)
#undef CHECK

#define CHECK(ours, member, theirs, field)                                     \
  static_assert(sizeof(ours) == sizeof(theirs) &&                              \
                    offsetof(ours, member) == offsetof(theirs, field),         \
                #theirs "::" #field)
CHECK(KernelNode, function, CUDA_KERNEL_NODE_PARAMS, func);
CHECK(KernelNode, grid, CUDA_KERNEL_NODE_PARAMS, gridDimX);
CHECK(KernelNode, block, CUDA_KERNEL_NODE_PARAMS, blockDimX);
CHECK(KernelNode, sharedBytes, CUDA_KERNEL_NODE_PARAMS, sharedMemBytes);
CHECK(KernelNode, arguments, CUDA_KERNEL_NODE_PARAMS, kernelParams);
CHECK(KernelNode, context, CUDA_KERNEL_NODE_PARAMS, ctx);
CHECK(CopyNode, from.memoryType, CUDA_MEMCPY3D, srcMemoryType);
CHECK(CopyNode, from.host, CUDA_MEMCPY3D, srcHost);
CHECK(CopyNode, from.device, CUDA_MEMCPY3D, srcDevice);
CHECK(CopyNode, to.memoryType, CUDA_MEMCPY3D, dstMemoryType);
CHECK(CopyNode, to.host, CUDA_MEMCPY3D, dstHost);
CHECK(CopyNode, to.device, CUDA_MEMCPY3D, dstDevice);
CHECK(CopyNode, widthInBytes, CUDA_MEMCPY3D, WidthInBytes);
CHECK(CopyNode, height, CUDA_MEMCPY3D, Height);
CHECK(CopyNode, depth, CUDA_MEMCPY3D, Depth);
#undef CHECK

#define CHECK(ours, theirs) static_assert(int(ours) == int(theirs), #theirs)
CHECK(success, CUDA_SUCCESS);
CHECK(invalidValue, CUDA_ERROR_INVALID_VALUE);
CHECK(outOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
CHECK(notInitialized, CUDA_ERROR_NOT_INITIALIZED);
CHECK(stubLibrary, CUDA_ERROR_STUB_LIBRARY);
CHECK(deviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
CHECK(noDevice, CUDA_ERROR_NO_DEVICE);
CHECK(invalidDevice, CUDA_ERROR_INVALID_DEVICE);
CHECK(invalidImage, CUDA_ERROR_INVALID_IMAGE);
CHECK(invalidContext, CUDA_ERROR_INVALID_CONTEXT);
CHECK(noBinaryForDevice, CUDA_ERROR_NO_BINARY_FOR_GPU);
CHECK(invalidPtx, CUDA_ERROR_INVALID_PTX);
CHECK(noPtxCompiler, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
CHECK(unsupportedPtx, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
CHECK(invalidSource, CUDA_ERROR_INVALID_SOURCE);
CHECK(invalidHandle, CUDA_ERROR_INVALID_HANDLE);
CHECK(notFound, CUDA_ERROR_NOT_FOUND);
CHECK(notSupported, CUDA_ERROR_NOT_SUPPORTED);
CHECK(systemNotReady, CUDA_ERROR_SYSTEM_NOT_READY);
CHECK(driverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
CHECK(deviceNotSupported, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
CHECK(attributeMaxThreads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
CHECK(attributeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
CHECK(attributeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
CHECK(attributeMaxShared,
      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
CHECK(functionMaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
CHECK(functionSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
CHECK(functionMaxDynamicShared,
      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
CHECK(memoryOfHost, CU_MEMORYTYPE_HOST);
CHECK(memoryOfDevice, CU_MEMORYTYPE_DEVICE);
CHECK(streamNonBlocking, CU_STREAM_NON_BLOCKING);
CHECK(captureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
CHECK(eventWithTime, CU_EVENT_DEFAULT);
CHECK(eventWithoutTime, CU_EVENT_DISABLE_TIMING);
#undef CHECK

} // namespace dlrt::cuda
