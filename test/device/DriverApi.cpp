#include "test/device/DriverApi.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace emulated {

EmulatedDevice::EmulatedDevice(const Environment &environment)
    : set(environment) {
  for (auto &[name, value] : set)
    setenv(name.c_str(), value.c_str(), 1);
  fflush(stderr);
  savedError = dup(2);
  captured = memfd_create("stderr", 0);
  dup2(captured, 2);
  void *library = dlopen(TEST_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    ADD_FAILURE() << dlerror();
    abort();
  }
#define LOAD(name)                                                             \
  cu.name = reinterpret_cast<decltype(cu.name)>(dlsym(library, #name))
  LOAD(cuInit), LOAD(cuGetErrorName), LOAD(cuDeviceGetAttribute),
      LOAD(cuDevicePrimaryCtxRetain);
  LOAD(cuDevicePrimaryCtxReset_v2), LOAD(cuModuleLoadData),
      LOAD(cuModuleUnload), LOAD(cuModuleGetFunction), LOAD(cuCtxSetCurrent);
  LOAD(cuFuncSetAttribute), LOAD(cuMemAlloc_v2), LOAD(cuMemFree_v2),
      LOAD(cuMemHostAlloc), LOAD(cuMemcpyHtoD_v2);
  LOAD(cuMemcpyDtoH_v2), LOAD(cuMemcpyHtoDAsync_v2), LOAD(cuMemcpyDtoHAsync_v2),
      LOAD(cuMemsetD8Async);
  LOAD(cuStreamCreate), LOAD(cuStreamSynchronize), LOAD(cuStreamWaitEvent),
      LOAD(cuEventCreate), LOAD(cuEventRecord);
  LOAD(cuEventSynchronize), LOAD(cuEventQuery), LOAD(cuLaunchKernel),
      LOAD(cuGraphCreate);
  LOAD(cuGraphAddKernelNode_v2), LOAD(cuGraphAddMemcpyNode),
      LOAD(cuGraphAddMemsetNode), LOAD(cuGraphAddEmptyNode);
  LOAD(cuGraphAddChildGraphNode), LOAD(cuStreamBeginCapture_v2),
      LOAD(cuStreamEndCapture);
  LOAD(cuGraphInstantiateWithFlags), LOAD(cuGraphLaunch),
      LOAD(cuGraphExecDestroy), LOAD(cuGraphDestroy);
#undef LOAD
  EXPECT_EQ(cu.cuInit(0), 0);
  EXPECT_EQ(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
}

EmulatedDevice::~EmulatedDevice() {
  cu.cuDevicePrimaryCtxReset_v2(0);
  for (auto &[name, value] : set)
    unsetenv(name.c_str());
  fflush(stderr);
  dup2(savedError, 2);
  close(savedError);
  close(captured);
}

FunctionT *EmulatedDevice::function(const std::string &source,
                                    const char *name) {
  ModuleT *module = nullptr;
  FunctionT *function = nullptr;
  EXPECT_EQ(cu.cuModuleLoadData(&module, source.c_str()), 0) << said();
  if (module) {
    EXPECT_EQ(cu.cuModuleGetFunction(&function, module, name), 0);
  }
  return function;
}

DevicePointer EmulatedDevice::uploadBytes(const void *from, size_t bytes) {
  DevicePointer at = 0;
  EXPECT_EQ(cu.cuMemAlloc_v2(&at, bytes), 0);
  EXPECT_EQ(cu.cuMemcpyHtoD_v2(at, from, bytes), 0);
  return at;
}

void EmulatedDevice::downloadBytes(void *to, DevicePointer from, size_t bytes) {
  EXPECT_EQ(cu.cuMemcpyDtoH_v2(to, from, bytes), 0) << said();
}

int EmulatedDevice::launchWith(FunctionT *function, unsigned grid,
                               unsigned block, unsigned sharedBytes,
                               void **arguments) {
  int result = cu.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, sharedBytes,
                                 nullptr, arguments, nullptr);
  return result ? result : cu.cuStreamSynchronize(nullptr);
}

std::string EmulatedDevice::said() {
  fflush(stderr);
  std::string text(lseek(captured, 0, SEEK_END), 0);
  pread(captured, text.data(), text.size(), 0);
  ftruncate(captured, 0);
  lseek(captured, 0, SEEK_SET);
  return text;
}

} // namespace emulated
