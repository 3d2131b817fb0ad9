// The kernels of a plan, made ready to be launched on one device.
#ifndef DLRT_DEVICE_CUDA_MODULES_H
#define DLRT_DEVICE_CUDA_MODULES_H

#include "runtime/device/cuda/Driver.h"
#include "runtime/plan/PlanReader.h"

#include <string>
#include <string_view>
#include <vector>

namespace dlrt::cuda {

/// A device of the machine and what it can do.
struct DeviceFacts {
  Ordinal ordinal = 0;
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  int maxThreads = 0;       ///< of a block
  int maxShared = 0;        ///< bytes of a block

  /// One of the machine's; what the environment hides is not counted.
  static Expected<DeviceFacts> of(const Driver &cuda, uint32_t index);
};

/// Index of the plan's best image for a device, or of the one whose features
/// are `wanted`, if any are: cubins for the chip alone, then those of the
/// latest earlier one of the same major number, then the latest PTX. Sources
/// are for an emulated device, which says 0.0.
Expected<size_t> chooseImage(const fb::PlanT &plan, const DeviceFacts &device,
                             std::string_view wanted);

/// A kernel as the driver launches it.
struct Kernel {
  Function function = nullptr;
  unsigned blocks = 0, threads = 0, sharedBytes = 0;
  uint64_t scratchBytes = 0;
  std::string description; ///< with its ops and their lines
};

/// Loaded modules; unloads them.
class Modules {
public:
  explicit Modules(const Driver &cuda) : cuda(cuda) {}
  Modules(const Modules &) = delete;
  ~Modules();

  /// Each module once, then all kernels.
  Status load(const LoadedPlan &loaded, size_t image,
              const DeviceFacts &device);

  std::vector<Kernel> kernels; ///< as in the plan

private:
  Status prepare(const fb::KernelT &kernel, Module module,
                 const DeviceFacts &device);

  const Driver &cuda;
  std::vector<Module> modules;
};

} // namespace dlrt::cuda

#endif
