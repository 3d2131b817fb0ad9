#include "dialects/graph/Inference.h"
#include "dialects/graph/Progression.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace dl::graph;

/// An error unless the index fits to all dims of x but `dim`.
static LogicalResult requireIndex(OptionalLoc loc, StringRef op,
                                  RankedTensorType x, RankedTensorType index,
                                  int64_t dim, bool alongToo) {
  if (failed(requireDim(loc, op, dim, x)))
    return failure();
  if (!index.getElementType().isSignlessInteger(64))
    return emitOptionalError(loc, op, ": indices are i64, got ",
                             typeText(index), "; use .to(dl::kInt64)");
  bool fits = index.getRank() == x.getRank();
  for (int64_t i = 0; fits && i < x.getRank(); ++i) {
    int64_t size = index.getDimSize(i);
    fits = size == x.getDimSize(i) || (i == dim ? !alongToo : size == 1);
  }
  if (!fits)
    return emitOptionalError(loc, op, ": indices ", shapeText(index),
                             " do not fit ", shapeText(x), " along dim ", dim);
  return success();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  auto index = cast<RankedTensorType>(adaptor.getIndex().getType());
  int64_t dim = adaptor.getDim();
  if (failed(requireIndex(loc, "gather", x, index, dim, /*alongToo=*/false)))
    return failure();
  if (x.getDimSize(dim) == 0 && index.getNumElements() != 0)
    return emitOptionalError(loc, "gather: dim ", dim, " of ", shapeText(x),
                             " has no elements");
  SmallVector<int64_t> shape(x.getShape());
  shape[dim] = index.getDimSize(dim);
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

/// Positions, wpe(dl::arange(T)): rows that are a slice of the table. Its
/// gradient is no sum at indices then.
static LogicalResult gatherSlice(GatherOp op, PatternRewriter &rewriter) {
  size_t dim = op.getDim();
  ArrayRef<int64_t> x = cast<RankedTensorType>(op.getX().getType()).getShape();
  auto index = progressionOf(op.getIndex());
  if (!index || index->step < 1 || !index->isWithin(x[dim]) ||
      index->count != op.getType().getShape()[dim])
    return failure();
  SmallVector<int64_t> offsets(x.size(), 0), strides(x.size(), 1);
  offsets[dim] = index->start;
  strides[dim] = index->step;
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), op.getX(), offsets,
                                       op.getType().getShape(), strides);
  return success();
}

/// index.unsqueeze(1).expand({-1, 64}), as torch.scatter_add wants it: rows are
/// moved as a whole where one index serves for all of their elements.
template <class Op>
static LogicalResult readOnce(Op op, PatternRewriter &rewriter) {
  auto expand = op.getIndex().template getDefiningOp<ExpandOp>();
  if (!expand)
    return failure();
  ArrayRef<int64_t> from = expand.getX().getType().getShape();
  SmallVector<int64_t> to(expand.getType().getShape());
  if (from.size() != to.size())
    return failure();
  bool repeats = false;
  for (auto [i, size] : llvm::enumerate(from))
    if (i != static_cast<size_t>(op.getDim()) && size != to[i]) {
      to[i] = 1;
      repeats = true;
    }
  if (!repeats)
    return failure();
  Value index = expand.getX();
  if (from != ArrayRef(to))
    index = ExpandOp::create(rewriter, expand.getLoc(), index, to);
  rewriter.modifyOpInPlace(op, [&] { op.getIndexMutable().assign(index); });
  return success();
}

void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(gatherSlice);
  patterns.add(readOnce<GatherOp>);
}
void ScatterAddOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *) {
  patterns.add(readOnce<ScatterAddOp>);
}
void ScatterAmaxOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *) {
  patterns.add(readOnce<ScatterAmaxOp>);
}

template <class Adaptor>
static LogicalResult inferScatter(OptionalLoc loc, StringRef name,
                                  Adaptor adaptor,
                                  SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  auto index = cast<RankedTensorType>(adaptor.getIndex().getType());
  int64_t dim = adaptor.getDim(), size = adaptor.getSize();
  if (failed(requireIndex(loc, name, x, index, dim, /*alongToo=*/true)))
    return failure();
  Type element = x.getElementType();
  if (element.isInteger(1) || element.isUnsignedInteger(8))
    return emitOptionalError(loc, name, ": needs f32, f64, i64 or i32, got ",
                             typeText(x),
                             "; use .to(dl::kInt64) or .to(dl::kFloat)");
  if (size < 1)
    return emitOptionalError(loc, name, ": size is ", size,
                             ", it must be at least 1");
  SmallVector<int64_t> shape(x.getShape());
  shape[dim] = size;
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

LogicalResult ScatterAddOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  return inferScatter(loc, "scatter_add", adaptor, types);
}

LogicalResult ScatterAmaxOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  return inferScatter(loc, "scatter_amax", adaptor, types);
}

LogicalResult UpdateSliceOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  auto index = cast<RankedTensorType>(adaptor.getIndex().getType());
  auto slice = cast<RankedTensorType>(adaptor.getSlice().getType());
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  int64_t dim = adaptor.getDim();
  if (failed(requireDim(loc, "update_slice", dim, x)))
    return failure();
  if (!index.getElementType().isSignlessInteger(64) ||
      index.getNumElements() != 1)
    return emitOptionalError(loc, "update_slice: the index is one i64, got ",
                             typeText(index));
  SmallVector<int64_t> shape(x.getShape());
  shape[dim] = 1;
  if (slice.getShape() != ArrayRef(shape) ||
      slice.getElementType() != x.getElementType())
    return emitOptionalError(loc, "update_slice: ", typeText(slice),
                             " is no slice of ", typeText(x), " along dim ",
                             dim);
  types.push_back(x);
  return success();
}
