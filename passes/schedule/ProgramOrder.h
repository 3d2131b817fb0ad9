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

/// How values take memory.
struct ValueMemory {
  /// Bytes that are taken when a value is made.
  llvm::function_ref<int64_t(mlir::Value)> taken;
  /// The value in whose memory a root lies, and what is free once nobody reads
  /// any value in there any more.
  llvm::function_ref<mlir::Value(mlir::Value)> owner;
  llvm::function_ref<int64_t(mlir::Value)> freed;
};

/// Orders the work: producers first, readers of a state's old value before what
/// overwrites it, communication as all ranks do, and among that which is ready
/// what takes no memory, or less than dies with it and what can follow at once,
/// so that gradients die early; but not across messages between stages of a
/// pipeline. Deterministic.
WorkOrder orderWork(graph::StepOp func, const Readers &readers,
                    llvm::ArrayRef<StateUpdate> updates,
                    const ValueMemory &memory);

} // namespace dl::schedule
