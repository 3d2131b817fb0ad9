// The step of one class of ranks.
#pragma once

#include "passes/partition/RankClasses.h"

namespace dl::partition {

/// Builds the step that the ranks of a class run at the builder's place.
mlir::LogicalResult buildLocalStep(graph::StepOp step, const Mesh &mesh,
                                   const OpShardings &shardings,
                                   const RankClass &ranks,
                                   mlir::OpBuilder &builder);

/// Type of the part of a state.
mlir::RankedTensorType localType(mlir::Type whole,
                                 const TensorSharding &sharding,
                                 const Mesh &mesh,
                                 llvm::ArrayRef<int64_t> coordinates);

} // namespace dl::partition
