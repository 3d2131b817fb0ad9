// Which values an index can have.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dl::kernel {

using DimRangeFn =
    llvm::function_ref<std::pair<int64_t, int64_t>(unsigned dim)>;

/// Bounds, inclusive, from those of the dims.
std::pair<int64_t, int64_t> rangeOf(mlir::AffineExpr expr, DimRangeFn ofDim);

} // namespace dl::kernel
