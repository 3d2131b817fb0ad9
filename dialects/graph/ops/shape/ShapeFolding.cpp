#include "dialects/graph/GraphBuilder.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace dl::graph;

static bool allEqual(ArrayRef<int64_t> values, int64_t expected) {
  return llvm::all_of(values, [&](int64_t v) { return v == expected; });
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto inner = getX().getDefiningOp<ReshapeOp>()) {
    setOperand(inner.getX());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::equal(getPermutation(),
                  llvm::seq<int64_t>(getPermutation().size())))
    return getX();
  if (auto inner = getX().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> both;
    for (int64_t dim : getPermutation())
      both.push_back(inner.getPermutation()[dim]);
    setPermutation(both);
    setOperand(inner.getX());
    return getResult();
  }
  return {};
}

OpFoldResult ExpandOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto inner = getX().getDefiningOp<ExpandOp>()) {
    setOperand(inner.getX());
    return getResult();
  }
  return {};
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  if (getX().getType() == getType() && allEqual(getLow(), 0) &&
      allEqual(getHigh(), 0) && allEqual(getInterior(), 0))
    return getX();
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? getX() : OpFoldResult();
}

/// A constant stays a constant in any shape.
template <typename Op>
static LogicalResult reshapeFull(Op op, PatternRewriter &rewriter) {
  auto full = op.getX().template getDefiningOp<FullOp>();
  if (!full)
    return failure();
  rewriter.replaceOpWithNewOp<FullOp>(op, full.getValue(), op.getType());
  return success();
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *) {
  patterns.add(reshapeFull<ReshapeOp>);
}

void ExpandOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(reshapeFull<ExpandOp>);
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  patterns.add(reshapeFull<TransposeOp>);
}
