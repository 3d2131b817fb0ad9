#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

static LogicalResult requireScalars(OptionalLoc loc, StringRef op,
                                    Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  if (type.getElementType().isSignlessInteger(64) && type.getRank() == 1 &&
      type.getDimSize(0) == 8)
    return success();
  return emitOptionalError(loc, op, ": the step's scalars are i64 [8], got ",
                           typeText(tensor));
}

static LogicalResult inferDraw(OptionalLoc loc, StringRef op, Type scalars,
                               Type type, SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> tensor = requireTensor(loc, op, type);
  if (failed(requireScalars(loc, op, scalars)) || failed(tensor) ||
      failed(requireFloat(loc, op, *tensor)))
    return failure();
  types.push_back(*tensor);
  return success();
}

LogicalResult UniformOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferDraw(loc, "uniform", adaptor.getScalars().getType(),
                   adaptor.getType(), types);
}

LogicalResult NormalOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferDraw(loc, "normal", adaptor.getScalars().getType(),
                   adaptor.getType(), types);
}

LogicalResult DropoutOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  StringRef name = adaptor.getChannelwise() ? "dropout2d" : "dropout";
  Type x = adaptor.getX().getType();
  if (failed(requireScalars(loc, name, adaptor.getScalars().getType())) ||
      failed(requireFloat(loc, name, x)))
    return failure();
  double p = adaptor.getP().convertToDouble();
  if (!(p >= 0 && p <= 1))
    return emitOptionalError(loc, name, ": p must be between 0 and 1, got ",
                             numberText(p));
  if (adaptor.getChannelwise() && cast<RankedTensorType>(x).getRank() < 2)
    return emitOptionalError(loc, name, ": needs [batch,channels,...], got ",
                             shapeText(x));
  types.push_back(x);
  return success();
}
