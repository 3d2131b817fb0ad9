// What random ops share.
#pragma once

#include "dialects/graph/Inference.h"

namespace dl::graph {

/// Where a tensor lies in the whole one whose elements are counted for drawing.
struct DrawPlace {
  llvm::SmallVector<int64_t> offset, extents;

  /// Without attributes the tensor is the whole one.
  DrawPlace(llvm::ArrayRef<int64_t> offset, llvm::ArrayRef<int64_t> extents,
            llvm::ArrayRef<int64_t> shape)
      : offset(offset), extents(extents.empty() ? shape : extents) {
    this->offset.resize(shape.size());
  }
};

template <typename Op> DrawPlace drawPlaceOf(Op op) {
  return DrawPlace(op.getOffset(), op.getExtents(), shapeOf(op.getResult()));
}

} // namespace dl::graph
