#include "dialects/graph/Reference.h"

using namespace mlir;
using namespace dl::graph;

/// The index that belongs to an element of x, or one of its result; -1 where it
/// is outside of `size`.
static int64_t indexFor(const HostTensor &index, ArrayRef<int64_t> at,
                        int64_t size) {
  int64_t chosen = index.ints[broadcastIndex(index.shape(), at)];
  return chosen < 0 || chosen >= size ? -1 : chosen;
}

HostTensors GatherOp::evaluate(ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  size_t dim = getDim();
  return {gather(getType(), x, [&](ArrayRef<int64_t> index) -> int64_t {
    SmallVector<int64_t> source(index);
    source[dim] = indexFor(operands[1], index, x.shape()[dim]);
    return source[dim] < 0 ? -1 : flatIndex(x.shape(), source);
  })};
}

HostTensors ScatterAddOp::evaluate(ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[1];
  HostTensor result(getType());
  forEachElement(x.shape(), [&](int64_t i, auto index) {
    SmallVector<int64_t> to(index);
    to[getDim()] = indexFor(operands[0], index, getSize());
    if (to[getDim()] < 0)
      return;
    int64_t at = flatIndex(result.shape(), to);
    if (x.isFloat())
      result.floats[at] += x.floats[i];
    else
      result.ints[at] += x.ints[i];
  });
  return {result};
}
