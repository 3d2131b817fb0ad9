// What convolutions and pools ask of the numbers of their windows.
#pragma once

#include "dialects/graph/Inference.h"

namespace dl::graph {

inline constexpr int64_t kDense[] = {1, 1};

/// Heights and widths.
struct Window {
  llvm::ArrayRef<int64_t> kernel, stride, padding, dilation = kDense;
};

/// An error unless there are two of each, at least 1 (padding: 0), and nothing
/// made of them can overflow. `images` is [B,C,H,W] with the most channels that
/// images of this size have.
llvm::LogicalResult requireWindow(OptionalLoc loc, llvm::StringRef op,
                                  llvm::ArrayRef<int64_t> images,
                                  const Window &window);

} // namespace dl::graph
