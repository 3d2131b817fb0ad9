// Functions on the device and its context, on modules and on memory.
#include "test/device/Driver.h"

#include <cstdio>
#include <cstring>

using namespace emulated;

DLEMU_FUNCTION cuInit(unsigned) {
  std::lock_guard<std::recursive_mutex> lock(driver().mutex);
  driver().initialise();
  return driver().injected("cuInit");
}

DLEMU_FUNCTION cuDriverGetVersion(int *version) {
  *version = 13000;
  return Success;
}

namespace {
struct ErrorText {
  Result result;
  const char *name, *text;
};
constexpr ErrorText errors[] = {
    {Success, "CUDA_SUCCESS", "no error"},
    {InvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {InvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {InvalidImage, "CUDA_ERROR_INVALID_IMAGE",
     "device kernel image is invalid"},
    {InvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {InvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {InvalidSource, "CUDA_ERROR_INVALID_SOURCE",
     "device kernel image is invalid"},
    {InvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {LaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {LaunchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT",
     "the launch timed out and was terminated"},
    {LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {NotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "capturing stream has unjoined work"},
    {Unknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText *find(int result) {
  for (const ErrorText &error : errors)
    if (error.result == result)
      return &error;
  return nullptr;
}
} // namespace

DLEMU_FUNCTION cuGetErrorName(int result, const char **name) {
  const ErrorText *error = find(result);
  *name = error ? error->name : nullptr;
  return error ? Success : InvalidValue;
}

DLEMU_FUNCTION cuGetErrorString(int result, const char **text) {
  const ErrorText *error = find(result);
  *text = error ? error->text : nullptr;
  return error ? Success : InvalidValue;
}

DLEMU_FUNCTION cuDeviceGetCount(int *count) {
  DLEMU_ENTER(cuDeviceGetCount);
  *count = int(driver().devices.size());
  return Success;
}

static bool isShown(int device) {
  return device >= 0 && size_t(device) < driver().devices.size();
}

DLEMU_FUNCTION cuDeviceGet(int *device, int ordinal) {
  DLEMU_ENTER(cuDeviceGet);
  *device = ordinal;
  return isShown(ordinal) ? Success : InvalidDevice;
}

DLEMU_FUNCTION cuDeviceGetUuid_v2(char *id, int device) {
  DLEMU_ENTER(cuDeviceGetUuid_v2);
  if (!isShown(device))
    return InvalidDevice;
  snprintf(id, 16, "emulated %d", driver().devices[device]);
  return Success;
}

DLEMU_FUNCTION cuDeviceGetName(char *name, int bytes, int device) {
  DLEMU_ENTER(cuDeviceGetName);
  snprintf(name, bytes, "emulated device");
  return isShown(device) ? Success : InvalidDevice;
}

DLEMU_FUNCTION cuDeviceTotalMem_v2(size_t *bytes, int device) {
  DLEMU_ENTER(cuDeviceTotalMem_v2);
  *bytes = driver().memory.total();
  return isShown(device) ? Success : InvalidDevice;
}

DLEMU_FUNCTION cuDeviceGetAttribute(int *value, int attribute, int device) {
  DLEMU_ENTER(cuDeviceGetAttribute);
  if (!isShown(device))
    return InvalidDevice;
  switch (attribute) {
  case MaxThreadsPerBlock:
  case MaxBlockX:
  case MaxBlockY:
    *value = 1024;
    return Success;
  case MaxBlockZ:
    *value = 64;
    return Success;
  case MaxGridX:
    *value = 0x7fffffff;
    return Success;
  case MaxGridY:
  case MaxGridZ:
    *value = 65535;
    return Success;
  case MaxSharedPerBlock:
    *value = 48 << 10;
    return Success;
  case MaxSharedPerBlockOptin:
    *value = dlsimt::maxSharedBytes;
    return Success;
  case WarpSize:
    *value = 32;
    return Success;
  case Multiprocessors:
    *value = 2;
    return Success;
  case AsyncEngines:
  case UnifiedAddressing:
    *value = 1;
    return Success;
  case CapabilityMajor: // 0.0: kernels come as text
  case CapabilityMinor:
    *value = 0;
    return Success;
  default:
    *value = 0;
    return Success;
  }
}

DLEMU_FUNCTION cuDevicePrimaryCtxRetain(ContextT **context, int device) {
  DLEMU_ENTER(cuDevicePrimaryCtxRetain);
  if (!isShown(device))
    return InvalidDevice;
  ContextT &only = driver().context;
  if (only.retained && only.device != device)
    return NotSupported;
  ++only.retained;
  only.device = device;
  *context = &only;
  return Success;
}

DLEMU_FUNCTION cuDevicePrimaryCtxRelease_v2(int device) {
  std::lock_guard<std::recursive_mutex> lock(driver().mutex);
  if (Result result = driver().injected("cuDevicePrimaryCtxRelease_v2"))
    return result;
  if (!isShown(device))
    return InvalidDevice;
  if (!driver().context.retained)
    return InvalidContext;
  if (--driver().context.retained == 0)
    driver().reset();
  return Success;
}

DLEMU_FUNCTION cuDevicePrimaryCtxReset_v2(int device) {
  std::lock_guard<std::recursive_mutex> lock(driver().mutex);
  driver().reset();
  return isShown(device) ? Success : InvalidDevice;
}

DLEMU_FUNCTION cuDevicePrimaryCtxSetFlags_v2(int, unsigned) {
  DLEMU_ENTER(cuDevicePrimaryCtxSetFlags_v2);
  return Success;
}

DLEMU_FUNCTION cuCtxSetCurrent(ContextT *context) {
  DLEMU_ENTER(cuCtxSetCurrent);
  if (context && context != &driver().context)
    return InvalidContext;
  driver().current() = context;
  return Success;
}

DLEMU_FUNCTION cuCtxGetCurrent(ContextT **context) {
  DLEMU_ENTER(cuCtxGetCurrent);
  *context = driver().current();
  return Success;
}

DLEMU_FUNCTION cuCtxSynchronize() {
  DLEMU_ENTER(cuCtxSynchronize);
  return driver().forceAll();
}

/// Text of CUDA C++ ends with a zero, as PTX does.
DLEMU_FUNCTION cuModuleLoadData(ModuleT **module, const void *image) {
  DLEMU_ENTER(cuModuleLoadData);
  if (!image || !module)
    return InvalidValue;
  if (memcmp(image,
             "\x7f"
             "ELF",
             4) == 0)
    return NoBinaryForGpu;
  std::string_view text = static_cast<const char *>(image);
  if (text.find(".version") != text.npos && text.find(".target") != text.npos &&
      text.find("__global__") == text.npos)
    return InvalidPtx;
  std::string error;
  auto made = std::make_unique<ModuleT>();
  made->image = KernelImage::compile(text, error);
  if (!made->image) {
    fprintf(stderr, "emulated device: %s\n", error.c_str());
    return InvalidSource;
  }
  *module = made.release();
  return Success;
}

DLEMU_FUNCTION cuModuleLoadDataEx(ModuleT **module, const void *image, unsigned,
                                  int *, void **) {
  DLEMU_ENTER(cuModuleLoadDataEx);
  return cuModuleLoadData(module, image);
}

DLEMU_FUNCTION cuModuleUnload(ModuleT *module) {
  DLEMU_ENTER(cuModuleUnload);
  if (Result result = driver().forceAll())
    return result;
  delete module;
  return Success;
}

DLEMU_FUNCTION cuModuleGetFunction(FunctionT **function, ModuleT *module,
                                   const char *name) {
  DLEMU_ENTER(cuModuleGetFunction);
  if (!module || !name)
    return InvalidValue;
  const dlsimt::Kernel *kernel = module->image->kernel(name);
  if (!kernel)
    return NotFound;
  *function = &module->functions.try_emplace(name, FunctionT{kernel, module})
                   .first->second;
  return Success;
}

DLEMU_FUNCTION cuFuncSetAttribute(FunctionT *function, int attribute,
                                  int value) {
  DLEMU_ENTER(cuFuncSetAttribute);
  if (attribute != FunctionMaxDynamicShared)
    return Success;
  if (value < 0 || unsigned(value) > dlsimt::maxSharedBytes)
    return InvalidValue;
  function->maxDynamicShared = value;
  return Success;
}

DLEMU_FUNCTION cuFuncGetAttribute(int *value, int attribute,
                                  FunctionT *function) {
  DLEMU_ENTER(cuFuncGetAttribute);
  *value = attribute == FunctionMaxThreads ? int(function->kernel->maxThreads)
           : attribute == FunctionMaxDynamicShared
               ? int(function->maxDynamicShared)
               : 0;
  return Success;
}

DLEMU_FUNCTION cuMemAlloc_v2(DevicePointer *at, size_t bytes) {
  DLEMU_ENTER(cuMemAlloc_v2);
  if (!bytes)
    return InvalidValue;
  *at = driver().memory.allocate(bytes);
  return *at ? Success : OutOfMemory;
}

DLEMU_FUNCTION cuMemFree_v2(DevicePointer at) {
  DLEMU_ENTER(cuMemFree_v2);
  if (!at)
    return Success;
  if (Result result = driver().forceAll())
    return result;
  return driver().memory.release(at) ? Success : InvalidValue;
}

DLEMU_FUNCTION cuMemGetInfo_v2(size_t *free, size_t *total) {
  DLEMU_ENTER(cuMemGetInfo_v2);
  *free = driver().memory.free();
  *total = driver().memory.total();
  return Success;
}

DLEMU_FUNCTION cuMemHostAlloc(void **at, size_t bytes, unsigned) {
  DLEMU_ENTER(cuMemHostAlloc);
  *at = bytes ? driver().memory.allocateHost(bytes) : nullptr;
  return *at ? Success : OutOfMemory;
}

DLEMU_FUNCTION cuMemAllocHost_v2(void **at, size_t bytes) {
  DLEMU_ENTER(cuMemAllocHost_v2);
  return cuMemHostAlloc(at, bytes, 0);
}

DLEMU_FUNCTION cuMemFreeHost(void *at) {
  DLEMU_ENTER(cuMemFreeHost);
  if (Result result = driver().forceAll())
    return result;
  return driver().memory.releaseHost(at) ? Success : InvalidValue;
}
