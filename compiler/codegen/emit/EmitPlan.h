// From the plan dialect to a plan file: the one bridge to the runtime.
#pragma once

#include "dialects/plan/Plan.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace dl::emit {

/// All kernels of the plan, for one instruction set.
struct Image {
  std::string features; // "x86-64-v4"
  /// Of CPUs: they, linked. Of CUDA: a table of modules (ModuleTable.h).
  llvm::ArrayRef<char> bytes;
};

struct PlanFile {
  std::vector<uint8_t> bytes;
  /// What a run takes for batches that wait.
  uint64_t batchBytes = 0;
};

/// The plan file: of all ranks of the mesh, that of rank 0 first. Kernels of
/// one name are one kernel. Equal plans and images give equal bytes. What the
/// runtime would refuse to load is an error here.
mlir::FailureOr<PlanFile> encodePlan(llvm::ArrayRef<plan::PlanOp> plans,
                                     llvm::ArrayRef<Image> images);

} // namespace dl::emit
