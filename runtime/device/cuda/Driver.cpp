#include "runtime/device/cuda/Driver.h"

#include <fmt/format.h>

#include <dlfcn.h>

using namespace dlrt;
using namespace dlrt::cuda;

static constexpr const char *libraryName = "libcuda.so.1";

/// The library stays open: what it has started ends with the process.
static Status openLibrary(Driver &driver) {
  void *library = dlopen(libraryName, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {Code::Unavailable,
            fmt::format("the plan is for CUDA, and NVIDIA's driver is not "
                        "there: {}",
                        dlerror())};
#define DLRT_CUDA_LOAD(member, symbol, arguments)                              \
  driver.member =                                                              \
      reinterpret_cast<decltype(driver.member)>(dlsym(library, #symbol));      \
  if (!driver.member)                                                          \
    return {Code::Unavailable,                                                 \
            fmt::format("NVIDIA's driver is too old: {} has no " #symbol       \
                        "; CUDA 12 or later is needed",                        \
                        libraryName)};
  DLRT_CUDA_FUNCTIONS(DLRT_CUDA_LOAD)
#undef DLRT_CUDA_LOAD
  Result result = driver.init(0);
  if (result == stubLibrary)
    return {Code::Unavailable,
            fmt::format("{} is the toolkit's stub, not NVIDIA's driver",
                        libraryName)};
  return driver.check(result, "starting NVIDIA's driver");
}

Expected<const Driver *> Driver::open() {
  static Driver driver = {};
  static const Status status = openLibrary(driver);
  if (!status.ok())
    return status;
  return static_cast<const Driver *>(&driver);
}

std::string Driver::textOf(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (errorName(result, &name) != success || !name)
    return fmt::format("error {}", result);
  if (errorString(result, &text) != success || !text)
    return name;
  return fmt::format("{} ({})", text, name);
}

static Code codeOf(Result result) {
  switch (result) {
  case outOfMemory:
  case notInitialized:
  case stubLibrary:
  case deviceUnavailable:
  case noDevice:
  case invalidDevice:
  case noPtxCompiler:
  case systemNotReady:
  case driverMismatch:
  case deviceNotSupported:
    return Code::Unavailable;
  case invalidImage:
  case noBinaryForDevice:
  case invalidPtx:
  case unsupportedPtx:
  case invalidSource:
  case notFound:
    return Code::Plan;
  case invalidValue:
  case invalidContext:
  case invalidHandle:
  case notSupported:
    return Code::Bug;
  default:
    // Memory that is not there, a fault of the hardware, a kernel that has been
    // stopped: nothing is left of the context.
    return Code::RankLost;
  }
}

Status Driver::check(Result result, const std::string &what) const {
  if (result == success)
    return {};
  return {codeOf(result), fmt::format("CUDA: {}: {}", what, textOf(result))};
}
