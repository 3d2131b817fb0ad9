// The order in which a function's kernels run on one thread.
#pragma once

#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "llvm/ADT/DenseMap.h"

namespace dl::schedule {

using graph::rootOf;

/// The kernels that read a value, itself or through aliases, in program order.
class Readers {
public:
  explicit Readers(graph::StepOp func);
  /// A kernel that reads it through two operands stands twice.
  llvm::ArrayRef<graph::KernelOp> of(mlir::Value root) const;

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<graph::KernelOp, 2>> readers;
};

/// New values of states: the argument with the old value, the kernel's result.
struct StateUpdate {
  mlir::Value oldValue; // null where the function does not take it
  mlir::OpResult newValue;
  mlir::StringRef name;
};

/// Whether `newValue` can be written over `oldValue`: its kernel reads that at
/// most through the operand whose buffer the result may share.
bool canOverwrite(mlir::OpResult newValue, mlir::Value oldValue);

struct KernelOrder {
  std::vector<graph::KernelOp> kernels;
  /// Updates that would destroy an old value which is needed after them, by
  /// index: the first one of each knot of kernels that wait for one another.
  /// Then `kernels` is not complete.
  llvm::SmallVector<unsigned> stuck;
};

/// Orders the kernels: producers first, readers of a state's old value before
/// the kernel that overwrites it, and among those that are ready one for which
/// `needsMemory` is false, so that what it reads can die early. Deterministic.
KernelOrder orderKernels(graph::StepOp func, const Readers &readers,
                         llvm::ArrayRef<StateUpdate> updates,
                         llvm::function_ref<bool(graph::KernelOp)> needsMemory);

} // namespace dl::schedule
