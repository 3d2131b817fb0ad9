// CUDA C++ kernels as code of this process.
#ifndef DL_TEST_DEVICE_KERNEL_IMAGE_H
#define DL_TEST_DEVICE_KERNEL_IMAGE_H

#include "test/simt/Interface.h"

#include <memory>
#include <string>
#include <string_view>

namespace emulated {

/// Environment:
///   DLEMU_CXX     the compiler; clang++-22, clang++ or g++ if it is not said
///   DLEMU_FLAGS   more options for it
///   DLEMU_RACES   1: accesses are reported, see test/simt/Shadow.h (clang)
/// Compiled images are kept in $TMPDIR and found again by what they are made
/// of.
class KernelImage {
public:
  /// Null and a message, if the text cannot be compiled.
  static std::unique_ptr<KernelImage> compile(std::string_view cuda,
                                              std::string &error);
  ~KernelImage();

  /// Null if there is none.
  const dlsimt::Kernel *kernel(std::string_view name) const;
  const dlsimt::Image &image() const { return *table; }

private:
  void *library = nullptr;
  const dlsimt::Image *table = nullptr;
};

} // namespace emulated

#endif
