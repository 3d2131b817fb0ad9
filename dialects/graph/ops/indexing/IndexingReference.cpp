#include "dialects/graph/Reference.h"
#include <cmath>

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

/// put(element of the result, element of x) for each of x, in order.
static void forEachScattered(ArrayRef<HostTensor> operands, int64_t dim,
                             const HostTensor &result,
                             llvm::function_ref<void(int64_t, int64_t)> put) {
  forEachElement(operands[1].shape(), [&](int64_t i, auto index) {
    SmallVector<int64_t> to(index);
    to[dim] = indexFor(operands[0], index, result.shape()[dim]);
    if (to[dim] >= 0)
      put(flatIndex(result.shape(), to), i);
  });
}

HostTensors ScatterAddOp::evaluate(ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[1];
  HostTensor result(getType());
  forEachScattered(operands, getDim(), result, [&](int64_t to, int64_t i) {
    if (x.isFloat())
      result.floats[to] += x.floats[i];
    else
      result.ints[to] += x.ints[i];
  });
  return {result};
}

HostTensors ScatterAmaxOp::evaluate(ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[1];
  HostTensor result(getType());
  double least = identityOf(Combine::Max, elementOf(getX()));
  llvm::fill(result.floats, least);
  if (!x.isFloat())
    llvm::fill(result.ints, static_cast<int64_t>(least));
  forEachScattered(operands, getDim(), result, [&](int64_t to, int64_t i) {
    if (x.isFloat())
      result.floats[to] =
          x.floats[i] > result.floats[to] || std::isnan(x.floats[i])
              ? x.floats[i]
              : result.floats[to];
    else
      result.ints[to] = std::max(result.ints[to], x.ints[i]);
  });
  return {result};
}

HostTensors UpdateSliceOp::evaluate(ArrayRef<HostTensor> operands) {
  HostTensor result = operands[2];
  const HostTensor &slice = operands[1];
  forEachElement(slice.shape(), [&](int64_t i, auto index) {
    SmallVector<int64_t> to(index);
    to[getDim()] = indexFor(operands[0], {}, result.shape()[getDim()]);
    if (to[getDim()] < 0)
      return;
    int64_t at = flatIndex(result.shape(), to);
    if (slice.isFloat())
      result.floats[at] = slice.floats[i];
    else
      result.ints[at] = slice.ints[i];
  });
  return {result};
}
