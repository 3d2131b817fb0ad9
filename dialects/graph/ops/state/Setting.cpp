#include "dialects/graph/Payload.h"
#include "dialects/graph/Reference.h"
#include <bit>

using namespace mlir;
using namespace dl::graph;

static RankedTensorType settingType(MLIRContext *context) {
  return RankedTensorType::get({}, Float64Type::get(context));
}

LogicalResult SettingOp::inferReturnTypes(MLIRContext *context, OptionalLoc loc,
                                          Adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(settingType(context));
  return success();
}

LogicalResult ReadSettingOp::inferReturnTypes(MLIRContext *context,
                                              OptionalLoc loc, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  auto from = cast<RankedTensorType>(adaptor.getScalars().getType());
  int64_t position = adaptor.getPosition();
  if (!from.getElementType().isSignlessInteger(64) || from.getRank() != 1)
    return emitOptionalError(loc,
                             "read_setting: the step's values are i64 [n],"
                             " got ",
                             typeText(from));
  if (position < 0 || position >= from.getDimSize(0))
    return emitOptionalError(loc, "read_setting: there is no value ", position,
                             " in ", typeText(from));
  types.push_back(settingType(context));
  return success();
}

LoopNest ReadSettingOp::getLoopNest() {
  LoopNest nest;
  AffineExpr at = getAffineConstantExpr(getPosition(), getContext());
  nest.accesses.push_back({AffineMap::get(0, 0, at), {}, {}});
  return nest;
}

SmallVector<LaunchConstant> ReadSettingOp::getLaunchConstants() {
  return {{"position", 0, 0, numElements(getScalars()) - 1, 1, 0}};
}

SmallVector<Value> ReadSettingOp::buildBody(OpBuilder &builder, Location loc,
                                            ValueRange bits, ValueRange) {
  return {
      arith::BitcastOp::create(builder, loc, builder.getF64Type(), bits[0])};
}

HostTensors SettingOp::evaluate(ArrayRef<HostTensor>) {
  HostTensor result(getResult().getType());
  result.floats[0] = getSetting().getValue().getValueAsDouble();
  return {result};
}

HostTensors ReadSettingOp::evaluate(ArrayRef<HostTensor> operands) {
  HostTensor result(getResult().getType());
  result.floats[0] = std::bit_cast<double>(operands[0].ints[getPosition()]);
  return {result};
}

int64_t SettingOp::getFlops() { return 0; }
int64_t ReadSettingOp::getFlops() { return 0; }
