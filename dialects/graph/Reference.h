// What reference evaluations share. They are slow and obvious on purpose.
#pragma once

#include "dialects/graph/Bf16.h"
#include "dialects/graph/Inference.h"

namespace dl::graph {

using HostTensors = llvm::SmallVector<HostTensor>;

/// Row-major position of an index.
inline int64_t flatIndex(llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<int64_t> index) {
  int64_t flat = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    flat = flat * shape[i] + index[i];
  return flat;
}

/// Position in a tensor of `shape` that is broadcast to where `index` is from.
inline int64_t broadcastIndex(llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<int64_t> index) {
  int64_t flat = 0;
  size_t leading = index.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    flat = flat * shape[i] + (shape[i] == 1 ? 0 : index[leading + i]);
  return flat;
}

/// Calls visit(position, index) for each element in row-major order.
template <typename Visit>
void forEachElement(llvm::ArrayRef<int64_t> shape, Visit visit) {
  llvm::SmallVector<int64_t> index(shape.size());
  int64_t count = product(shape);
  for (int64_t flat = 0; flat < count; ++flat) {
    int64_t rest = flat;
    for (size_t i = shape.size(); i-- > 0;) {
      index[i] = rest % shape[i];
      rest /= shape[i];
    }
    visit(flat, llvm::ArrayRef<int64_t>(index));
  }
}

/// A value in the precision of the element type.
inline double roundTo(mlir::Type element, double value) {
  if (element.isBF16())
    return nearestBf16(value).convertToFloat();
  return element.isF32() ? static_cast<double>(static_cast<float>(value))
                         : value;
}

/// f of each element, for ops that take floats only.
template <typename F>
HostTensors mapFloat(mlir::Operation *op, llvm::ArrayRef<HostTensor> x, F f) {
  HostTensor result(op->getResult(0).getType());
  for (int64_t i = 0; i < result.size(); ++i)
    result.floats[i] = f(x[0].floats[i]);
  return {result};
}

/// f of each pair of broadcast floats.
template <typename F>
HostTensors mapFloats(mlir::Operation *op, llvm::ArrayRef<HostTensor> x, F f) {
  HostTensor result(op->getResult(0).getType());
  forEachElement(result.shape(), [&](int64_t i, auto index) {
    result.floats[i] = f(x[0].floats[broadcastIndex(x[0].shape(), index)],
                         x[1].floats[broadcastIndex(x[1].shape(), index)]);
  });
  return {result};
}

/// f of each pair of broadcast elements, to elements of the same type.
template <typename F>
HostTensors mapNumbers(mlir::Operation *op, llvm::ArrayRef<HostTensor> x, F f) {
  if (x[0].isFloat())
    return mapFloats(op, x, f);
  HostTensor result(op->getResult(0).getType());
  forEachElement(result.shape(), [&](int64_t i, auto index) {
    result.ints[i] = f(x[0].ints[broadcastIndex(x[0].shape(), index)],
                       x[1].ints[broadcastIndex(x[1].shape(), index)]);
  });
  return {result};
}

/// f of each pair of broadcast elements, to bool.
template <typename F>
HostTensors compare(mlir::Operation *op, llvm::ArrayRef<HostTensor> x, F f) {
  HostTensor result(op->getResult(0).getType());
  forEachElement(result.shape(), [&](int64_t i, auto index) {
    int64_t a = broadcastIndex(x[0].shape(), index);
    int64_t b = broadcastIndex(x[1].shape(), index);
    result.ints[i] = x[0].isFloat() ? f(x[0].floats[a], x[1].floats[b])
                                    : f(x[0].ints[a], x[1].ints[b]);
  });
  return {result};
}

/// result[i] = x[from(index of i)], or `outside` where `from` gives -1.
template <typename From>
HostTensor gather(mlir::Type type, const HostTensor &x, From from,
                  double outside = 0) {
  HostTensor result(type);
  forEachElement(result.shape(), [&](int64_t i, auto index) {
    int64_t source = from(index);
    if (x.isFloat())
      result.floats[i] = source < 0 ? outside : x.floats[source];
    else
      result.ints[i] =
          source < 0 ? static_cast<int64_t>(outside) : x.ints[source];
  });
  return result;
}

} // namespace dl::graph
