// What the emulated device must know of the text of CUDA C++ kernels.
#ifndef DL_TEST_DEVICE_KERNEL_SOURCE_H
#define DL_TEST_DEVICE_KERNEL_SOURCE_H

#include <string>
#include <string_view>

namespace emulated {

/// C++ for the host, with every line in its place: declarations of dynamic
/// shared memory (`extern __shared__ T name[];`) become pointers, and a table
/// of the kernels, exported as test/simt/Interface.h says, follows. Or the
/// reason why not, in `error`.
std::string hostSource(std::string_view cuda, std::string &error);

} // namespace emulated

#endif
