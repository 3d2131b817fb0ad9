// How the three convolutions see their operands.
//
// A convolution in groups has rank 4 like any other until it is decomposed;
// then its groups are a dim of their own: images [B,G,C,H,W], weights
// [G,O,C,KH,KW]. The elements stand in the same order in both.
#pragma once

#include "dialects/graph/Windows.h"

namespace dl::graph {

/// [B,C,H,W], whatever the rank.
inline llvm::SmallVector<int64_t> mergedImages(llvm::ArrayRef<int64_t> shape) {
  if (shape.size() != 5)
    return llvm::to_vector(shape);
  return {shape[0], shape[1] * shape[2], shape[3], shape[4]};
}

/// [O,C,KH,KW], where C is that of one group.
inline llvm::SmallVector<int64_t> mergedWeight(llvm::ArrayRef<int64_t> shape) {
  if (shape.size() != 5)
    return llvm::to_vector(shape);
  return {shape[0] * shape[1], shape[2], shape[3], shape[4]};
}

/// Each group has one input channel and one output channel: the channels are
/// independent, and no dim for the groups is needed.
inline bool isDepthwise(llvm::ArrayRef<int64_t> weight, int64_t groups) {
  return weight.size() == 4 && groups > 1 && weight[0] == groups &&
         weight[1] == 1;
}

} // namespace dl::graph
