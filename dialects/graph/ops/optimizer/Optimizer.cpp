#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

static LogicalResult requireRanges(OptionalLoc loc, SgdOp::Adaptor adaptor) {
  std::pair<StringRef, double> numbers[] = {
      {"lr", adaptor.getLr().convertToDouble()},
      {"momentum", adaptor.getMomentum().convertToDouble()},
      {"weight_decay", adaptor.getWeightDecay().convertToDouble()}};
  for (auto [name, value] : numbers)
    if (!(value >= 0))
      return emitOptionalError(
          loc, "SGD: ", name, " must not be negative, got ", numberText(value));
  if (adaptor.getNesterov() &&
      (adaptor.getMomentum().isZero() || !adaptor.getDampening().isZero()))
    return emitOptionalError(loc,
                             "SGD: nesterov needs a momentum and no dampening");
  return success();
}

LogicalResult SgdOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  Type param = adaptor.getParam().getType();
  if (failed(requireFloat(loc, "SGD", param)) ||
      failed(requireRanges(loc, adaptor)))
    return failure();
  if (adaptor.getGrad().getType() != param)
    return emitOptionalError(loc, "SGD: the gradient is ",
                             typeText(adaptor.getGrad().getType()),
                             ", the parameter ", typeText(param));
  Value buffer = adaptor.getMomentumBuffer();
  if ((adaptor.getMomentum().convertToDouble() != 0) != (buffer != nullptr))
    return emitOptionalError(
        loc, "SGD: a momentum buffer goes with a momentum, and only with it");
  if (buffer && buffer.getType() != param)
    return emitOptionalError(loc, "SGD: the momentum buffer is ",
                             typeText(buffer.getType()), ", the parameter ",
                             typeText(param));
  types.push_back(param);
  if (buffer)
    types.push_back(param);
  return success();
}
