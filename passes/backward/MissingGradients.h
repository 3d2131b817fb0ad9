// Parameters that a loss does not depend on.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

namespace dl {

/// The step is as if these gradients, which are zeros, were not there:
/// optimizers leave their parameters, and what they remember of them, alone, as
/// in PyTorch, where `.grad` is None. What else reads them reads zeros.
void dropMissingGradients(llvm::ArrayRef<mlir::Value> zeros);

} // namespace dl
