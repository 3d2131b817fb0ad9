#include "dialects/graph/GraphBuilder.h"

using namespace mlir;

namespace dl::graph {

Value GraphBuilder::constant(Type element, double value) {
  return make<FullOp>(APFloat(value), RankedTensorType::get({}, element));
}

Value GraphBuilder::fullLike(Value like, double value) {
  return make<FullOp>(APFloat(value), like.getType());
}

Value GraphBuilder::iota(ArrayRef<int64_t> shape, int64_t dim, Type element) {
  return make<IotaOp>(dim, RankedTensorType::get(shape, element));
}

Value GraphBuilder::cast(Value x, Type element) {
  return elementOf(x) == element ? x : make<CastOp>(x, element);
}

Value GraphBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  return shapeOf(x) == shape ? x : make<ReshapeOp>(x, shape);
}

Value GraphBuilder::expand(Value x, ArrayRef<int64_t> shape) {
  return shapeOf(x) == shape ? x : make<ExpandOp>(x, shape);
}

Value GraphBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  return make<TransposeOp>(x, permutation);
}

Value GraphBuilder::sum(Value x, ArrayRef<int64_t> dims, bool keepdim) {
  return make<SumOp>(x, dims, keepdim);
}

Value GraphBuilder::sumTo(Value x, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(x);
  size_t leading = from.size() - shape.size();
  SmallVector<int64_t> dims;
  for (size_t i = 0; i < from.size(); ++i)
    if (i < leading || (shape[i - leading] == 1 && from[i] != 1))
      dims.push_back(i);
  if (dims.empty())
    return x;
  // (Seen in another shape, a sum would have to be whole: its kernel ends.)
  Value summed = sum(x, dims, /*keepdim=*/leading == 0);
  return reshape(summed, shape);
}

} // namespace dl::graph
