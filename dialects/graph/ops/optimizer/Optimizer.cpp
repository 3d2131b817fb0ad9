#include "dialects/graph/ops/optimizer/Optimizer.h"

#include <cmath>

using namespace mlir;
using namespace dl::graph;

using NamedNumber = std::pair<StringRef, Attribute>;

double dl::graph::numberOf(Attribute option) {
  if (isa<OperandNumberAttr>(option))
    return 0;
  if (auto setting = dyn_cast<SettingAttr>(option))
    option = setting.getValue();
  return cast<FloatAttr>(option).getValueAsDouble();
}

bool dl::graph::isNone(Attribute option) {
  return isa<FloatAttr>(option) && numberOf(option) == 0;
}

/// The options of an op or of an adaptor that may be operands.
template <class T> static SmallVector<Attribute> optionsOf(T op) {
  if constexpr (requires { op.getMomentum(); })
    return {op.getLr(), op.getMomentum(), op.getDampening(),
            op.getWeightDecay(), op.getCount()};
  else
    return {op.getLr(),  op.getBeta1(),       op.getBeta2(),
            op.getEps(), op.getWeightDecay(), op.getCount()};
}

/// The slot among the operands that may or may not be there, and the numbers
/// behind it.
template <class T> static std::pair<Value, ValueRange> othersOf(T op) {
  ValueRange others = op.getOthers();
  size_t numbers =
      static_cast<size_t>(llvm::count_if(optionsOf(op), [](Attribute one) {
        return isa<OperandNumberAttr>(one);
      }));
  if (others.size() <= numbers)
    return {Value(), others};
  return {others.front(), others.drop_front()};
}

Value SgdOp::getMomentumBuffer() { return othersOf(*this).first; }
Value AdamOp::getMaxExpAvgSq() { return othersOf(*this).first; }
ValueRange dl::graph::numbersOf(SgdOp op) { return othersOf(op).second; }
ValueRange dl::graph::numbersOf(AdamOp op) { return othersOf(op).second; }

/// The numbers that options name are there, each f64 [].
template <class T>
static LogicalResult requireNumbers(OptionalLoc loc, StringRef op, T adaptor) {
  ValueRange numbers = othersOf(adaptor).second;
  for (Value number : numbers)
    if (!elementOf(number).isF64() || !shapeOf(number).empty())
      return emitOptionalError(loc, op, ": a number among the operands is ",
                               typeText(number.getType()), ", not f64 []");
  if (!isNone(adaptor.getCount()) &&
      !isa<OperandNumberAttr>(adaptor.getCount()))
    return emitOptionalError(loc, op, ": count is computed in the step");
  size_t named = 0;
  for (Attribute option : optionsOf(adaptor))
    if (auto operand = dyn_cast<OperandNumberAttr>(option)) {
      ++named;
      if (operand.getIndex() < 0 ||
          operand.getIndex() >= static_cast<int64_t>(numbers.size()))
        return emitOptionalError(loc, op, ": there is no number ",
                                 operand.getIndex(), " among the operands");
    }
  if (named != numbers.size())
    return emitOptionalError(loc, op, ": ", numbers.size(),
                             " numbers are operands, ", named, " are used");
  return success();
}

static LogicalResult requireNotNegative(OptionalLoc loc, StringRef op,
                                        ArrayRef<NamedNumber> numbers) {
  for (const auto &[name, value] : numbers)
    if (double number = numberOf(value); std::isnan(number))
      return emitOptionalError(loc, op, ": ", name, " is not a number");
    else if (number < 0)
      return emitOptionalError(loc, op, ": ", name,
                               " must not be negative, got ",
                               numberText(number));
  return success();
}

static LogicalResult requireCall(OptionalLoc loc, StringRef op, int64_t call,
                                 int64_t calls) {
  if (call >= 0 && call < calls)
    return success();
  return emitOptionalError(loc, op, ": call ", call, " of ", calls);
}

/// Gradient and slots look like the parameter.
static LogicalResult requireLike(OptionalLoc loc, StringRef op, Value param,
                                 ArrayRef<std::pair<StringRef, Value>> others) {
  if (failed(requireFloat(loc, op, param.getType())))
    return failure();
  for (auto [name, value] : others)
    if (value && value.getType() != param.getType())
      return emitOptionalError(loc, op, ": the ", name, " is ",
                               typeText(value.getType()), ", the parameter ",
                               typeText(param.getType()));
  return success();
}

LogicalResult SgdOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  Value param = adaptor.getParam(), buffer = othersOf(adaptor).first;
  if (failed(requireNumbers(loc, "SGD", adaptor)) ||
      failed(
          requireLike(loc, "SGD", param, {{"gradient", adaptor.getGrad()}})) ||
      failed(
          requireNotNegative(loc, "SGD",
                             {{"lr", adaptor.getLr()},
                              {"momentum", adaptor.getMomentum()},
                              {"weight_decay", adaptor.getWeightDecay()}})) ||
      failed(requireCall(loc, "SGD", adaptor.getCall(), adaptor.getCalls())))
    return failure();
  if (adaptor.getNesterov() &&
      (isNone(adaptor.getMomentum()) || !isNone(adaptor.getDampening())))
    return emitOptionalError(loc,
                             "SGD: nesterov needs a momentum and no dampening");
  if (isNone(adaptor.getMomentum()) == (buffer != nullptr))
    return emitOptionalError(
        loc, "SGD: a momentum buffer goes with a momentum, and only with it");
  if (failed(requireLike(loc, "SGD", param, {{"momentum buffer", buffer}})))
    return failure();
  types.assign(buffer ? 2 : 1, param.getType());
  return success();
}

LogicalResult AdamOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  StringRef op = adaptor.getDecoupled() ? "AdamW" : "Adam";
  Value largest = othersOf(adaptor).first;
  if (failed(requireNumbers(loc, op, adaptor)) ||
      failed(requireLike(loc, op, adaptor.getParam(),
                         {{"gradient", adaptor.getGrad()},
                          {"exp_avg", adaptor.getExpAvg()},
                          {"exp_avg_sq", adaptor.getExpAvgSq()},
                          {"max_exp_avg_sq", largest}})) ||
      failed(
          requireNotNegative(loc, op,
                             {{"lr", adaptor.getLr()},
                              {"beta1", adaptor.getBeta1()},
                              {"beta2", adaptor.getBeta2()},
                              {"eps", adaptor.getEps()},
                              {"weight_decay", adaptor.getWeightDecay()}})) ||
      failed(requireCall(loc, op, adaptor.getCall(), adaptor.getCalls())))
    return failure();
  for (auto [name, beta] : {NamedNumber{"beta1", adaptor.getBeta1()},
                            NamedNumber{"beta2", adaptor.getBeta2()}})
    if (double number = numberOf(beta); number >= 1)
      return emitOptionalError(loc, op, ": ", name, " must be below 1, got ",
                               numberText(number));
  types.assign(largest ? 4 : 3, adaptor.getParam().getType());
  return success();
}
