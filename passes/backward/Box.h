// Parts of tensors, as slices take them.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/graph/Inference.h"

namespace dl {

struct Box {
  llvm::SmallVector<int64_t, 6> offsets, sizes;

  /// The whole tensor.
  explicit Box(mlir::Value x);
  Box(llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes)
      : offsets(offsets), sizes(sizes) {}

  int64_t elements() const;
  bool meets(const Box &other) const;
  /// The least box that has both.
  Box hull(const Box &other) const;
  bool operator==(const Box &other) const = default;
};

/// A slice, unless that is the whole.
mlir::Value take(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                 const Box &box);

/// The op with other operands, of another shape; null, and nothing created,
/// where it does not infer that shape from them.
mlir::Operation *cloneFor(mlir::OpBuilder &builder, mlir::Operation *op,
                          mlir::ValueRange operands,
                          llvm::ArrayRef<int64_t> shape);

} // namespace dl
