#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Reference.h"
#include "dialects/graph/ops/random/Philox.h"
#include "dialects/graph/ops/random/Random.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace dl::graph;

static uint32_t wordAt(const HostTensor &scalars, int64_t number, int64_t key) {
  return drawWord(number, scalars.ints[0], scalars.ints[1], scalars.ints[2],
                  key);
}

/// Calls visit(position here, position within the whole tensor).
template <typename Op, typename Visit>
static void forEachDraw(Op op, size_t dimsPerDraw, Visit visit) {
  DrawPlace place = drawPlaceOf(op);
  forEachElement(shapeOf(op.getResult()), [&](int64_t i, auto index) {
    int64_t whole = 0;
    for (size_t dim = 0; dim < dimsPerDraw; ++dim)
      whole = whole * place.extents[dim] + place.offset[dim] + index[dim];
    visit(i, whole);
  });
}

HostTensors UniformOp::evaluate(ArrayRef<HostTensor> operands) {
  HostTensor result(getResult().getType());
  forEachDraw(*this, result.shape().size(), [&](int64_t i, int64_t whole) {
    result.floats[i] =
        std::ldexp(wordAt(operands[0], whole, getKey()) >> 8, -24);
  });
  return {result};
}

HostTensors NormalOp::evaluate(ArrayRef<HostTensor> operands) {
  HostTensor result(getResult().getType());
  forEachDraw(*this, result.shape().size(), [&](int64_t i, int64_t whole) {
    uint32_t first = wordAt(operands[0], 2 * whole, getKey());
    uint32_t second = wordAt(operands[0], 2 * whole + 1, getKey());
    double u1 = std::ldexp((first >> 8) + 1, -24);
    double u2 = std::ldexp(second >> 8, -24);
    result.floats[i] =
        std::sqrt(-2 * std::log(u1)) * std::cos(2 * std::numbers::pi * u2);
  });
  return {result};
}

HostTensors DropoutOp::evaluate(ArrayRef<HostTensor> operands) {
  HostTensor result(getResult().getType());
  double p = getP().convertToDouble();
  double scale = roundTo(elementOf(getX()), 1 / (1 - p));
  size_t drawn = getChannelwise() ? 2 : result.shape().size();
  forEachDraw(*this, drawn, [&](int64_t i, int64_t whole) {
    uint32_t word = wordAt(operands[1], whole, getKey());
    bool keep = std::ldexp(word >> 8, -24) >= p;
    result.floats[i] = keep ? operands[0].floats[i] * scale : 0;
  });
  return {result};
}

int64_t UniformOp::getFlops() { return numElements(getResult()); }
int64_t NormalOp::getFlops() { return 6 * numElements(getResult()); }
int64_t DropoutOp::getFlops() { return numElements(getResult()); }

SmallVector<Value> DropoutOp::buildGradient(OpBuilder &builder,
                                            ValueRange grads, ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  Value dx = g.make<DropoutOp>(grads[0], getScalars(), getP(), getKey(),
                               getChannelwise(), getOffset(), getExtents());
  return {dx, Value()};
}
