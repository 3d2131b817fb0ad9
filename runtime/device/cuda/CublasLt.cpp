#include "runtime/device/cuda/CublasLt.h"

#include <fmt/format.h>

#include <dlfcn.h>
#include <iterator>

using namespace dlrt::cuda;

/// It stays open: what it has started ends with the process.
static std::string load(const char *file, lt::Library &library) {
  void *opened = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!opened)
    return dlerror();
#define DLRT_CUBLASLT_LOAD(member, symbol, result, arguments)                  \
  library.member =                                                             \
      reinterpret_cast<decltype(library.member)>(dlsym(opened, #symbol));      \
  if (!library.member)                                                         \
    return fmt::format("{} has no " #symbol, file);
  DLRT_CUBLASLT_FUNCTIONS(DLRT_CUBLASLT_LOAD)
#undef DLRT_CUBLASLT_LOAD
  return "";
}

const lt::Library *lt::Library::open(size_t file, std::string &why) {
  struct Opened {
    bool tried = false;
    std::string why;
    Library library = {};
  };
  static Opened all[std::size(files)];
  Opened &opened = all[file];
  if (!opened.tried)
    opened.why = load(files[file], opened.library);
  opened.tried = true;
  why = opened.why;
  return why.empty() ? &opened.library : nullptr;
}

std::string lt::Library::name() const {
  // 13.1.0 says 130100, and early ones said 11401 for 11.4.1.
  size_t number = version(), major = number < 100000 ? 1000 : 10000;
  return fmt::format("cuBLASLt {}.{}.{}", number / major, number % major / 100,
                     number % 100);
}

std::string lt::Library::textOf(Status status) const {
  const char *name = statusName(status);
  return name ? name : fmt::format("status {}", status);
}
