#include "dialects/graph/Reference.h"

using namespace mlir;
using namespace dl::graph;

HostTensors MaxPool2dOp::evaluate(ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  HostTensor values(getValues().getType()), indices(getIndices().getType());
  forEachElement(values.shape(), [&](int64_t flat, ArrayRef<int64_t> at) {
    int64_t best = -1;
    double maximum = 0;
    forEachElement(getKernel(), [&](int64_t position, ArrayRef<int64_t> tap) {
      int64_t row = at[2] * getStride()[0] + tap[0] - getPadding()[0];
      int64_t column = at[3] * getStride()[1] + tap[1] - getPadding()[1];
      if (row < 0 || row >= x.shape()[2] || column < 0 ||
          column >= x.shape()[3])
        return;
      double value =
          x.floats[flatIndex(x.shape(), {at[0], at[1], row, column})];
      bool firstNan = value != value && maximum == maximum;
      if (best < 0 || value > maximum || firstNan) {
        best = position;
        maximum = value;
      }
    });
    values.floats[flat] = maximum;
    indices.ints[flat] = best;
  });
  return {values, indices};
}

HostTensors MaxPool2dGradOp::evaluate(ArrayRef<HostTensor> operands) {
  const HostTensor &dy = operands[0], &indices = operands[1];
  HostTensor dx(getType());
  forEachElement(dy.shape(), [&](int64_t flat, ArrayRef<int64_t> at) {
    int64_t position = indices.ints[flat], width = getKernel()[1];
    int64_t row = at[2] * getStride()[0] + position / width - getPadding()[0];
    int64_t column =
        at[3] * getStride()[1] + position % width - getPadding()[1];
    dx.floats[flatIndex(dx.shape(), {at[0], at[1], row, column})] +=
        dy.floats[flat];
  });
  return {dx};
}
