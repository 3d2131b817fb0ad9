#include "dialects/graph/GraphBuilder.h"

using namespace mlir;
using namespace dl::graph;

SmallVector<Value> ReshapeOp::buildGradient(OpBuilder &builder,
                                            ValueRange grads, ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  return {g.reshape(grads[0], shapeOf(getX()))};
}

SmallVector<Value> TransposeOp::buildGradient(OpBuilder &builder,
                                              ValueRange grads,
                                              ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [i, dim] : llvm::enumerate(getPermutation()))
    inverse[dim] = i;
  return {g.transpose(grads[0], inverse)};
}

SmallVector<Value> CopyOp::buildGradient(OpBuilder &, ValueRange grads,
                                         ArrayRef<bool>) {
  return {grads[0]};
}

SmallVector<Value> ExpandOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                           ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  return {g.sumTo(grads[0], getX())};
}

SmallVector<Value> PadOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                        ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  SmallVector<int64_t> strides;
  for (int64_t interior : getInterior())
    strides.push_back(interior + 1);
  return {g.make<SliceOp>(grads[0], getLow(), shapeOf(getX()), strides)};
}

SmallVector<Value> FlipOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                         ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  return {g.make<FlipOp>(grads[0], getDims())};
}

SmallVector<Value> SliceOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                          ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  SmallVector<int64_t> high, interior;
  for (auto [i, size] : llvm::enumerate(shapeOf(getX()))) {
    int64_t stride = getStrides()[i], count = getSizes()[i];
    int64_t spread = count ? (count - 1) * stride + 1 : 0;
    interior.push_back(stride - 1);
    high.push_back(size - getOffsets()[i] - spread);
  }
  return {g.make<PadOp>(grads[0], getOffsets(), high, interior, APFloat(0.0))};
}
