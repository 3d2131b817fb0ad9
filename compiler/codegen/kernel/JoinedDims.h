// Dims of a kernel that are one: neighbours that every op reads and writes
// together, in row-major order.
//
// Example, a linear layer with bias and GELU:
//   matmul [B,T,C] x [O,C] -> [B,T,O], add [O], gelu
// Nobody asks for b or t alone, so the kernel is that of [BT,C] x [O,C]: one
// dim of rows, cut into tiles anywhere. A scale of [B,1,O] would keep the two
// apart. What needs the numbers of its indices (dropout) gets them by division.
#pragma once

#include "dialects/graph/Graph.h"

namespace dl::kernel {

class JoinedDims {
public:
  JoinedDims() = default;
  /// Joins nothing where the kernel has no contraction.
  explicit JoinedDims(graph::KernelOp kernel);

  /// The value's extents, joined dims as one.
  llvm::SmallVector<int64_t, 6> shapeOf(mlir::Value value) const;
  /// In which of these dims' orders it is stored; empty for row-major.
  llvm::SmallVector<int64_t, 6> orderOf(mlir::Value value,
                                        mlir::DenseI64ArrayAttr order) const;
  /// The op's loops over joined dims.
  graph::LoopNest nestOf(graph::LoopNestOpInterface op) const;
  /// The index of each loop that the op itself has, from those of its joined
  /// ones.
  llvm::SmallVector<mlir::AffineExpr>
  split(graph::LoopNestOpInterface op,
        llvm::ArrayRef<mlir::AffineExpr> joined) const;

private:
  /// For each dim but the last, whether the next one does not continue it.
  using Cuts = llvm::SmallVector<bool, 6>;
  struct Loops {
    graph::LoopNest nest;
    Cuts cuts;
  };

  void cutStored(mlir::Value value, mlir::Attribute order);
  bool cutAccess(Loops &loops, const graph::Access &access, Cuts &operand,
                 llvm::ArrayRef<int64_t> shape) const;
  bool cutOp(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, Cuts> values;
  llvm::MapVector<mlir::Operation *, Loops> ops;
};

} // namespace dl::kernel
