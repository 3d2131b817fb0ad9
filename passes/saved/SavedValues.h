// Which values of a step go from its forward to its backward.
#pragma once

#include "dialects/graph/Graph.h"
#include "llvm/ADT/MapVector.h"

namespace dl::saved {

/// How an op of a later part reads a value of an earlier one.
enum class Reading {
  Within, ///< at its own points: it can compute the value itself
  Whole,  ///< a product: from memory
  Kept    ///< in another shape, at an index, for other ranks, in a sum
};

struct OpFacts {
  /// In a step of several losses its forward is part 0, the backward part 1, a
  /// forward that follows from updated weights part 2. Each odd part keeps
  /// values of the parts before.
  unsigned part = 0;
  unsigned place = 0; // among the ops of the step
  /// Elementwise, with one result: it can be computed within its readers.
  bool isRepeatable = false;
  /// And no more than its operand, indexed otherwise or, of bf16, widened.
  bool isView = false, isWidening = false;
  /// A product, or elementwise on one.
  bool isProduct = false;
  /// A sum of another kind, or read by one that may be in the same kernel, or
  /// for a gradient alone and made of one's results.
  bool isSum = false;
  Reading reading = Reading::Kept;
};

/// What the pass has to know of all ops of a step.
class StepFacts {
public:
  explicit StepFacts(graph::StepOp step);

  const OpFacts &of(mlir::Operation *op) const { return facts.at(op); }
  llvm::ArrayRef<mlir::Operation *> ops() const { return all; }
  unsigned lastPart() const { return last; }

private:
  llvm::DenseMap<mlir::Operation *, OpFacts> facts;
  llvm::SmallVector<mlir::Operation *> all;
  unsigned last = 0;
};

/// What is made again for the readers in one part.
struct Choice {
  /// In the step's order, with the views between them.
  llvm::SmallVector<mlir::Operation *> again;
  /// Of values that products read: the op of the part beside which each is
  /// written.
  llvm::MapVector<mlir::Value, mlir::Operation *> beside;
  /// Kept values from which others are made.
  llvm::SmallVector<mlir::Value> kept;
  int64_t values = 0, bytes = 0, elements = 0; // without views
};

/// The minimum cut for the readers in `part`; see the pass choose-saved.
Choice chooseSaved(const StepFacts &facts, unsigned part, int64_t leastBytes);

} // namespace dl::saved
