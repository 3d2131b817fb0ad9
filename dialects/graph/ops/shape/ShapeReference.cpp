#include "dialects/graph/Reference.h"

using namespace mlir;
using namespace dl::graph;
using Index = ArrayRef<int64_t>;

HostTensors ReshapeOp::evaluate(ArrayRef<HostTensor> x) {
  HostTensor result = x[0];
  result.type = getType();
  return {result};
}

HostTensors TransposeOp::evaluate(ArrayRef<HostTensor> x) {
  return {gather(getType(), x[0], [&](Index index) {
    SmallVector<int64_t> source(index.size());
    for (auto [i, dim] : llvm::enumerate(getPermutation()))
      source[dim] = index[i];
    return flatIndex(x[0].shape(), source);
  })};
}

HostTensors CopyOp::evaluate(ArrayRef<HostTensor> x) { return {x[0]}; }

HostTensors ExpandOp::evaluate(ArrayRef<HostTensor> x) {
  return {gather(getType(), x[0], [&](Index index) {
    return broadcastIndex(x[0].shape(), index);
  })};
}

HostTensors PadOp::evaluate(ArrayRef<HostTensor> x) {
  auto from = [&](Index index) -> int64_t {
    SmallVector<int64_t> source;
    for (size_t i = 0; i < index.size(); ++i) {
      int64_t shifted = index[i] - getLow()[i], step = getInterior()[i] + 1;
      if (shifted < 0 || shifted % step || shifted / step >= x[0].shape()[i])
        return -1;
      source.push_back(shifted / step);
    }
    return flatIndex(x[0].shape(), source);
  };
  return {gather(getType(), x[0], from, getValue().convertToDouble())};
}

HostTensors FlipOp::evaluate(ArrayRef<HostTensor> x) {
  return {gather(getType(), x[0], [&](Index index) {
    SmallVector<int64_t> source(index);
    for (int64_t dim : getDims())
      source[dim] = x[0].shape()[dim] - 1 - index[dim];
    return flatIndex(x[0].shape(), source);
  })};
}

HostTensors SliceOp::evaluate(ArrayRef<HostTensor> x) {
  return {gather(getType(), x[0], [&](Index index) {
    SmallVector<int64_t> source;
    for (size_t i = 0; i < index.size(); ++i)
      source.push_back(getOffsets()[i] + index[i] * getStrides()[i]);
    return flatIndex(x[0].shape(), source);
  })};
}
