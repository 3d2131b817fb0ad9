// Kernels of a module as code for NVIDIA's GPUs.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

namespace dl::cuda {

struct CudaOptions {
  /// "sm_90" (a cubin), "ptx_90", "source" (the text itself).
  std::vector<std::string> architectures;
  int threads = 0;   // that compile; 0: one for each core
  bool cache = true; // objects of earlier compilations in the user's folder
};

struct CudaImage {
  std::string features;    // as the architecture
  std::vector<char> bytes; // a module table
};

struct CudaCode {
  std::vector<CudaImage> images;
  std::map<std::string, uint64_t> scratchBytes; // by kernel name
  std::string source;                           // of all kernels
};

/// Compiles every distinct graph.kernel (by name) for each architecture.
/// Errors are emitted at the module.
mlir::FailureOr<CudaCode> compileKernels(mlir::ModuleOp module,
                                         const CudaOptions &options);

} // namespace dl::cuda
