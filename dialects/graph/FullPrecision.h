// Products that are f32 in programs of any dtype and on any device.
#pragma once

#include "mlir/IR/Operation.h"

namespace dl::graph {

/// An attribute of graph.matmul, which its gradients inherit: operands and
/// result are rounded neither to bf16 nor to tf32. Fourier transforms are such
/// products, and what moves pixels of images.
inline constexpr llvm::StringLiteral kFullPrecision = "full_precision";

inline bool hasFullPrecision(mlir::Operation *op) {
  auto attribute = op->getAttrOfType<mlir::BoolAttr>(kFullPrecision);
  return attribute && attribute.getValue();
}

} // namespace dl::graph
