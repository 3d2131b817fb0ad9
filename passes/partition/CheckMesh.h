// What of a model and a mesh does not fit together, in the words of the model.
#pragma once

#include "passes/partition/Mesh.h"

namespace dl::partition {

/// Before tensors are divided. Error: a batch that does not give the
/// micro-batches (a short last one is done at once where it does not), and a
/// tensor divided along the axis of the pipeline's stages, whose ranks have
/// other layers.
mlir::LogicalResult checkMesh(mlir::ModuleOp module, const Mesh &mesh);

/// Afterwards: ranks along an axis that divides nothing all compute the same.
void warnOfUnusedAxes(mlir::ModuleOp module, const Mesh &mesh);

/// Afterwards: a view or a slice that ends a division, as of 12 features into 3
/// heads, or into 3 of each of 4 gates, among 2 ranks. Each of them then has,
/// and computes, all.
void warnOfUndividedViews(mlir::ModuleOp module, const Mesh &mesh);

/// Afterwards: products that items have a part in, and that all ranks along
/// their axes compute, if they are much of a rank's work: experts whose tokens
/// are chosen among all items of the batch.
void warnOfRepeatedProducts(mlir::ModuleOp module, const Mesh &mesh);

} // namespace dl::partition
