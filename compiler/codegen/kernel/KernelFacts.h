// Facts of kernels, as attributes, for the passes of each target.
#pragma once

#include "dialects/graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dl::kernel {

/// Kernels of one name are one code: calls `annotate` for the first one of each
/// name, and copies these attributes to the others.
mlir::LogicalResult annotateByName(
    mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> facts,
    llvm::function_ref<mlir::LogicalResult(graph::KernelOp)> annotate);

/// The first kernel of each name, in their order: what code is made of. Where
/// the module has plans, those that they launch: others have nothing to move.
llvm::SmallVector<graph::KernelOp> kernelsWithCode(mlir::ModuleOp module);

} // namespace dl::kernel
