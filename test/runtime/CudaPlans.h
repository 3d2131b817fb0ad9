// Plans for the emulated device, and how it is to behave.
#ifndef DLRT_TEST_CUDAPLANS_H
#define DLRT_TEST_CUDAPLANS_H

#include "runtime/device/cuda/DeviceFactory.h"
#include "test/runtime/TestPlan.h"

#include <dlfcn.h>
#include <map>

#define EXPECT_SAYS(text, part)                                                \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

namespace dlrt::test {

/// Variables of the emulated driver, which reads them when it is initialised:
/// before any device there is.
class Environment {
public:
  explicit Environment(std::map<std::string, std::string> values)
      : values(std::move(values)) {
    for (auto &[name, value] : this->values)
      setenv(name.c_str(), value.c_str(), 1);
    initialise();
  }
  ~Environment() {
    for (auto &[name, value] : values)
      unsetenv(name.c_str());
    initialise();
  }

private:
  static void initialise() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
    ASSERT_EQ(init(0), 0);
  }
  const std::map<std::string, std::string> values;
};

inline const std::string &kernels() {
  static const std::string text = [] {
    Bytes bytes = readFile(TEST_SOURCE_ROOT "/test/runtime/Kernels.cu");
    return std::string(bytes.begin(), bytes.end());
  }();
  return text;
}

inline Bytes sealCuda(fb::PlanT &plan) {
  makeCuda(plan);
  return seal(plan, moduleTable(plan, kernels()));
}

/// A device and the plan that it runs.
struct Opened {
  Bytes file;
  LoadedPlan loaded;
  std::unique_ptr<Device> device;
  Status status;

  explicit Opened(Bytes sealed, const DeviceOptions &options = {})
      : file(std::move(sealed)), loaded(mustLoad(file)) {
    auto created = cudaDevice(loaded, options);
    if (created)
      device = std::move(*created);
    else
      status = created.takeError();
  }
};

} // namespace dlrt::test

#endif
