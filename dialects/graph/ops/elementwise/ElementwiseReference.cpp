#include "dialects/graph/Reference.h"
#include <cmath>

using namespace mlir;
using namespace dl::graph;
using Operands = ArrayRef<HostTensor>;

HostTensors NegOp::evaluate(Operands x) {
  HostTensors result = {x[0]};
  for (double &value : result[0].floats)
    value = -value;
  for (int64_t &value : result[0].ints)
    value = -value;
  return result;
}

HostTensors AbsOp::evaluate(Operands x) {
  HostTensors result = {x[0]};
  for (double &value : result[0].floats)
    value = std::fabs(value);
  for (int64_t &value : result[0].ints)
    value = std::abs(value);
  return result;
}

HostTensors ExpOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return std::exp(a); });
}

HostTensors LogOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return std::log(a); });
}

HostTensors Log1pOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return std::log1p(a); });
}

HostTensors SqrtOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return std::sqrt(a); });
}

HostTensors RsqrtOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return 1 / std::sqrt(a); });
}

HostTensors SinOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return std::sin(a); });
}

HostTensors CosOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return std::cos(a); });
}

HostTensors TanhOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return std::tanh(a); });
}

HostTensors SigmoidOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return 1 / (1 + std::exp(-a)); });
}

HostTensors ErfOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return std::erf(a); });
}

HostTensors ReluOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return a < 0 ? 0 : a; });
}

HostTensors SignOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return (a > 0) - (a < 0); });
}

HostTensors FloorOp::evaluate(Operands x) {
  return mapFloat(*this, x, [](double a) { return std::floor(a); });
}

HostTensors AddOp::evaluate(Operands x) {
  return mapNumbers(*this, x, [](auto a, auto b) { return a + b; });
}

HostTensors SubOp::evaluate(Operands x) {
  return mapNumbers(*this, x, [](auto a, auto b) { return a - b; });
}

HostTensors MulOp::evaluate(Operands x) {
  return mapNumbers(*this, x, [](auto a, auto b) { return a * b; });
}

HostTensors DivOp::evaluate(Operands x) {
  return mapFloats(*this, x, [](double a, double b) { return a / b; });
}

HostTensors PowOp::evaluate(Operands x) {
  return mapFloats(*this, x, [](double a, double b) { return std::pow(a, b); });
}

HostTensors MaximumOp::evaluate(Operands x) {
  return mapNumbers(*this, x,
                    [](auto a, auto b) { return a > b || a != a ? a : b; });
}

HostTensors MinimumOp::evaluate(Operands x) {
  return mapNumbers(*this, x,
                    [](auto a, auto b) { return a < b || a != a ? a : b; });
}

HostTensors FloorDivideOp::evaluate(Operands x) {
  return mapNumbers(*this, x, [](auto a, auto b) {
    return b == 0 ? 0 : std::floor(static_cast<double>(a) / b);
  });
}

/// The function of integers.
template <typename Op, typename F>
static HostTensors mapBits(Op op, Operands x, F f) {
  return mapNumbers(op, x, [&](auto a, auto b) {
    return f(static_cast<int64_t>(a), static_cast<int64_t>(b));
  });
}

HostTensors BitwiseAndOp::evaluate(Operands x) {
  return mapBits(*this, x, [](int64_t a, int64_t b) { return a & b; });
}

HostTensors BitwiseOrOp::evaluate(Operands x) {
  return mapBits(*this, x, [](int64_t a, int64_t b) { return a | b; });
}

HostTensors BitwiseXorOp::evaluate(Operands x) {
  return mapBits(*this, x, [](int64_t a, int64_t b) { return a ^ b; });
}

HostTensors EqOp::evaluate(Operands x) {
  return compare(*this, x, [](auto a, auto b) { return a == b; });
}

HostTensors NeOp::evaluate(Operands x) {
  return compare(*this, x, [](auto a, auto b) { return a != b; });
}

HostTensors LtOp::evaluate(Operands x) {
  return compare(*this, x, [](auto a, auto b) { return a < b; });
}

HostTensors LeOp::evaluate(Operands x) {
  return compare(*this, x, [](auto a, auto b) { return a <= b; });
}

HostTensors GtOp::evaluate(Operands x) {
  return compare(*this, x, [](auto a, auto b) { return a > b; });
}

HostTensors GeOp::evaluate(Operands x) {
  return compare(*this, x, [](auto a, auto b) { return a >= b; });
}

HostTensors LogicalAndOp::evaluate(Operands x) {
  return compare(*this, x, [](auto a, auto b) { return a && b; });
}

HostTensors LogicalOrOp::evaluate(Operands x) {
  return compare(*this, x, [](auto a, auto b) { return a || b; });
}

HostTensors LogicalNotOp::evaluate(Operands x) {
  HostTensors result = {x[0]};
  for (int64_t &value : result[0].ints)
    value = !value;
  return result;
}

HostTensors SelectOp::evaluate(Operands x) {
  HostTensor result(getResult().getType());
  forEachElement(result.shape(), [&](int64_t i, auto index) {
    bool first = x[0].ints[broadcastIndex(x[0].shape(), index)];
    const HostTensor &chosen = first ? x[1] : x[2];
    int64_t source = broadcastIndex(chosen.shape(), index);
    if (chosen.isFloat())
      result.floats[i] = chosen.floats[source];
    else
      result.ints[i] = chosen.ints[source];
  });
  return {result};
}

HostTensors CastOp::evaluate(Operands x) {
  HostTensor result(getResult().getType());
  Type to = getTo();
  for (int64_t i = 0; i < result.size(); ++i) {
    if (result.isFloat()) {
      double value =
          x[0].isFloat() ? x[0].floats[i] : static_cast<double>(x[0].ints[i]);
      result.floats[i] = roundTo(to, value);
    } else if (to.isInteger(1)) {
      result.ints[i] = x[0].isFloat() ? x[0].floats[i] != 0 : x[0].ints[i] != 0;
    } else {
      int64_t value =
          x[0].isFloat() ? static_cast<int64_t>(x[0].floats[i]) : x[0].ints[i];
      if (to.isUnsignedInteger(8))
        value = static_cast<uint8_t>(value);
      if (to.isInteger(32))
        value = static_cast<int32_t>(value);
      result.ints[i] = value;
    }
  }
  return {result};
}
