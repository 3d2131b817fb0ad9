#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

static LogicalResult requireScalars(OptionalLoc loc, StringRef op,
                                    Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  if (type.getElementType().isSignlessInteger(64) && type.getRank() == 1 &&
      type.getDimSize(0) >= 8) // settings may follow
    return success();
  return emitOptionalError(loc, op, ": the step's scalars are i64 [8], got ",
                           typeText(tensor));
}

/// An error unless a tensor of `shape` at the offset lies within the extents.
template <typename Adaptor>
static LogicalResult requirePlace(OptionalLoc loc, StringRef op,
                                  Adaptor adaptor, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> offset = adaptor.getOffset(),
                    extents = adaptor.getExtents();
  if (offset.empty() && extents.empty())
    return success();
  if (failed(requireCount(loc, op, "offset", offset, shape.size(), 0)) ||
      failed(requireCount(loc, op, "extents", extents, shape.size(), 0)))
    return failure();
  for (size_t i = 0; i < shape.size(); ++i)
    if (offset[i] + shape[i] > extents[i])
      return emitOptionalError(loc, op, ": ", shapeText(shape), " at ",
                               shapeText(offset), " leaves the whole ",
                               shapeText(extents));
  return success();
}

template <typename Adaptor>
static LogicalResult inferDraw(OptionalLoc loc, StringRef op, Adaptor adaptor,
                               SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> tensor =
      requireTensor(loc, op, adaptor.getType());
  if (failed(requireScalars(loc, op, adaptor.getScalars().getType())) ||
      failed(tensor) || failed(requireFloat(loc, op, *tensor)) ||
      failed(requirePlace(loc, op, adaptor, tensor->getShape())))
    return failure();
  types.push_back(*tensor);
  return success();
}

LogicalResult UniformOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferDraw(loc, "uniform", adaptor, types);
}

LogicalResult NormalOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferDraw(loc, "normal", adaptor, types);
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
  if (failed(requirePlace(loc, name, adaptor,
                          cast<RankedTensorType>(x).getShape())))
    return failure();
  types.push_back(x);
  return success();
}
