// What bodies of loop nests share.
#pragma once

#include "dialects/graph/Inference.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace dl::graph {

/// The scalar of a tensor's element: a ui8 is an i8 in bodies, taken as
/// unsigned.
mlir::Type scalarType(mlir::Type element);
mlir::Value scalarConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Type scalar, double value);
/// An index as a scalar of a tensor's element type.
mlir::Value indexToScalar(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value index, mlir::Type element);
/// Converts a scalar between element types of tensors.
mlir::Value castScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value x, mlir::Type from, mlir::Type to);

} // namespace dl::graph
