// Kernels of a module as machine code for CPUs.
#pragma once

#include "dialects/plan/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

namespace dl::cpu {

struct CpuOptions {
  std::string targetCpu; // empty: all of defaultTargets()
  int threads = 0;       // that compile; 0: one for each core
  bool cache = true;     // objects of earlier compilations in the user's folder
  plan::MachineModel machine; // as annotate-kernels had it
};

struct CpuImage {
  std::string features;  // "x86-64-v4"
  std::vector<char> elf; // shared object without relocations
};

struct CpuCode {
  std::vector<CpuImage> images;
  std::map<std::string, uint64_t> scratchBytes; // by kernel name
};

/// Compiles every distinct graph.kernel (by name) for each variant and links
/// one image for each. Errors are emitted at the module.
mlir::FailureOr<CpuCode> compileKernels(mlir::ModuleOp module,
                                        const CpuOptions &options);

} // namespace dl::cpu
