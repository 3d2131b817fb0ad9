// Where a maximum is, of a tensor that is divided along the reduced dim.
#pragma once

#include "mlir/IR/Builders.h"

namespace dl::partition {

/// The dim along which a graph.max or a graph.argmax looks for a place.
std::optional<int64_t> dimOfPlace(mlir::Operation *op);
/// Its results by two graph.amax, which ranks compute of their parts, as the
/// largest of what is wanted: of the numbers, then of -index where that is.
llvm::SmallVector<mlir::Value> placeByMaxima(mlir::Operation *op,
                                             mlir::OpBuilder &builder);

} // namespace dl::partition
