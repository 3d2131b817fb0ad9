#include "runtime/device/cuda/Nccl.h"

#include <fmt/format.h>

#include <dlfcn.h>

using namespace dlrt::cuda;
using dlrt::Code;

/// 2.28.9 says 22809.
static std::string versionText(int number) {
  return fmt::format("NCCL {}.{}.{}", number / 10000, number % 10000 / 100,
                     number % 100);
}

static dlrt::Status unavailable(const std::string &why) {
  return {Code::Unavailable,
          fmt::format("processes with a GPU each communicate by NVIDIA's NCCL, "
                      "and {}. Install it (apt install libnccl2, or pip "
                      "install nvidia-nccl-cu13 with the folder of {} in "
                      "LD_LIBRARY_PATH); without it, dlrun PLAN, without -np "
                      "and mpirun, runs all ranks in one process on one GPU",
                      why, nccl::Library::file)};
}

/// It stays open: what it has started ends with the process.
static dlrt::Status load(nccl::Library &library) {
  void *opened = dlopen(nccl::Library::file, RTLD_NOW | RTLD_LOCAL);
  if (!opened)
    return unavailable(fmt::format("it is not there: {}", dlerror()));
#define DLRT_NCCL_LOAD(member, symbol, result, arguments)                      \
  library.member =                                                             \
      reinterpret_cast<decltype(library.member)>(dlsym(opened, #symbol));      \
  if (!library.member)                                                         \
    return unavailable(fmt::format("{} has no " #symbol, nccl::Library::file));
  DLRT_NCCL_FUNCTIONS(DLRT_NCCL_LOAD)
#undef DLRT_NCCL_LOAD
  int version = 0;
  DLRT_TRY(library.check(library.version(&version), Code::Unavailable,
                         "asking for its version"));
  if (version < nccl::Library::leastVersion)
    return unavailable(fmt::format("this one is {}; {} or later is needed",
                                   versionText(version),
                                   versionText(nccl::Library::leastVersion)));
  return {};
}

dlrt::Expected<const nccl::Library *> nccl::Library::open() {
  static Library library = {};
  static const dlrt::Status status = load(library);
  if (!status.ok())
    return status;
  return static_cast<const Library *>(&library);
}

std::string nccl::Library::name() const {
  int number = 0;
  version(&number);
  return versionText(number);
}

dlrt::Status nccl::Library::check(Status status, Code code,
                                  const std::string &what,
                                  Handle handle) const {
  if (status == statusSuccess)
    return {};
  const char *last = lastError(handle);
  return {code, fmt::format("NCCL: {}: {}{}{}", what, statusText(status),
                            last && *last ? ": " : "", last ? last : "")};
}
