#include "dialects/graph/Reference.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace dl::graph;

/// Calls visit(first) with the position of each row's first element along dim.
template <typename Visit>
static void forEachRow(ArrayRef<int64_t> shape, int64_t dim, Visit visit) {
  forEachElement(shape, [&](int64_t i, auto index) {
    if (index[dim] == 0)
      visit(i);
  });
}

/// Calls visit(at, before) for all elements but each row's first one, in order.
template <typename Visit>
static void forEachStep(ArrayRef<int64_t> shape, int64_t dim, bool reverse,
                        Visit visit) {
  int64_t size = shape[dim], step = product(shape.drop_front(dim + 1));
  forEachRow(shape, dim, [&](int64_t first) {
    for (int64_t k = 1; k < size; ++k) {
      int64_t at = first + (reverse ? size - 1 - k : k) * step;
      visit(at, reverse ? at + step : at - step);
    }
  });
}

HostTensors CumsumOp::evaluate(ArrayRef<HostTensor> x) {
  HostTensor result = x[0];
  forEachStep(x[0].shape(), getDim(), getReverse(),
              [&](int64_t at, int64_t before) {
                if (x[0].isFloat())
                  result.floats[at] += result.floats[before];
                else
                  result.ints[at] += result.ints[before];
              });
  return {result};
}

HostTensors LinearRecurrenceOp::evaluate(ArrayRef<HostTensor> x) {
  HostTensor result = x[1];
  forEachStep(x[0].shape(), getDim(), getReverse(),
              [&](int64_t at, int64_t before) {
                if (x[0].isFloat())
                  result.floats[at] += x[0].floats[at] * result.floats[before];
                else
                  result.ints[at] += x[0].ints[at] * result.ints[before];
              });
  return {result};
}

HostTensors ArgcummaxOp::evaluate(ArrayRef<HostTensor> x) {
  HostTensor result(getType());
  int64_t dim = getDim(), size = x[0].shape()[dim];
  int64_t step = product(x[0].shape().drop_front(dim + 1));
  forEachRow(x[0].shape(), dim, [&](int64_t first) {
    int64_t best = 0;
    for (int64_t k = 0; k < size; ++k) {
      int64_t now = first + k * step, then = first + best * step;
      if (x[0].isFloat() ? std::isnan(x[0].floats[now]) ||
                               x[0].floats[now] >= x[0].floats[then]
                         : x[0].ints[now] >= x[0].ints[then])
        best = k;
      result.ints[now] = best;
    }
  });
  return {result};
}

HostTensors ArgsortOp::evaluate(ArrayRef<HostTensor> x) {
  HostTensor result(getType());
  int64_t dim = getDim(), size = x[0].shape()[dim];
  int64_t step = product(x[0].shape().drop_front(dim + 1));
  forEachRow(x[0].shape(), dim, [&](int64_t first) {
    auto less = [&](int64_t a, int64_t b) {
      if (getDescending())
        std::swap(a, b);
      int64_t i = first + a * step, j = first + b * step;
      if (!x[0].isFloat())
        return x[0].ints[i] < x[0].ints[j];
      return x[0].floats[i] < x[0].floats[j] ||
             (std::isnan(x[0].floats[j]) && !std::isnan(x[0].floats[i]));
    };
    auto before = [&](int64_t a, int64_t b) {
      return less(a, b) || (!less(b, a) && a < b);
    };
    std::vector<int64_t> order(size);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), before);
    int64_t count = result.shape()[dim];
    int64_t begin = first / (size * step) * count * step + first % step;
    for (int64_t k = 0; k < count; ++k)
      result.ints[begin + k * step] = order[k];
  });
  return {result};
}
