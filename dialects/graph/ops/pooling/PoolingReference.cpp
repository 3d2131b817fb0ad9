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
    // A position that no maximum has names no element.
    if (row < 0 || row >= dx.shape()[2] || column < 0 ||
        column >= dx.shape()[3] || position >= product(getKernel()))
      return;
    dx.floats[flatIndex(dx.shape(), {at[0], at[1], row, column})] +=
        dy.floats[flat];
  });
  return {dx};
}

/// Calls visit(position in x, position in y) for each element of each window.
template <typename Op, typename Visit>
static void forEachWindowElement(Op op, ArrayRef<int64_t> x,
                                 ArrayRef<int64_t> y, Visit visit) {
  forEachElement(y, [&](int64_t flat, ArrayRef<int64_t> at) {
    forEachElement(op.getKernel(), [&](int64_t, ArrayRef<int64_t> tap) {
      int64_t row = at[2] * op.getStride()[0] + tap[0] - op.getPadding()[0];
      int64_t column = at[3] * op.getStride()[1] + tap[1] - op.getPadding()[1];
      if (row >= 0 && row < x[2] && column >= 0 && column < x[3])
        visit(flatIndex(x, {at[0], at[1], row, column}), flat);
    });
  });
}

HostTensors SumPool2dOp::evaluate(ArrayRef<HostTensor> operands) {
  HostTensor y(getType());
  forEachWindowElement(*this, operands[0].shape(), y.shape(),
                       [&](int64_t from, int64_t to) {
                         y.floats[to] += operands[0].floats[from];
                       });
  return {y};
}

HostTensors SumPool2dGradOp::evaluate(ArrayRef<HostTensor> operands) {
  HostTensor dx(getType());
  forEachWindowElement(*this, dx.shape(), operands[0].shape(),
                       [&](int64_t to, int64_t from) {
                         dx.floats[to] += operands[0].floats[from];
                       });
  return {dx};
}
