#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Reference.h"
#include <cmath>

using namespace mlir;
using namespace dl::graph;

static LogicalResult inferAlong(OptionalLoc loc, StringRef op, Type x,
                                int64_t dim, SmallVectorImpl<Type> &types) {
  if (failed(requireFloat(loc, op, x)) || failed(requireDim(loc, op, dim, x)))
    return failure();
  types.push_back(x);
  return success();
}

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferAlong(loc, "softmax", adaptor.getX().getType(), adaptor.getDim(),
                    types);
}

LogicalResult LogSoftmaxOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  return inferAlong(loc, "log_softmax", adaptor.getX().getType(),
                    adaptor.getDim(), types);
}

SmallVector<Value> SoftmaxOp::buildGradient(OpBuilder &builder,
                                            ValueRange grads, ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  int64_t dim = getDim();
  Value weighted = g.make<MulOp>(grads[0], getResult());
  Value total = g.sum(weighted, dim, /*keepdim=*/true);
  Value rest = g.make<SubOp>(grads[0], total);
  return {g.make<MulOp>(rest, getResult())};
}

SmallVector<Value> LogSoftmaxOp::buildGradient(OpBuilder &builder,
                                               ValueRange grads,
                                               ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  int64_t dim = getDim();
  Value total = g.sum(grads[0], dim, /*keepdim=*/true);
  Value probability = g.make<ExpOp>(getResult());
  Value share = g.make<MulOp>(probability, total);
  return {g.make<SubOp>(grads[0], share)};
}

/// x minus its maximum along dim, so that exp cannot overflow.
static Value shifted(GraphBuilder &g, Value x, int64_t dim) {
  Value maximum = g.make<AmaxOp>(x, dim, /*keepdim=*/true);
  return g.make<SubOp>(x, maximum);
}

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &builder) {
  GraphBuilder g(builder, getLoc());
  int64_t dim = getDim();
  Value x = shifted(g, getX(), dim);
  Value exponential = g.make<ExpOp>(x);
  Value total = g.sum(exponential, dim, /*keepdim=*/true);
  return SmallVector<Value>{g.make<DivOp>(exponential, total)};
}

FailureOr<SmallVector<Value>> LogSoftmaxOp::decompose(OpBuilder &builder) {
  GraphBuilder g(builder, getLoc());
  int64_t dim = getDim();
  Value x = shifted(g, getX(), dim);
  Value exponential = g.make<ExpOp>(x);
  Value total = g.sum(exponential, dim, /*keepdim=*/true);
  Value logarithm = g.make<LogOp>(total);
  return SmallVector<Value>{g.make<SubOp>(x, logarithm)};
}

/// f(x, maximum and sum of exp(x - maximum) along dim) for each element.
template <typename F>
static HostTensors mapSlices(const HostTensor &x, int64_t dim, F f) {
  HostTensor result(x.type);
  ArrayRef<int64_t> shape = x.shape();
  int64_t size = shape[dim], stride = product(shape.drop_front(dim + 1));
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t start = i - i / stride % size * stride;
    double maximum = x.floats[start], total = 0;
    for (int64_t k = 0; k < size; ++k)
      maximum = std::max(maximum, x.floats[start + k * stride]);
    for (int64_t k = 0; k < size; ++k)
      total += std::exp(x.floats[start + k * stride] - maximum);
    result.floats[i] = f(x.floats[i], maximum, total);
  }
  return {result};
}

HostTensors SoftmaxOp::evaluate(ArrayRef<HostTensor> x) {
  return mapSlices(x[0], getDim(), [](double value, double max, double total) {
    return std::exp(value - max) / total;
  });
}

HostTensors LogSoftmaxOp::evaluate(ArrayRef<HostTensor> x) {
  return mapSlices(x[0], getDim(), [](double value, double max, double total) {
    return value - max - std::log(total);
  });
}

int64_t SoftmaxOp::getFlops() { return 5 * numElements(getX()); }
int64_t LogSoftmaxOp::getFlops() { return 5 * numElements(getX()); }
