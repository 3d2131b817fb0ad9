// One kernel as a function of CUDA C++.
#pragma once

#include "compiler/codegen/cuda/BlockKernel.h"
#include "compiler/codegen/kernel/PayloadCache.h"
#include <set>
#include <string>

namespace dl::cuda {

struct KernelText {
  std::string text;
  /// Of functions that it calls, besides those of Prelude.h.
  std::set<std::string> definitions;
};

/// So many blocks of a product are to fit into a processor: two hide each
/// other's waiting, but leave each thread half of the registers.
inline constexpr unsigned kProductsAtOnce = 2;

/// Where the kernel cannot be written, `payloads.error` says why.
KernelText kernelSource(const BlockKernel &kernel,
                        kernel::PayloadCache &payloads,
                        unsigned productsAtOnce = kProductsAtOnce);

} // namespace dl::cuda
