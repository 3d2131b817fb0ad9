#include "test/compiler/PayloadInterpreter.h"
#include "dialects/graph/Payload.h"
#include "dialects/graph/Reference.h"
#include "dialects/graph/ops/random/Philox.h"
#include "llvm/ADT/TypeSwitch.h"
#include <bit>
#include <cmath>

using namespace mlir;
using namespace dl;

namespace dl::test {

namespace {

/// A scalar: floats in `number`, integers and indices in `bits`, sign-extended.
struct Scalar {
  double number = 0;
  int64_t bits = 0;
};

class Machine {
public:
  Machine(ArrayRef<int64_t> scalars, std::string &error)
      : scalars(scalars), error(error) {}

  void set(Value value, Scalar scalar) {
    Type type = value.getType();
    if (type.isF32())
      scalar.number = static_cast<float>(scalar.number);
    if (type.isInteger(1))
      scalar.bits &= 1;
    else if (type.isInteger(8))
      scalar.bits = static_cast<int8_t>(scalar.bits);
    else if (type.isInteger(32))
      scalar.bits = static_cast<int32_t>(scalar.bits);
    values[value] = scalar;
  }
  Scalar get(Value value) const { return values.lookup(value); }

  void run(Operation &op);

private:
  double f(Operation &op, int i) const { return get(op.getOperand(i)).number; }
  int64_t s(Operation &op, int i) const { return get(op.getOperand(i)).bits; }
  uint64_t u(Operation &op, int i) const {
    unsigned width = op.getOperand(i).getType().isIndex()
                         ? 64
                         : op.getOperand(i).getType().getIntOrFloatBitWidth();
    uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    return static_cast<uint64_t>(s(op, i)) & mask;
  }
  bool runFloats(Operation &op);
  bool runIntegers(Operation &op);
  bool runOther(Operation &op);
  bool compareFloats(arith::CmpFOp op) const;
  bool compareIntegers(arith::CmpIOp op) const;

