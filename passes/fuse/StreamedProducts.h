// Products of chains whose columns come some at a time, so that what they make
// is in memory nowhere.
#pragma once

#include "dialects/graph/LoopNest.h"
#include "dialects/plan/MachineModel.h"
#include "mlir/IR/Operation.h"

namespace dl {

/// Items of the leading dims that both operands of a product have.
int64_t batchItems(const graph::LoopNest &product);

/// All that is made of the product adds columns up, each of which takes less
/// time to compute again than in memory.
bool streams(mlir::Operation *product, const plan::MachineModel &machine);

/// What the places of elements alone say: whether a column is behind a row.
bool isMaskOfPlaces(mlir::Value value);

/// The ops that it is added up by.
llvm::SmallVector<mlir::Operation *> totalsOf(mlir::Operation *product);

} // namespace dl
