#include "dialects/graph/Windows.h"
#include "dialects/graph/Limits.h"

using namespace mlir;

namespace dl::graph {

/// Positions within a window are 32 bits wide.
static constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

LogicalResult requireWindow(OptionalLoc loc, StringRef op,
                            ArrayRef<int64_t> images, const Window &window) {
  struct Part {
    StringRef name;
    ArrayRef<int64_t> values;
    int64_t least;
  };
  for (const Part &part :
       {Part{"kernel_size", window.kernel, 1}, Part{"stride", window.stride, 1},
        Part{"padding", window.padding, 0},
        Part{"dilation", window.dilation, 1}}) {
    if (failed(requireCount(loc, op, part.name, part.values, 2, part.least)))
      return failure();
    if (llvm::any_of(part.values, [](int64_t value) { return value > kMost; }))
      return emitOptionalError(loc, op, ": ", part.name, " is ",
                               shapeText(part.values),
                               ", each must be at most ", kMost);
  }
  if (product(window.kernel) > kMost)
    return emitOptionalError(loc, op, ": the kernel ", shapeText(window.kernel),
                             " has more than ", kMost, " elements");
  int64_t height = images[2] + 2 * window.padding[0],
          width = images[3] + 2 * window.padding[1];
  if (product({images[0], images[1], height, width}) > kMaxElements)
    return emitOptionalError(
        loc, op, ": images of ", shapeText({images[2], images[3]}),
        " with padding ", shapeText(window.padding), " are too large");
  return success();
}

} // namespace dl::graph
