#include "dialects/graph/Reference.h"

using namespace mlir;
using namespace dl::graph;

/// Position in the result of an element of x.
static int64_t reducedIndex(ArrayRef<int64_t> shape, ArrayRef<int64_t> index,
                            ArrayRef<int64_t> dims) {
  int64_t flat = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!llvm::is_contained(dims, static_cast<int64_t>(i)))
      flat = flat * shape[i] + index[i];
  return flat;
}

HostTensors SumOp::evaluate(ArrayRef<HostTensor> x) {
  HostTensor result(getResult().getType());
  forEachElement(x[0].shape(), [&](int64_t i, auto index) {
    int64_t to = reducedIndex(x[0].shape(), index, getDims());
    if (result.isFloat())
      result.floats[to] += x[0].floats[i];
    else
      result.ints[to] += x[0].ints[i];
  });
  return {result};
}

/// The maximum over dims and the position, along the last of dims, of the
/// first.
static std::pair<HostTensor, std::vector<int64_t>>
maximum(const HostTensor &x, ArrayRef<int64_t> dims, RankedTensorType type) {
  HostTensor values(type);
  std::vector<int64_t> where(values.size(), -1);
  forEachElement(x.shape(), [&](int64_t i, auto index) {
    int64_t to = reducedIndex(x.shape(), index, dims);
    bool better = where[to] < 0;
    if (x.isFloat()) {
      double best = values.floats[to], value = x.floats[i];
      better |= value > best || (value != value && best == best);
      if (better)
        values.floats[to] = value;
    } else {
      better |= x.ints[i] > values.ints[to];
      if (better)
        values.ints[to] = x.ints[i];
    }
    if (better)
      where[to] = dims.empty() ? 0 : index[dims.back()];
  });
  return {values, where};
}

HostTensors AmaxOp::evaluate(ArrayRef<HostTensor> x) {
  return {maximum(x[0], getDims(), getType()).first};
}

HostTensors MaxOp::evaluate(ArrayRef<HostTensor> x) {
  int64_t dim = getDim();
  auto [values, where] =
      maximum(x[0], dim, cast<RankedTensorType>(getValues().getType()));
  HostTensor indices(getIndices().getType());
  indices.ints = where;
  return {values, indices};
}

HostTensors ArgmaxOp::evaluate(ArrayRef<HostTensor> x) {
  int64_t dim = getDim();
  HostTensor indices(getResult().getType());
  auto values = RankedTensorType::get(indices.shape(), elementOf(getX()));
  indices.ints = maximum(x[0], dim, values).second;
  return {indices};
}
