#include "dialects/graph/StepScalars.h"

using namespace mlir;

namespace dl::graph {

Value readScalar(GraphBuilder &builder, Value scalars, StepScalar which,
                 Value like) {
  SmallVector<int64_t> offset = {static_cast<int64_t>(which)}, one = {1};
  Value element = builder.make<SliceOp>(scalars, offset, one, one);
  return shapeOf(like).empty() ? builder.reshape(element, {}) : element;
}

} // namespace dl::graph
