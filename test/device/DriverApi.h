// The emulated driver as a test sees it: opened like the real one.
#ifndef DL_TEST_DEVICE_DRIVER_API_H
#define DL_TEST_DEVICE_DRIVER_API_H

#include "test/device/Api.h"

#include <map>
#include <string>
#include <vector>

namespace emulated {

/// cuXxx as members.
struct DriverApi {
  int (*cuInit)(unsigned);
  int (*cuGetErrorName)(int, const char **);
  int (*cuDeviceGetAttribute)(int *, int, int);
  int (*cuDevicePrimaryCtxRetain)(ContextT **, int);
  int (*cuDevicePrimaryCtxReset_v2)(int);
  int (*cuCtxSetCurrent)(ContextT *);
  int (*cuModuleLoadData)(ModuleT **, const void *);
  int (*cuModuleUnload)(ModuleT *);
  int (*cuModuleGetFunction)(FunctionT **, ModuleT *, const char *);
  int (*cuFuncSetAttribute)(FunctionT *, int, int);
  int (*cuMemAlloc_v2)(DevicePointer *, size_t);
  int (*cuMemFree_v2)(DevicePointer);
  int (*cuMemHostAlloc)(void **, size_t, unsigned);
  int (*cuMemcpyHtoD_v2)(DevicePointer, const void *, size_t);
  int (*cuMemcpyDtoH_v2)(void *, DevicePointer, size_t);
  int (*cuMemcpyHtoDAsync_v2)(DevicePointer, const void *, size_t, StreamT *);
  int (*cuMemcpyDtoHAsync_v2)(void *, DevicePointer, size_t, StreamT *);
  int (*cuMemsetD8Async)(DevicePointer, unsigned char, size_t, StreamT *);
  int (*cuStreamCreate)(StreamT **, unsigned);
  int (*cuStreamSynchronize)(StreamT *);
  int (*cuStreamWaitEvent)(StreamT *, EventT *, unsigned);
  int (*cuEventCreate)(EventT **, unsigned);
  int (*cuEventRecord)(EventT *, StreamT *);
  int (*cuEventSynchronize)(EventT *);
  int (*cuEventQuery)(EventT *);
  int (*cuLaunchKernel)(FunctionT *, unsigned, unsigned, unsigned, unsigned,
                        unsigned, unsigned, unsigned, StreamT *, void **,
                        void **);
  int (*cuGraphCreate)(GraphT **, unsigned);
  int (*cuGraphAddKernelNode_v2)(NodeT **, GraphT *, NodeT *const *, size_t,
                                 const KernelNodeParams *);
  int (*cuGraphAddMemcpyNode)(NodeT **, GraphT *, NodeT *const *, size_t,
                              const CopyParams *, ContextT *);
  int (*cuGraphAddMemsetNode)(NodeT **, GraphT *, NodeT *const *, size_t,
                              const MemsetNodeParams *, ContextT *);
  int (*cuGraphAddEmptyNode)(NodeT **, GraphT *, NodeT *const *, size_t);
  int (*cuGraphAddChildGraphNode)(NodeT **, GraphT *, NodeT *const *, size_t,
                                  GraphT *);
  int (*cuStreamBeginCapture_v2)(StreamT *, int);
  int (*cuStreamEndCapture)(StreamT *, GraphT **);
  int (*cuGraphInstantiateWithFlags)(ExecT **, GraphT *, unsigned long long);
  int (*cuGraphLaunch)(ExecT *, StreamT *);
  int (*cuGraphExecDestroy)(ExecT *);
  int (*cuGraphDestroy)(GraphT *);
};

/// How the emulated device behaves; a variable that is not named is not set.
using Environment = std::map<std::string, std::string>;

/// A context on the emulated device, and what is often done with it. Everything
/// that fails is a failure of the test.
class EmulatedDevice {
public:
  explicit EmulatedDevice(const Environment &environment = {});
  ~EmulatedDevice();

  DriverApi cu;
  ContextT *context = nullptr;

  FunctionT *function(const std::string &source, const char *name);
  template <typename T> DevicePointer upload(const std::vector<T> &values) {
    return uploadBytes(values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> download(DevicePointer at, size_t count) {
    std::vector<T> values(count);
    downloadBytes(values.data(), at, count * sizeof(T));
    return values;
  }
  /// Error of the launch or of what it did.
  template <typename... A>
  int launch(FunctionT *function, unsigned grid, unsigned block,
             unsigned sharedBytes, A... arguments) {
    void *pointers[] = {&arguments..., nullptr};
    return launchWith(function, grid, block, sharedBytes, pointers);
  }
  /// What the device has written to stderr since the last call.
  std::string said();

private:
  DevicePointer uploadBytes(const void *from, size_t bytes);
  void downloadBytes(void *to, DevicePointer from, size_t bytes);
  int launchWith(FunctionT *function, unsigned grid, unsigned block,
                 unsigned sharedBytes, void **arguments);
  Environment set;
  int savedError, captured;
};

} // namespace emulated

#endif
