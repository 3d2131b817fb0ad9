// From tensors to bytes.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <string>

namespace dl::schedule {

/// The physical dims of a tensor whose logical dims are stored in the given
/// order, outermost first; row-major without one.
mlir::ArrayAttr physicalDims(mlir::RankedTensorType type,
                             mlir::DenseI64ArrayAttr order);

/// What an element takes in memory; a boolean takes one byte.
int64_t elementBytes(mlir::RankedTensorType type);

/// What a tensor takes.
int64_t bytesOf(mlir::RankedTensorType type);

/// "[4,10] f32": the end of a buffer's name, by which `dlrun --detect-anomaly`
/// knows floats.
std::string describe(mlir::RankedTensorType type);

} // namespace dl::schedule
