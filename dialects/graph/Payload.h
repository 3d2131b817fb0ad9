// What bodies of loop nests share.
#pragma once

#include "dialects/graph/Inference.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace dl::graph {

/// The payload of an op in a block that belongs to no region: one argument for
/// each operand's scalar, then one for each of the loops' indices.
struct PayloadBlock {
  PayloadBlock(LoopNestOpInterface op, size_t loops);
  PayloadBlock(const PayloadBlock &) = delete;
  mlir::ValueRange scalars() { return arguments().take_front(numScalars); }
  mlir::ValueRange indices() { return arguments().drop_front(numScalars); }

  mlir::Block block;
  llvm::SmallVector<mlir::Value> results;

private:
  mlir::ValueRange arguments() { return block.getArguments(); }
  unsigned numScalars;
};

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
