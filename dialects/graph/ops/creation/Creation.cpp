#include "dialects/graph/Payload.h"
#include "dialects/graph/Reference.h"

using namespace mlir;
using namespace dl::graph;

LogicalResult FullOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type =
      requireTensor(loc, "full", adaptor.getType());
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

LogicalResult IotaOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type =
      requireTensor(loc, "iota", adaptor.getType());
  if (failed(type) || failed(requireDim(loc, "iota", adaptor.getDim(), *type)))
    return failure();
  if (type->getElementType().isInteger(1))
    return emitOptionalError(loc, "iota: needs numbers, got ", typeText(*type));
  if (adaptor.getStart().size() > 1)
    return emitOptionalError(loc, "iota: start is one number, got ",
                             adaptor.getStart().size());
  types.push_back(*type);
  return success();
}

LoopNest FullOp::getLoopNest() { return elementwiseNest(*this); }
LoopNest IotaOp::getLoopNest() { return elementwiseNest(*this); }

SmallVector<Value> FullOp::buildBody(OpBuilder &builder, Location loc,
                                     ValueRange, ValueRange) {
  Type scalar = scalarType(elementOf(getResult()));
  if (constantOf(*this, "value")) {
    Value bits = launchNumber(builder, loc, *this, "value", 0);
    Value wide =
        arith::BitcastOp::create(builder, loc, builder.getF64Type(), bits);
    return {
        scalar.isF64()
            ? wide
            : arith::TruncFOp::create(builder, loc, scalar, wide).getResult()};
  }
  return {scalarConstant(builder, loc, scalar, getValue().convertToDouble())};
}

SmallVector<Value> IotaOp::buildBody(OpBuilder &builder, Location loc,
                                     ValueRange, ValueRange indices) {
  Value index = indices[getDim()];
  if (!getStart().empty()) {
    Value number = launchNumber(builder, loc, *this, "start", getStart()[0]);
    Value first = arith::IndexCastOp::create(builder, loc,
                                             builder.getIndexType(), number);
    index = arith::AddIOp::create(builder, loc, first, index);
  }
  return {indexToScalar(builder, loc, index, elementOf(getResult()))};
}

SmallVector<LaunchConstant> IotaOp::getLaunchConstants() {
  if (getStart().empty())
    return {};
  return {{"start", 0, std::numeric_limits<int64_t>::min(),
           std::numeric_limits<int64_t>::max()}};
}

HostTensors FullOp::evaluate(ArrayRef<HostTensor>) {
  HostTensor result(getResult().getType());
  double value = getValue().convertToDouble();
  bool isBool = elementOf(getResult()).isInteger(1);
  for (double &element : result.floats)
    element = roundTo(elementOf(getResult()), value);
  for (int64_t &element : result.ints)
    element = isBool ? value != 0 : static_cast<int64_t>(value);
  return {result};
}

HostTensors IotaOp::evaluate(ArrayRef<HostTensor>) {
  HostTensor result(getResult().getType());
  forEachElement(result.shape(), [&](int64_t i, auto index) {
    int64_t number = (getStart().empty() ? 0 : getStart()[0]) + index[getDim()];
    if (result.isFloat())
      result.floats[i] = static_cast<double>(number);
    else
      result.ints[i] = number;
  });
  return {result};
}

int64_t FullOp::getFlops() { return 0; }
int64_t IotaOp::getFlops() { return 0; }
