// One kernel as a function of CUDA C++.
#pragma once

#include "compiler/codegen/cuda/BlockKernel.h"
#include "compiler/codegen/kernel/PayloadCache.h"
#include <string>

namespace dl::cuda {

/// Without what stands in front of all kernels (Prelude.h). Where the kernel
/// cannot be written, `payloads.error` says why.
std::string kernelSource(const BlockKernel &kernel,
                         kernel::PayloadCache &payloads);

} // namespace dl::cuda
