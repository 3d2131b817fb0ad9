// What a loss that is made of gradients depends on.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"

namespace dl::frontend {

/// Those of the leaves, values of the step, that the loss depends on when the
/// gradients within the step are written out, on a copy of it: the derivative
/// of a sum has no part in it, that of a ReLU has its input, by a mask, with a
/// gradient of zeros. PyTorch leaves `.grad` of the others None.
llvm::DenseSet<mlir::Value> reachedLeaves(mlir::Value loss,
                                          llvm::ArrayRef<mlir::Value> leaves);

} // namespace dl::frontend
