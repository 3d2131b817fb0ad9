// One function of kernels becomes one program of commands.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/plan/Plan.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace dl::schedule {

/// What the programs of a plan share.
struct PlanParts {
  plan::PlanOp plan;
  mlir::OpBuilder builder; // at the end of the plan's body
  llvm::StringMap<plan::StateOp> states;
  llvm::StringMap<plan::KernelOp> kernels;
  mlir::Value scalars;  // made on first use
  int64_t settings = 0; // behind them
};

/// Fills `program` with the commands of `func`; buffers and kernels go to the
/// plan's body.
mlir::LogicalResult lowerProgram(graph::StepOp func, plan::ProgramOp program,
                                 PlanParts &parts);

} // namespace dl::schedule