  llvm::DenseMap<Value, Scalar> values;
  ArrayRef<int64_t> scalars;
  std::string &error;
};

bool Machine::runFloats(Operation &op) {
  using namespace arith;
  std::optional<double> result =
      llvm::TypeSwitch<Operation *, std::optional<double>>(&op)
          .Case([&](AddFOp) { return f(op, 0) + f(op, 1); })
          .Case([&](SubFOp) { return f(op, 0) - f(op, 1); })
          .Case([&](MulFOp) { return f(op, 0) * f(op, 1); })
          .Case([&](DivFOp) { return f(op, 0) / f(op, 1); })
          .Case([&](NegFOp) { return -f(op, 0); })
          .Case([&](MaximumFOp) { return std::fmax(f(op, 0), f(op, 1)); })
          .Case([&](MinimumFOp) { return std::fmin(f(op, 0), f(op, 1)); })
          .Case([&](math::AbsFOp) { return std::fabs(f(op, 0)); })
          .Case([&](math::ExpOp) { return std::exp(f(op, 0)); })
          .Case([&](math::LogOp) { return std::log(f(op, 0)); })
          .Case([&](math::SqrtOp) { return std::sqrt(f(op, 0)); })
          .Case([&](math::SinOp) { return std::sin(f(op, 0)); })
          .Case([&](math::CosOp) { return std::cos(f(op, 0)); })
          .Case([&](math::TanhOp) { return std::tanh(f(op, 0)); })
          .Case([&](math::ErfOp) { return std::erf(f(op, 0)); })
          .Case([&](math::FloorOp) { return std::floor(f(op, 0)); })
          .Case([&](math::PowFOp) { return std::pow(f(op, 0), f(op, 1)); })
          .Case([&](ExtFOp) { return f(op, 0); })
          .Case([&](TruncFOp) { return f(op, 0); })
          .Case([&](BitcastOp) { return std::bit_cast<double>(s(op, 0)); })
          .Case([&](SIToFPOp) { return static_cast<double>(s(op, 0)); })
          .Case([&](UIToFPOp) { return static_cast<double>(u(op, 0)); })
          .Default([](Operation *) { return std::nullopt; });
  if (result)
    set(op.getResult(0), {*result, 0});
  return result.has_value();
}

bool Machine::runIntegers(Operation &op) {
  using namespace arith;
  std::optional<int64_t> result =
      llvm::TypeSwitch<Operation *, std::optional<int64_t>>(&op)
          .Case([&](AddIOp) { return s(op, 0) + s(op, 1); })
          .Case([&](SubIOp) { return s(op, 0) - s(op, 1); })
          .Case([&](MulIOp) { return s(op, 0) * s(op, 1); })
          .Case([&](AndIOp) { return s(op, 0) & s(op, 1); })
          .Case([&](OrIOp) { return s(op, 0) | s(op, 1); })
          .Case([&](XOrIOp) { return s(op, 0) ^ s(op, 1); })
          .Case([&](MaxSIOp) { return std::max(s(op, 0), s(op, 1)); })
          .Case([&](MinSIOp) { return std::min(s(op, 0), s(op, 1)); })
          .Case([&](MaxUIOp) { return std::max(u(op, 0), u(op, 1)); })
          .Case([&](MinUIOp) { return std::min(u(op, 0), u(op, 1)); })
          .Case([&](DivSIOp) { return s(op, 0) / s(op, 1); })
          .Case([&](RemUIOp) { return u(op, 0) % u(op, 1); })
          .Case([&](ShRUIOp) { return u(op, 0) >> u(op, 1); })
          .Case([&](ExtSIOp) { return s(op, 0); })
          .Case([&](ExtUIOp) { return u(op, 0); })
          .Case([&](TruncIOp) { return s(op, 0); })
          .Case([&](IndexCastOp) { return s(op, 0); })
          .Case([&](FPToSIOp) { return static_cast<int64_t>(f(op, 0)); })
          .Case([&](FPToUIOp) { return static_cast<int64_t>(f(op, 0)); })
          .Case([&](CmpFOp compare) { return compareFloats(compare); })
          .Case([&](CmpIOp compare) { return compareIntegers(compare); })
          .Case([&](graph::ScalarOp scalar) {
            return scalars[static_cast<size_t>(scalar.getWhich())];
          })
          .Default([](Operation *) { return std::nullopt; });
  if (result)
    set(op.getResult(0), {0, *result});
  return result.has_value();
}

bool Machine::runOther(Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      set(constant, {number.getValueAsDouble(), 0});
    else
      set(constant,
          {0,
           cast<IntegerAttr>(constant.getValue()).getValue().getSExtValue()});
    return true;
  }
  if (isa<arith::SelectOp>(op)) {
    set(op.getResult(0), get(op.getOperand(s(op, 0) ? 1 : 2)));
    return true;
  }
  if (auto draw = dyn_cast<graph::PhiloxOp>(op)) {
    int64_t count = draw.getNumResults();
    for (auto [j, word] : llvm::enumerate(draw.getWords()))
      set(word, {0, graph::drawWord(s(op, 0) * count + j, s(op, 1), s(op, 2),
                                    s(op, 3), s(op, 4))});
    return true;
  }
  return false;
}

bool Machine::compareFloats(arith::CmpFOp op) const {
  double a = get(op.getLhs()).number, b = get(op.getRhs()).number;
  switch (op.getPredicate()) {
  case arith::CmpFPredicate::OEQ:
    return a == b;
  case arith::CmpFPredicate::UNE:
    return a != b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  default:
    error = "a comparison of floats that no payload uses";
    return false;
  }
}

bool Machine::compareIntegers(arith::CmpIOp op) const {
  int64_t a = get(op.getLhs()).bits, b = get(op.getRhs()).bits;
  return arith::applyCmpPredicate(op.getPredicate(), APInt(64, a, true),
                                  APInt(64, b, true));
}

void Machine::run(Operation &op) {
  if (!runFloats(op) && !runIntegers(op) && !runOther(op))
    error = op.getName().getStringRef().str() + " is no payload op";
}

/// The element of an operand that one iteration reads.
Scalar load(const graph::LoopNest &nest, size_t operand,
            ArrayRef<graph::HostTensor> operands, ArrayRef<int64_t> iteration,
            std::string &error) {
  const graph::Access &access = nest.accesses[operand];
  const graph::HostTensor &tensor = operands[operand];
  SmallVector<int64_t, 4> index = access.map.compose(iteration);
  if (access.indirect)
    index[access.indirect->dim] =
        load(nest, access.indirect->operand, operands, iteration, error).bits;
  bool inside = true;
  for (size_t i = 0; i < index.size(); ++i)
    inside &= index[i] >= 0 && index[i] < tensor.shape()[i];
  for (AffineExpr guard : access.guards) {
    AffineMap map = AffineMap::get(iteration.size(), 0, guard);
    inside &= map.compose(iteration)[0] == 0;
  }
  if (!inside && !access.outside) {
    error = "an access leaves its operand";
    return {};
  }
  if (!inside)
    return {*access.outside, static_cast<int64_t>(*access.outside)};
  int64_t flat = graph::flatIndex(tensor.shape(), index);
  if (tensor.isFloat())
    return {tensor.floats[flat], 0};
  return {0, tensor.ints[flat]};
}

/// The positions that put the first elements of a reduction in order: results
/// are the i-th of them.
void order(const graph::Ordered &ordered, int64_t count,
           graph::HostTensor &results,
           llvm::function_ref<Scalar(ArrayRef<int64_t>)> valueAt) {
  graph::forEachElement(
      results.shape(), [&](int64_t flat, ArrayRef<int64_t> index) {
        SmallVector<int64_t> iteration(index);
        iteration.push_back(0);
        auto key = [&](int64_t place) {
          iteration[ordered.over] = place;
          Scalar value = valueAt(iteration);
          return value.number + static_cast<double>(value.bits);
        };
        // Its rank is the number of those before it.
        for (int64_t place = 0; place < count; ++place) {
          int64_t rank = 0;
          double own = key(place);
          for (int64_t other = 0; other < count; ++other) {
            double rival = key(other);
            bool first = ordered.descending ? rival > own : rival < own;
            rank += first || (rival == own && other < place);
          }
          if (rank == index[ordered.at])
            results.ints[flat] = place;
        }
      });
}

/// Each result by itself, from all that comes before it.
void scan(const graph::LoopNest &nest, graph::HostTensor &results,
          llvm::function_ref<Scalar(unsigned, ArrayRef<int64_t>)> operandAt) {
  const graph::Scan &scan = *nest.scan;
  int64_t count = nest.extents[scan.over];
  graph::forEachElement(results.shape(), [&](int64_t flat,
                                             ArrayRef<int64_t> index) {
    SmallVector<int64_t> iteration(index);
    iteration.push_back(0);
    Scalar soFar, best;
    int64_t steps = scan.reverse ? count - 1 - index[scan.at] : index[scan.at];
    for (int64_t step = 0; step <= steps; ++step) {
      int64_t place = scan.reverse ? count - 1 - step : step;
      iteration[scan.over] = place;
      Scalar x = operandAt(0, iteration);
      if (scan.kind == graph::Scan::Argmax) {
        bool better = step == 0 || std::isnan(x.number) ||
                      (x.number >= best.number && x.bits >= best.bits);
        best = better ? x : best;
        soFar.bits = better ? place : soFar.bits;
      } else if (scan.kind == graph::Scan::Linear) {
        Scalar more = operandAt(1, iteration);
        soFar.number = x.number * soFar.number + more.number;
        soFar.bits = x.bits * soFar.bits + more.bits;
      } else {
        soFar.number += x.number;
        soFar.bits += x.bits;
      }
    }
    if (results.isFloat())
      results.floats[flat] = soFar.number;
    else
      results.ints[flat] = soFar.bits;
  });
}

/// Combines the payload's value into the results at `flat`.
void combine(const graph::LoopNest &nest, Scalar value, bool first,
             int64_t position, int64_t flat, graph::HostTensor &best,
             SmallVectorImpl<int64_t> &where) {
  double *number = best.isFloat() ? &best.floats[flat] : nullptr;
  int64_t *integer = best.isFloat() ? nullptr : &best.ints[flat];
  if (nest.combine == graph::Combine::Sum) {
    if (number)
      *number += value.number;
    else
      *integer += value.bits;
    return;
  }
  bool better = first;
  if (number)
    better |= value.number > *number ||
              (std::isnan(value.number) && !std::isnan(*number));
  else
    better |= value.bits > *integer;
  if (!better)
    return;
  if (number)
    *number = value.number;
  else
    *integer = value.bits;
  where[flat] = position;
}

Type valueElement(graph::LoopNestOpInterface op, const graph::LoopNest &nest) {
  bool onlyIndex = nest.combine == graph::Combine::Max && !nest.yieldsValue;
  return graph::elementOf(onlyIndex ? op->getOperand(0) : op->getResult(0));
}

} // namespace

