// The order in which all ranks do a step: op by op, and where batches are done
// in parts, micro-batch by micro-batch in the order of the schedule.
#pragma once

#include "passes/partition/RankClasses.h"

namespace dl::partition {

/// An op, or what it does for one micro-batch.
struct WorkItem {
  mlir::Operation *op;
  int64_t micro = -1; ///< -1: for all
};

/// Which values and ops there are once for each micro-batch.
class MicroBatches {
public:
  MicroBatches(graph::StepOp step, const Mesh &mesh,
               const OpShardings &shardings);

  bool isPerMicro(mlir::Value value) const { return values.contains(value); }
  bool isPerMicro(mlir::Operation *op) const { return ops.contains(op); }
  /// Topological: operands come first.
  std::vector<WorkItem> order() const;

private:
  struct Times; // when a stage does which work
  llvm::DenseSet<mlir::Operation *> weightGradients() const;
  llvm::DenseSet<mlir::Operation *> worksOnBatchAlone() const;
  std::vector<int64_t>
  dueTimes(llvm::ArrayRef<WorkItem> items,
           llvm::ArrayRef<llvm::SmallVector<unsigned, 2>> after) const;
  mutable graph::StepOp step; // a handle
  const Mesh &mesh;
  llvm::DenseSet<mlir::Value> values;
  llvm::DenseSet<mlir::Operation *> ops;
};

/// A reshard that adds up micro-batches, one after the other.
bool addsMicroBatches(graph::ReshardOp op, const Mesh &mesh);
/// Stage of the pipeline; nothing: wherever it is needed.
std::optional<int64_t> stageOf(mlir::Operation *op);

} // namespace dl::partition
