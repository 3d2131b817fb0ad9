// What a step's values are before anything is rounded.
#pragma once

#include "dialects/graph/Graph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace dl::precision {

/// An op with one operand, which it reads at other indices or beside zeros.
bool isMoved(mlir::Operation *op);

/// Found in three passes over the step, each linear.
class StepPrecision {
public:
  /// `products` are those that will be rounded.
  StepPrecision(graph::StepOp step,
                const llvm::SetVector<mlir::Operation *> &products);

  /// It has no more bits than the results of products of which it is made, as
  /// far as its type says in PyTorch, where an elementwise op of bf16 gives
  /// bf16, and of bf16 and f32 gives f32. Operands of fewer elements (a bias,
  /// statistics) and masks do not count.
  bool isNarrow(mlir::Value value) const {
    return kinds.lookup(value) == Kind::Narrow;
  }

  /// The gradient of a parameter, or a part of its sum.
  bool isOfParameter(mlir::Value value) const {
    return ofParameter.contains(value);
  }

  /// Something that this reader makes is compared with what may have been made
  /// of the same value elsewhere: not with a constant.
  bool isCompared(mlir::OpOperand &use) const;

private:
  enum class Kind { Neutral, Narrow, Wide };

  Kind kindOf(mlir::Operation *op) const;
  bool comparesWithOther(mlir::OpOperand &use) const;

  const llvm::SetVector<mlir::Operation *> &products;
  llvm::DenseMap<mlir::Value, Kind> kinds;
  llvm::DenseSet<mlir::Value> ofParameter;
  llvm::DenseSet<mlir::Operation *> leadToComparisons;
};

} // namespace dl::precision