SmallVector<graph::HostTensor>
interpretNest(graph::LoopNestOpInterface op,
              ArrayRef<graph::HostTensor> operands, std::string &error) {
  graph::LoopNest nest = op.getLoopNest();
  graph::PayloadBlock payload(op, nest.extents.size());

  ArrayRef<int64_t> shape = graph::shapeOf(op->getResult(0));
  graph::HostTensor values(
      RankedTensorType::get(shape, valueElement(op, nest)));
  SmallVector<int64_t> where(values.size());
  int64_t combined =
      graph::product(ArrayRef(nest.extents).drop_front(nest.numParallel));
  ArrayRef<int64_t> scalars;
  if (!operands.empty())
    scalars = operands.back().ints;
  if (nest.accesses.size() != operands.size() || payload.results.size() != 1)
    error = "needs one access for each operand and one value";
  auto valueAt = [&](ArrayRef<int64_t> iteration) {
    Machine machine(scalars, error);
    for (size_t i = 0; i < operands.size(); ++i)
      machine.set(payload.scalars()[i],
                  load(nest, i, operands, iteration, error));
    for (size_t i = 0; i < iteration.size(); ++i)
      machine.set(payload.indices()[i], {0, iteration[i]});
    for (Operation &step : payload.block)
      machine.run(step);
    Scalar value = machine.get(payload.results[0]);
    if (values.type.getElementType().isUnsignedInteger(8))
      value.bits &= 0xff;
    return value;
  };
  if (nest.ordered) {
    order(*nest.ordered, nest.extents[nest.ordered->over], values, valueAt);
    return {values};
  }
  if (nest.scan) {
    scan(nest, values, [&](unsigned operand, ArrayRef<int64_t> iteration) {
      return load(nest, operand, operands, iteration, error);
    });
    return {values};
  }
  graph::forEachElement(
      nest.extents, [&](int64_t flat, ArrayRef<int64_t> iteration) {
        if (!error.empty())
          return;
        Scalar value = valueAt(iteration);
        if (nest.combine != graph::Combine::None)
          return combine(nest, value, flat % combined == 0, flat % combined,
                         flat / combined, values, where);
        if (values.isFloat())
          values.floats[flat] = value.number;
        else
          values.ints[flat] = value.bits;
      });

  SmallVector<graph::HostTensor> results;
  bool onlyIndex = nest.combine == graph::Combine::Max && !nest.yieldsValue;
  if (!onlyIndex)
    results.push_back(values);
  if (nest.combine == graph::Combine::Max && nest.yieldsIndex) {
    graph::HostTensor positions(op->getResults().back().getType());
    positions.ints.assign(where.begin(), where.end());
    results.push_back(positions);
  }
  return results;
}

} // namespace dl::test
