#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Reference.h"
#include "dialects/graph/ops/random/Philox.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace dl::graph;

static std::array<uint32_t, 4> drawAt(const HostTensor &scalars, int64_t index,
                                      int64_t key) {
  return drawWords(index, scalars.ints[0], scalars.ints[1], scalars.ints[2],
                   key);
}

HostTensors UniformOp::evaluate(ArrayRef<HostTensor> operands) {
  HostTensor result(getResult().getType());
  for (int64_t i = 0; i < result.size(); ++i)
    result.floats[i] =
        std::ldexp(drawAt(operands[0], i, getKey())[0] >> 8, -24);
  return {result};
}

HostTensors NormalOp::evaluate(ArrayRef<HostTensor> operands) {
  HostTensor result(getResult().getType());
  for (int64_t i = 0; i < result.size(); ++i) {
    auto words = drawAt(operands[0], i, getKey());
    double u1 = std::ldexp((words[0] >> 8) + 1, -24);
    double u2 = std::ldexp(words[1] >> 8, -24);
    result.floats[i] =
        std::sqrt(-2 * std::log(u1)) * std::cos(2 * std::numbers::pi * u2);
  }
  return {result};
}

HostTensors DropoutOp::evaluate(ArrayRef<HostTensor> operands) {
  HostTensor result(getResult().getType());
  double p = getP().convertToDouble();
  double scale = roundTo(elementOf(getX()), 1 / (1 - p));
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t perDraw =
        getChannelwise() ? product(result.shape().drop_front(2)) : 1;
    auto words = drawAt(operands[1], i / perDraw, getKey());
    bool keep = std::ldexp(words[0] >> 8, -24) >= p;
    result.floats[i] = keep ? operands[0].floats[i] * scale : 0;
  }
  return {result};
}

int64_t UniformOp::getFlops() { return numElements(getResult()); }
int64_t NormalOp::getFlops() { return 6 * numElements(getResult()); }
int64_t DropoutOp::getFlops() { return numElements(getResult()); }

SmallVector<Value> DropoutOp::buildGradient(OpBuilder &builder,
                                            ValueRange grads, ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  Value dx = g.make<DropoutOp>(grads[0], getScalars(), getP(), getKey(),
                               getChannelwise());
  return {dx, Value()};
}
