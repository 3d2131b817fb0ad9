// What a contraction reads, as linear functions of its loops.
#pragma once

#include "compiler/codegen/kernel/StagedKernel.h"

namespace dl::kernel {

/// One operand as a linear function of the iteration dims, in elements.
struct LinearOperand {
  mlir::Value leaf; // what has memory
  llvm::SmallVector<mlir::AffineExpr> index;
  llvm::SmallVector<int64_t, 8> coefficients;
  int64_t constant = 0;
  bool rounds = false;   // to bf16, what it reads
  bool isNarrow = false; // what has memory is of bf16
};

/// Outside of its operand a product reads zero: of k dim `k` only the part
/// counts where 0 <= step * p + kStep * k + constant < extent, p being the
/// index of a parallel dim.
struct Border {
  unsigned k, parallel;
  int64_t step, kStep, constant, extent;
};

/// Elements between neighbours of each dim of a placed value.
using StridesFn =
    llvm::function_ref<llvm::SmallVector<int64_t, 6>(mlir::Value placed)>;

/// Fails, with a diagnostic, where an index is not linear.
mlir::FailureOr<LinearOperand> linearOperand(const StagedKernel &kernel,
                                             const Stage &stage,
                                             unsigned number,
                                             StridesFn stridesIn);
/// Where the accesses of a convolution leave its operands. Fails likewise.
mlir::LogicalResult findBorders(const StagedKernel &kernel, mlir::Operation *op,
                                llvm::SmallVectorImpl<Border> &borders);

/// Adds factor * expr to a linear function of the dims; fails where it is none.
mlir::LogicalResult addLinear(mlir::AffineExpr expr, int64_t factor,
                              llvm::MutableArrayRef<int64_t> coefficients,
                              int64_t &constant);

} // namespace dl::kernel
