#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto a = cast<RankedTensorType>(adaptor.getA().getType());
  auto b = cast<RankedTensorType>(adaptor.getB().getType());
  if (failed(requireFloat(loc, "matmul", a)) ||
      failed(requireFloat(loc, "matmul", b)) ||
      failed(requireSameElement(loc, "matmul", {a, b})))
    return failure();
  int64_t rank = a.getRank();
  if (rank != b.getRank() || rank < 2 || rank > 3)
    return emitOptionalError(loc,
                             "matmul: needs two matrices or two batches "
                             "of matrices, got ",
                             shapeText(a), " and ", shapeText(b));
  bool transA = adaptor.getTransposeA(), transB = adaptor.getTransposeB();
  int64_t m = a.getDimSize(transA ? rank - 1 : rank - 2);
  int64_t ka = a.getDimSize(transA ? rank - 2 : rank - 1);
  int64_t kb = b.getDimSize(transB ? rank - 1 : rank - 2);
  int64_t n = b.getDimSize(transB ? rank - 2 : rank - 1);
  if (ka != kb)
    return emitOptionalError(loc, "matmul: cannot multiply ", shapeText(a),
                             transA ? " (transposed)" : "", " with ",
                             shapeText(b), transB ? " (transposed)" : "", ": ",
                             ka, " columns meet ", kb, " rows");
  SmallVector<int64_t> shape = {m, n};
  if (rank == 3) {
    if (a.getDimSize(0) != b.getDimSize(0))
      return emitOptionalError(loc, "matmul: the batches of ", shapeText(a),
                               " and ", shapeText(b), " differ");
    shape.insert(shape.begin(), a.getDimSize(0));
  }
  types.push_back(RankedTensorType::get(shape, a.getElementType()));
  return success();
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  auto weight = cast<RankedTensorType>(adaptor.getWeight().getType());
  if (failed(requireFloat(loc, "linear", x)) ||
      failed(requireSameElement(loc, "linear", {x, weight})))
    return failure();
  if (weight.getRank() != 2)
    return emitOptionalError(
        loc, "linear: the weight is [out_features,in_features], got ",
        shapeText(weight));
  if (x.getRank() < 1)
    return emitOptionalError(loc, "linear: the input needs a dim of ",
                             weight.getDimSize(1), " features, got a scalar");
  if (x.getShape().back() != weight.getDimSize(1))
    return emitOptionalError(
        loc, "linear: input ", shapeText(x), " has ", x.getShape().back(),
        " features, the layer expects ", weight.getDimSize(1), " (weight ",
        shapeText(weight), ")");
  SmallVector<int64_t> shape(x.getShape());
  shape.back() = weight.getDimSize(0);
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}
