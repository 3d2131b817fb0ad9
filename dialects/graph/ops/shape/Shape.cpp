#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  ArrayRef<int64_t> shape = adaptor.getShape();
  if (failed(requireCount(loc, "view", "the shape", shape, shape.size(), 0)))
    return failure();
  if (product(shape) != x.getNumElements())
    return emitOptionalError(loc, "view: ", shapeText(x), " has ",
                             x.getNumElements(), " elements, cannot become ",
                             shapeText(shape), " (", product(shape), ")");
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  SmallVector<int64_t> shape;
  SmallVector<bool> seen(x.getRank());
  bool valid = static_cast<int64_t>(permutation.size()) == x.getRank();
  for (int64_t dim : permutation) {
    if (failed(requireDim(loc, "permute", dim, x)))
      return failure();
    valid &= !seen[dim];
    seen[dim] = true;
    shape.push_back(x.getDimSize(dim));
  }
  if (!valid)
    return emitOptionalError(loc, "permute: ", shapeText(permutation),
                             " does not name each dim of ", shapeText(x),
                             " once");
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

LogicalResult CopyOp::inferReturnTypes(MLIRContext *, OptionalLoc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult ExpandOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  ArrayRef<int64_t> shape = adaptor.getShape();
  if (failed(requireCount(loc, "expand", "the shape", shape, shape.size(), 0)))
    return failure();
  int64_t leading = static_cast<int64_t>(shape.size()) - x.getRank();
  bool fits = leading >= 0;
  for (int64_t i = 0; fits && i < x.getRank(); ++i)
    fits = x.getDimSize(i) == 1 || x.getDimSize(i) == shape[leading + i];
  if (!fits)
    return emitOptionalError(loc, "expand: ", shapeText(x), " cannot become ",
                             shapeText(shape),
                             ": only dims of size 1 and new leading dims grow");
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  size_t rank = x.getRank();
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh(),
                    interior = adaptor.getInterior();
  if (failed(requireCount(loc, "pad", "low", low, rank, 0)) ||
      failed(requireCount(loc, "pad", "high", high, rank, 0)) ||
      failed(requireCount(loc, "pad", "interior", interior, rank, 0)))
    return failure();
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = x.getDimSize(i);
    int64_t spread = size;
    if (size > 1 && (llvm::MulOverflow(size - 1, interior[i], spread) ||
                     llvm::AddOverflow(spread, size, spread)))
      return emitOptionalError(loc, "pad: ", shapeText(interior),
                               " between the elements of ", shapeText(x),
                               " is too much");
    if (llvm::AddOverflow(spread, low[i], spread) ||
        llvm::AddOverflow(spread, high[i], spread))
      return emitOptionalError(loc, "pad: ", shapeText(low), " and ",
                               shapeText(high), " around ", shapeText(x),
                               " is too much");
    shape.push_back(spread);
  }
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

LogicalResult FlipOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  SmallVector<bool> seen(x.getRank());
  for (int64_t dim : adaptor.getDims()) {
    if (failed(requireDim(loc, "flip", dim, x)))
      return failure();
    if (seen[dim])
      return emitOptionalError(loc, "flip: dim ", dim, " appears twice in ",
                               shapeText(adaptor.getDims()));
    seen[dim] = true;
  }
  types.push_back(x);
  return success();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  size_t rank = x.getRank();
  ArrayRef<int64_t> offsets = adaptor.getOffsets(), sizes = adaptor.getSizes(),
                    strides = adaptor.getStrides();
  if (failed(requireCount(loc, "slice", "offsets", offsets, rank, 0)) ||
      failed(requireCount(loc, "slice", "sizes", sizes, rank, 0)) ||
      failed(requireCount(loc, "slice", "strides", strides, rank, 1)))
    return failure();
  for (size_t i = 0; i < rank; ++i) {
    int64_t last;
    if (llvm::MulOverflow(sizes[i] - 1, strides[i], last) ||
        llvm::AddOverflow(last, offsets[i], last))
      last = std::numeric_limits<int64_t>::max();
    if (sizes[i] > 0 && last >= x.getDimSize(i))
      return emitOptionalError(loc, "slice: elements ", offsets[i], "..", last,
                               " of dim ", i, " leave ", shapeText(x));
  }
  types.push_back(RankedTensorType::get(sizes, x.getElementType()));
  return success();
}
