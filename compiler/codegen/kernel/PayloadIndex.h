// Which element a payload counts.
#pragma once

#include "compiler/codegen/kernel/PayloadCache.h"

namespace dl::kernel {

/// A number of a payload over what its indices are, with the constants of the
/// launch as symbols, simplified; null where it is no sum of them.
mlir::AffineExpr payloadIndex(mlir::Value number,
                              llvm::ArrayRef<mlir::AffineExpr> indices);

} // namespace dl::kernel
