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

/// Blocks of a product share a processor, to hide each other's waiting, or one
/// has it for itself, and as many registers as there are.
enum class Room { Shared, Whole };

/// Where the kernel cannot be written, `payloads.error` says why.
KernelText kernelSource(const BlockKernel &kernel,
                        kernel::PayloadCache &payloads,
                        Room room = Room::Shared);

} // namespace dl::cuda
