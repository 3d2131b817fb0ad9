#include "dialects/graph/Reference.h"
#include "dialects/graph/ops/convolution/ConvolutionShapes.h"

using namespace mlir;
using namespace dl::graph;

namespace {
/// Positions in the three tensors of a convolution that meet in one product.
struct Meeting {
  int64_t x, weight, y;
};
} // namespace

/// Calls visit(meeting) for all products of a forward convolution.
template <typename Op, typename Visit>
static void forEachProduct(Op op, ArrayRef<int64_t> images,
                           ArrayRef<int64_t> filters, ArrayRef<int64_t> outputs,
                           Visit visit) {
  SmallVector<int64_t> x = mergedImages(images), weight = mergedWeight(filters),
                       y = mergedImages(outputs);
  ArrayRef<int64_t> stride = op.getStride(), padding = op.getPadding(),
                    dilation = op.getDilation();
  int64_t groups = op.getGroups(), outputsOfGroup = weight[0] / groups;
  forEachElement(y, [&](int64_t flat, ArrayRef<int64_t> at) {
    int64_t first = at[1] / outputsOfGroup * weight[1];
    for (int64_t i = 0; i < weight[2]; ++i) {
      int64_t row = at[2] * stride[0] + i * dilation[0] - padding[0];
      if (row < 0 || row >= x[2])
        continue;
      for (int64_t j = 0; j < weight[3]; ++j) {
        int64_t column = at[3] * stride[1] + j * dilation[1] - padding[1];
        if (column < 0 || column >= x[3])
          continue;
        int64_t atX = flatIndex(x, {at[0], first, row, column});
        int64_t atWeight = flatIndex(weight, {at[1], 0, i, j});
        for (int64_t c = 0; c < weight[1]; ++c)
          visit(Meeting{atX + c * x[2] * x[3],
                        atWeight + c * weight[2] * weight[3], flat});
      }
    }
  });
}

HostTensors Conv2dOp::evaluate(ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0], &weight = operands[1];
  HostTensor y(getType());
  forEachProduct(*this, x.shape(), weight.shape(), y.shape(), [&](Meeting m) {
    y.floats[m.y] += x.floats[m.x] * weight.floats[m.weight];
  });
  return {y};
}

HostTensors Conv2dInputGradOp::evaluate(ArrayRef<HostTensor> operands) {
  const HostTensor &dy = operands[0], &weight = operands[1];
  HostTensor dx(getType());
  forEachProduct(*this, dx.shape(), weight.shape(), dy.shape(), [&](Meeting m) {
    dx.floats[m.x] += dy.floats[m.y] * weight.floats[m.weight];
  });
  return {dx};
}

HostTensors Conv2dWeightGradOp::evaluate(ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0], &dy = operands[1];
  HostTensor dw(getType());
  forEachProduct(*this, x.shape(), dw.shape(), dy.shape(), [&](Meeting m) {
    dw.floats[m.weight] += x.floats[m.x] * dy.floats[m.y];
  });
  return {dw};
}
