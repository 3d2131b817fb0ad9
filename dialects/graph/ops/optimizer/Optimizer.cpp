#include "dialects/graph/ops/optimizer/Optimizer.h"

using namespace mlir;
using namespace dl::graph;

using Number = std::pair<StringRef, Attribute>;

double dl::graph::numberOf(Attribute option) {
  if (auto setting = dyn_cast<SettingAttr>(option))
    option = setting.getValue();
  return cast<FloatAttr>(option).getValueAsDouble();
}

bool dl::graph::isNone(Attribute option) {
  return isa<FloatAttr>(option) && numberOf(option) == 0;
}

static LogicalResult requireNotNegative(OptionalLoc loc, StringRef op,
                                        ArrayRef<Number> numbers) {
  for (const auto &[name, value] : numbers)
    if (double number = numberOf(value); !(number >= 0))
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
  Value param = adaptor.getParam(), buffer = adaptor.getMomentumBuffer();
  if (failed(
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
  if (failed(requireLike(loc, op, adaptor.getParam(),
                         {{"gradient", adaptor.getGrad()},
                          {"exp_avg", adaptor.getExpAvg()},
                          {"exp_avg_sq", adaptor.getExpAvgSq()},
                          {"max_exp_avg_sq", adaptor.getMaxExpAvgSq()}})) ||
      failed(
          requireNotNegative(loc, op,
                             {{"lr", adaptor.getLr()},
                              {"beta1", adaptor.getBeta1()},
                              {"beta2", adaptor.getBeta2()},
                              {"eps", adaptor.getEps()},
                              {"weight_decay", adaptor.getWeightDecay()}})) ||
      failed(requireCall(loc, op, adaptor.getCall(), adaptor.getCalls())))
    return failure();
  for (auto [name, beta] : {Number{"beta1", adaptor.getBeta1()},
                            Number{"beta2", adaptor.getBeta2()}})
    if (double number = numberOf(beta); number >= 1)
      return emitOptionalError(loc, op, ": ", name, " must be below 1, got ",
                               numberText(number));
  types.assign(adaptor.getMaxExpAvgSq() ? 4 : 3, adaptor.getParam().getType());
  return success();
}
