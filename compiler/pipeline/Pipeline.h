// The whole road from a graph to a plan file.
#pragma once

#include "compiler/pipeline/Pictures.h"
#include "compiler/pipeline/Report.h"
#include "dialects/plan/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dl {

/// What replaces the model's own mesh.
struct MeshOptions {
  /// Axes and ranks along them, the slowest first; empty: as the model says.
  std::vector<std::pair<std::string, int64_t>> axes;
  std::optional<int64_t> zero; // stage of ZeRO
  std::optional<int64_t> microBatches;
  std::string schedule; // see graph::PipelineSchedule; empty: as the model says
  std::optional<int64_t> stagesPerRank;
};

struct CompileOptions {
  bool fuse = true;
  bool keepAll = false; // the backward makes no value again
  /// Nor one of fewer bytes: it stays in a cache, and to make it again takes as
  /// long as to read it.
  int64_t keepBelow = 64 << 10;
  MeshOptions mesh;
  plan::MachineModel machine;
  int64_t maxTiles = 0;  // of a kernel; 0: as many as are worth it
  int threads = 0;       // that compile kernels; 0: one for each core
  std::string targetCpu; // empty: x86-64-v3, x86-64-v4 and what helps bf16
  /// Of NVIDIA's GPUs, "sm_90", "ptx_80" or "source"; none: for CPUs.
  std::vector<std::string> cudaArchitectures;
  bool tf32 = false; // products of f32 on tensor cores
  /// Patterns of modules whose products are f32 in mixed precision.
  std::vector<std::string> f32;
  bool ownKernels = false; // nothing is left to a library of the device's
  bool cache = true;       // objects of kernels that were compiled before
  std::string planPath;    // empty: no plan is written
  /// The linked kernels. Where there are several images the last one gets this
  /// name and the others their instruction set in front of the extension.
  std::string kernelsPath;
  std::string sourcePath; // of the kernels' CUDA C++
  std::string stopAfter;  // a phase; empty: all of them
  /// IR after a phase: {phase, path}; "-" is standard output.
  std::vector<std::pair<std::string, std::string>> dumps;
  PictureOptions pictures;
};

/// import, backward, partition, layout, fuse, schedule, codegen, emit.
llvm::ArrayRef<llvm::StringRef> phaseNames();

/// Compiles an imported module. Diagnostics go to the context's handlers,
/// remarks into the report; `report.exitCode` says what kind of failure it was.
mlir::LogicalResult compileToPlan(mlir::ModuleOp module,
                                  const CompileOptions &options,
                                  CompileReport &report);

} // namespace dl
