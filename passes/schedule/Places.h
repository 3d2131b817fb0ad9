// Which values lie in another one's memory, so that nothing moves: what is only
// put one after the other is computed there, and what is a stretch of a value
// is read where it is.
//
//   %2 = graph.kernel %0, %1 {graph.cat ...}  // %0 at byte 0 of %2, %1 behind
//   %3 = graph.kernel %2 {graph.slice ...}    // at some byte of %2
#pragma once

#include "dialects/graph/Graph.h"
#include "passes/schedule/ProgramOrder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace dl::schedule {

/// A value's first byte among those of the value that gets a buffer.
struct Place {
  mlir::Value owner;
  int64_t offset = 0;
};

/// An operand and where it goes.
struct Move {
  mlir::Value operand;
  int64_t offset;
};

class Places {
public:
  /// `copiesAreLaunches`: to copy takes as long as to launch a kernel, however
  /// many bytes.
  Places(graph::StepOp func, bool copiesAreLaunches);

  /// Of a root: byte 0 of itself, if it lies in no other's memory.
  Place of(mlir::Value root) const;
  /// What has to be copied to its bytes of the result, where a kernel is not to
  /// be launched: it is in place otherwise. Null: it is to be launched.
  const llvm::SmallVector<Move, 0> *movesOf(graph::KernelOp kernel) const {
    auto it = inPlace.find(kernel);
    return it == inPlace.end() ? nullptr : &it->second;
  }

private:
  bool mayLieInAnother(mlir::Value root) const;
  bool follows(mlir::Value root, Place &next) const;
  bool isThereAlready(graph::KernelOp join);
  void computeInPlace(graph::KernelOp join);
  void readInPlace(llvm::ArrayRef<mlir::Operation *> work);

  bool copiesAreLaunches;
  llvm::DenseMap<mlir::Operation *, unsigned> position;
  llvm::DenseSet<mlir::Value> fixed; // returned, or in memory that changes
  llvm::DenseSet<mlir::Value> newStates;
  llvm::DenseMap<mlir::Value, Place> within;
  llvm::DenseSet<mlir::Operation *> joins;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Move, 0>> inPlace;
};

} // namespace dl::schedule
