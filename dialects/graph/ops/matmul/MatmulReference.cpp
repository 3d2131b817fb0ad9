#include "dialects/graph/Reference.h"

using namespace mlir;
using namespace dl::graph;

HostTensors MatmulOp::evaluate(ArrayRef<HostTensor> x) {
  HostTensor result(getType());
  int64_t rank = result.shape().size();
  int64_t rows = result.shape()[rank - 2], columns = result.shape()[rank - 1];
  int64_t inner = x[0].shape()[getTransposeA() ? rank - 2 : rank - 1];
  forEachElement(result.shape(), [&](int64_t i, auto index) {
    int64_t batch = rank == 3 ? index[0] : 0;
    int64_t m = index[rank - 2], n = index[rank - 1];
    const double *a = x[0].floats.data() + batch * rows * inner;
    const double *b = x[1].floats.data() + batch * inner * columns;
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k)
      sum += (getTransposeA() ? a[k * rows + m] : a[m * inner + k]) *
             (getTransposeB() ? b[n * inner + k] : b[k * columns + n]);
    result.floats[i] = sum;
  });
  return {result};
}

HostTensors LinearOp::evaluate(ArrayRef<HostTensor> x) {
  HostTensor result(getType());
  int64_t inner = x[1].shape()[1], columns = x[1].shape()[0];
  for (int64_t i = 0; i < result.size(); ++i) {
    const double *row = x[0].floats.data() + i / columns * inner;
    const double *weight = x[1].floats.data() + i % columns * inner;
    for (int64_t k = 0; k < inner; ++k)
      result.floats[i] += row[k] * weight[k];
  }
  return {result};
}
