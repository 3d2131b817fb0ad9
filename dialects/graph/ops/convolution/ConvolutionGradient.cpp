#include "dialects/graph/GraphBuilder.h"

using namespace mlir;
using namespace dl::graph;

// A convolution is linear in each operand; the three ops are each other's
// gradients.

SmallVector<Value> Conv2dOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                           ArrayRef<bool> needed) {
  GraphBuilder g(builder, getLoc());
  SmallVector<Value> result(2);
  if (needed[0])
    result[0] = g.make<Conv2dInputGradOp>(grads[0], getWeight(), getStride(),
                                          getPadding(), shapeOf(getX()),
                                          getDilation(), getGroups());
  if (needed[1])
    result[1] = g.make<Conv2dWeightGradOp>(
        getX(), grads[0], getStride(), getPadding(),
        shapeOf(getWeight()).take_back(2), getDilation(), getGroups());
  return result;
}

SmallVector<Value> Conv2dInputGradOp::buildGradient(OpBuilder &builder,
                                                    ValueRange grads,
                                                    ArrayRef<bool> needed) {
  GraphBuilder g(builder, getLoc());
  SmallVector<Value> result(2);
  if (needed[0])
    result[0] = g.make<Conv2dOp>(grads[0], getWeight(), getStride(),
                                 getPadding(), getDilation(), getGroups());
  if (needed[1])
    result[1] = g.make<Conv2dWeightGradOp>(
        grads[0], getDy(), getStride(), getPadding(),
        shapeOf(getWeight()).take_back(2), getDilation(), getGroups());
  return result;
}

SmallVector<Value> Conv2dWeightGradOp::buildGradient(OpBuilder &builder,
                                                     ValueRange grads,
                                                     ArrayRef<bool> needed) {
  GraphBuilder g(builder, getLoc());
  SmallVector<Value> result(2);
  if (needed[0])
    result[0] =
        g.make<Conv2dInputGradOp>(getDy(), grads[0], getStride(), getPadding(),
                                  shapeOf(getX()), getDilation(), getGroups());
  if (needed[1])
    result[1] = g.make<Conv2dOp>(getX(), grads[0], getStride(), getPadding(),
                                 getDilation(), getGroups());
  return result;
}
