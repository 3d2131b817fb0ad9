#include "dialects/graph/TensorBytes.h"

using namespace mlir;

namespace dl::graph {

int64_t elementBytes(Type element) {
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

int64_t tensorBytes(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return type.getNumElements() * elementBytes(type.getElementType());
}

} // namespace dl::graph
