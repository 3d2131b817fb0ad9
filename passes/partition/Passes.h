// From one step for all devices to the program of each.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/plan/MachineOption.h"
#include "mlir/Pass/Pass.h"

namespace dl {

namespace partition {
/// Elements from which on a tensor is worth two exchanges that move less,
/// instead of one: a sum that is made in blocks, a state in parts.
inline constexpr int64_t kLeastToDivide = 1024;
} // namespace partition

#define GEN_PASS_DECL
#include "passes/partition/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/partition/Passes.h.inc"

/// The phase `partition`, for a module with a mesh of several ranks.
void buildPartitionPipeline(mlir::OpPassManager &manager);

/// The modules that ranks run: those of the classes of ranks, or the module
/// itself where there is one rank.
llvm::SmallVector<mlir::ModuleOp> rankModules(mlir::ModuleOp module);

} // namespace dl
