#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/LaunchConstants.h"
#include "dialects/graph/TensorBytes.h"
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
  if (getX().getType() == getType())
    return getX();
  // Of one operand of a cat that is all of it, as a loop over parts makes them.
  auto cat = getX().getDefiningOp<CatOp>();
  if (!cat || !llvm::all_of(getStrides(), [](int64_t s) { return s == 1; }))
    return {};
  int64_t at = 0;
  size_t dim = cat.getDim();
  for (Value input : cat.getInputs()) {
    if (at == getOffsets()[dim] && input.getType() == getType())
      return input;
    at += shapeOf(input)[dim];
  }
  return {};
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

/// Indices along a dim stay that beside other dims of one element, and need no
/// memory to be seen in another shape: [L] -> reshape [L,1].
static LogicalResult reshapeIota(ReshapeOp op, PatternRewriter &rewriter) {
  auto iota = op.getX().getDefiningOp<IotaOp>();
  if (!iota)
    return failure();
  ArrayRef<int64_t> from = shapeOf(op.getX()), to = op.getType().getShape();
  int64_t count = from[iota.getDim()];
  auto *found = llvm::find(to, count);
  if (count != numElements(op.getX()) || found == to.end())
    return failure();
  rewriter.replaceOpWithNewOp<IotaOp>(op, found - to.begin(), op.getType(),
                                      iota.getStart());
  return success();
}

/// It lies in memory as a whole, whoever reads it.
static bool isStoredWhole(Value x) {
  auto maker = x.getDefiningOp<LoopNestOpInterface>();
  return !maker || !x.hasOneUse() ||
         maker.getLoopNest().combine != Combine::None;
}

/// One for all parts of x, so that its gradient is one: equal ops become one
/// only later.
static Value wholeReshaped(Value x, ArrayRef<int64_t> shape, Operation *before,
                           PatternRewriter &rewriter) {
  size_t looked = 0;
  for (Operation *user : x.getUsers()) {
    if (auto known = dyn_cast<ReshapeOp>(user);
        known && known.getShape() == shape && known->isBeforeInBlock(before))
      return known;
    if (++looked == 16) // of many readers the newest come first
      break;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(x);
  GraphBuilder g(rewriter, before->getLoc());
  return g.make<ReshapeOp>(x, SmallVector<int64_t>(shape));
}

/// What a reshape makes of a part is a part of what it makes of the whole, so
/// that readers find it there and nothing is copied:
///   x [B,T,18*64] -> slice [B,T,6*64] -> reshape [B,T,6,64]
///   x [B,T,18*64] -> reshape [B,T,18,64] -> slice [B,T,6,64]
/// Each dim of the slice has dims of the reshape of its own, and where it is a
/// part of x, beginning and length are whole blocks of the inner ones.
static LogicalResult reshapeWhole(ReshapeOp op, PatternRewriter &rewriter) {
  auto slice = op.getX().getDefiningOp<SliceOp>();
  if (!slice || slice->hasAttr(kRankSteps) ||
      !(isStoredWhole(slice.getX()) ||
        2 * numElements(slice.getResult()) >= numElements(slice.getX())) ||
      !allEqual(slice.getStrides(), 1) || numElements(op.getResult()) == 0)
    return failure();
  ArrayRef<int64_t> whole =
      cast<RankedTensorType>(slice.getX().getType()).getShape();
  ArrayRef<int64_t> shape = op.getType().getShape(), sizes = slice.getSizes();
  SmallVector<int64_t> reshaped, offsets;
  size_t next = 0;
  for (auto [size, extent, offset] :
       llvm::zip(sizes, whole, slice.getOffsets())) {
    size_t first = next;
    int64_t count = 1;
    while (next < shape.size() && count < size)
      count *= shape[next++];
    if (next == first && next < shape.size() && shape[next] == size)
      ++next; // a dim of one element
    if (count != size || next == first)
      return failure();
    int64_t inner = size / shape[first];
    if (extent % inner != 0 || offset % inner != 0)
      return failure();
    reshaped.push_back(extent / inner);
    offsets.push_back(offset / inner);
    for (int64_t rest : shape.slice(first + 1, next - first - 1)) {
      reshaped.push_back(rest);
      offsets.push_back(0);
    }
  }
  if (next != shape.size())
    return failure();
  Value all = wholeReshaped(slice.getX(), reshaped, op, rewriter);
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), all, offsets,
                                       SmallVector<int64_t>(shape),
                                       SmallVector<int64_t>(shape.size(), 1));
  return success();
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *) {
  patterns.add(reshapeFull<ReshapeOp>);
  patterns.add(reshapeIota);
  patterns.add(reshapeWhole);
}

void ExpandOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(reshapeFull<ExpandOp>);
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  patterns.add(reshapeFull<TransposeOp>);
}
