// What a graph.kernel computes: its ops as loops over dims that are joined
// where nobody asks for them alone. The first of four values that a kernel
// becomes:
//
//   KernelBody    its loops
//   StagedKernel  which of its values get memory
//   BoundKernel   which part of each a tile of the grid has
//   then the target's own: tiles, threads, scratch
//
// Each has what the one before has, and what it adds; none changes any more.
#pragma once

#include "compiler/codegen/kernel/JoinedDims.h"

namespace dl::kernel {

class KernelBody {
public:
  /// Fails, with a diagnostic, where an op has no loop nest.
  static mlir::FailureOr<KernelBody> create(graph::KernelOp kernel);

  graph::KernelOp op() const { return kernel; }
  mlir::Block &block() const { return op().getBody().front(); }
  /// Without the yield.
  auto ops() const { return block().without_terminator(); }
  unsigned numConstants() const {
    return op().getConstants() ? op().getConstants()->size() : 0;
  }

  /// Over joined dims, as everything else here.
  const graph::LoopNest &nest(mlir::Operation *op) const {
    return nests.find(op)->second;
  }
  llvm::SmallVector<int64_t, 6> shapeOf(mlir::Value value) const {
    return joined.shapeOf(value);
  }
  /// The indices that an op's payload gets.
  llvm::SmallVector<mlir::AffineExpr>
  payloadIndices(graph::LoopNestOpInterface op,
                 llvm::ArrayRef<mlir::AffineExpr> dims) const {
    return joined.split(op, dims);
  }
  /// In which order the dims of a value are stored; empty is row-major.
  llvm::SmallVector<int64_t, 6> orderOf(mlir::Value value) const;
  /// The same where the kernel's operand or result says it.
  llvm::SmallVector<int64_t, 6> orderOf(mlir::Value value,
                                        mlir::DenseI64ArrayAttr stored) const {
    return joined.orderOf(value, stored);
  }
  /// Elements between neighbours of each dim of the whole value.
  llvm::SmallVector<int64_t, 6> orderedStrides(mlir::Value value) const;
  /// Some op reads where an operand says: its index is not what stages see.
  bool hasIndirect() const;

  int64_t flops() const;

protected:
  explicit KernelBody(graph::KernelOp kernel)
      : kernel(kernel), joined(kernel) {}

private:
  void putMemoryOrder(mlir::Operation *op, graph::LoopNest &loops) const;

  mutable graph::KernelOp kernel; // MLIR's accessors are not const
  JoinedDims joined;
  llvm::DenseMap<mlir::Operation *, graph::LoopNest> nests;
};

/// The indices of an operand at an iteration whose dims have the given values.
llvm::SmallVector<mlir::AffineExpr>
accessAt(const graph::Access &access, llvm::ArrayRef<mlir::AffineExpr> dims);

/// Elements between neighbours of each dim of a stored tensor; `order` lists
/// the logical dims from the outermost, row-major where it is empty.
llvm::SmallVector<int64_t, 6> stridesOf(llvm::ArrayRef<int64_t> shape,
                                        llvm::ArrayRef<int64_t> order = {});

/// The same expression in its simplest form.
mlir::AffineExpr simplified(mlir::AffineExpr expr);

} // namespace dl::kernel
