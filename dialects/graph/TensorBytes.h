// What tensors take in memory.
#pragma once

#include "mlir/IR/BuiltinTypes.h"

namespace dl::graph {

/// Of one element; a boolean takes one byte.
int64_t elementBytes(mlir::Type element);
/// Of a tensor without gaps.
int64_t tensorBytes(mlir::Type tensor);

} // namespace dl::graph
