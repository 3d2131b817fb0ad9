// The order in which what a step does runs on one thread.
#pragma once

#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "llvm/ADT/DenseMap.h"

namespace dl::schedule {

using graph::rootOf;

/// What becomes commands: kernels and communication, in program order.
llvm::SmallVector<mlir::Operation *> workOf(graph::StepOp func);

/// Those that read a value, themselves or through aliases, in program order.
class Readers {
public:
  explicit Readers(graph::StepOp func);
  /// One that reads it through two operands stands twice.
  llvm::ArrayRef<mlir::Operation *> of(mlir::Value root) const;

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *, 2>> readers;
};

/// New values of states: the argument with the old value, and what is made.
struct StateUpdate {
  mlir::Value oldValue; // null where the function does not take it
  mlir::OpResult newValue;
  mlir::StringRef name;
};

/// Whether `newValue` can be written over `oldValue`: its maker reads that at
/// most through the operand whose buffer the result may share.
bool canOverwrite(mlir::OpResult newValue, mlir::Value oldValue);

struct WorkOrder {
  std::vector<mlir::Operation *> work;
  /// Updates that would destroy an old value which is needed after them, by
  /// index: the first one of each knot of work that waits for one another.
  /// Then `work` is not complete.
  llvm::SmallVector<unsigned> stuck;
};

/// Orders the work: producers first, readers of a state's old value before what
/// overwrites it, communication as all ranks do, and among that which is ready
/// what takes no memory, or less than dies with it and what can follow at once,
/// so that gradients die early; but not across messages between stages of a
/// pipeline. `memoryOf` a value is what is taken for it
/// alone, in bytes. Deterministic.
WorkOrder orderWork(graph::StepOp func, const Readers &readers,
                    llvm::ArrayRef<StateUpdate> updates,
                    llvm::function_ref<int64_t(mlir::Value)> memoryOf);

} // namespace dl::schedule
