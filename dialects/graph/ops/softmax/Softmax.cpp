#include "dialects/graph/Inference.h"

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
