// In which order the dims of a computed value lie in memory, outermost first.
//
// Row-major unless the op that makes the value says otherwise:
//   graph.conv2d ... {graph.orders = [array<i64: 1, 2, 3, 0>]}   // [B,C,H,W]
//   stored as C,H,W,B
// Those of a kernel are its `result_layouts`. States have an order of their
// own, their `layout`.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace dl::graph {

/// The value that lies in the same memory and is no alias of another.
mlir::Value rootOf(mlir::Value value);

/// Null: row-major.
mlir::DenseI64ArrayAttr storageOrder(mlir::OpResult value);
void setStorageOrder(mlir::OpResult value, mlir::DenseI64ArrayAttr order);

/// Convolutions of at least so many images have them innermost: a full vector.
inline constexpr int64_t kLeastInnerBatch = 16;

/// All other dims row by row, the first dim innermost.
mlir::DenseI64ArrayAttr batchInnermost(mlir::RankedTensorType type);
bool isBatchInnermost(mlir::DenseI64ArrayAttr order);

/// Row by row, but dim 1 innermost: [B,C,H,W] as B,H,W,C.
mlir::DenseI64ArrayAttr channelsInnermost(mlir::RankedTensorType type);

} // namespace dl::graph
