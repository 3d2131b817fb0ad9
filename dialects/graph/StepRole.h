// Which part of a training step an op belongs to. Passes that write gradients
// and updates mark the locations of what they create: marks there survive
// canonicalisation and fusion and keep no two equal ops apart.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"

namespace dl::graph {

enum class StepRole { Forward, Backward, Update };

/// "forward", "backward", "update".
llvm::StringRef nameOf(StepRole role);

/// `of` is the op that a gradient belongs to ("linear"), which was written at
/// the same place.
mlir::Location withRole(mlir::Location location, StepRole role,
                        llvm::StringRef of = "");

/// Forward for a location that says nothing.
StepRole roleOf(mlir::Location location);
/// The op that a gradient belongs to, or an empty text.
llvm::StringRef roleSource(mlir::Location location);

/// An op of a checkpoint, whose values the backward computes again: the number
/// of the call, from 1 on. Its gradients have it too. Set before a role is.
mlir::Location withCheckpoint(mlir::Location location, unsigned checkpoint);
/// 0 where there is none.
unsigned checkpointOf(mlir::Location location);

/// An op that is done for one part of the batch alone, a micro-batch or a chunk
/// of rows: its number, from 1 on. Different parts are not fused.
mlir::Location withBatchPart(mlir::Location location, unsigned number);
/// 0 where there is none.
unsigned batchPartOf(mlir::Location location);

/// The location as the user's program gave it.
mlir::Location withoutRole(mlir::Location location);

/// Marks everything that a builder inserts.
struct RoleMarker : mlir::OpBuilder::Listener {
  explicit RoleMarker(StepRole role) : role(role) {}
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint previous) override;

  StepRole role;
  llvm::StringRef of;
};

} // namespace dl::graph
