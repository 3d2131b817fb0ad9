// Parts of what needs no memory are made without the whole.
#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/LaunchConstants.h"
#include "dialects/graph/Payload.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace dl::graph;

/// All parts of what is repeated are equal, as the gradients of steps in time
/// are of which a mean is taken; none is stored, and none is a kernel of its
/// own.
///   x [16,1,32] -> expand [16,200,32] -> slice [16,1,32] at [0,7,0]
static LogicalResult sliceRepeated(SliceOp op, PatternRewriter &rewriter) {
  auto expand = op.getX().getDefiningOp<ExpandOp>();
  if (!expand || op->hasAttr(kRankSteps))
    return failure();
  ArrayRef<int64_t> from = shapeOf(expand.getX()), to = expand.getShape();
  SmallVector<int64_t> offsets, sizes, strides;
  for (size_t d = to.size() - from.size(), i = 0; i < from.size(); ++d, ++i) {
    bool isRepeated = from[i] != to[d];
    offsets.push_back(isRepeated ? 0 : op.getOffsets()[d]);
    sizes.push_back(isRepeated ? 1 : op.getSizes()[d]);
    strides.push_back(isRepeated ? 1 : op.getStrides()[d]);
  }
  GraphBuilder g(rewriter, op.getLoc());
  Value part = expand.getX();
  if (!llvm::equal(sizes, from))
    part = g.make<SliceOp>(part, offsets, sizes, strides);
  if (part.getType() != op.getType())
    part = g.make<ExpandOp>(part, SmallVector<int64_t>(op.getSizes()));
  rewriter.replaceOp(op, part);
  return success();
}

/// Each element comes from those at the same place, or from single ones.
static bool isElementwise(Operation *op) {
  auto loops = dyn_cast<LoopNestOpInterface>(op);
  if (!loops || op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      isa<LaunchConstantsOpInterface>(op))
    return false;
  LoopNest nest = loops.getLoopNest();
  if (nest.combine != Combine::None || nest.isSequential() ||
      nest.isIndirect() || nest.replace)
    return false;
  for (auto [operand, access] : llvm::zip(op->getOperands(), nest.accesses))
    if (access.outside || !access.guards.empty() ||
        (numElements(operand) != 1 && !access.map.isIdentity()))
      return false;
  PayloadBlock payload(loops, nest.extents.size());
  return llvm::all_of(payload.indices(),
                      [](Value index) { return index.use_empty(); });
}

/// A part that is a number or a row of a table.
static constexpr int64_t kSmallPart = 8;

/// A value made of equal numbers and of numbers in order alone, in a few ops.
static bool isOfNumbers(Value value, unsigned &left) {
  Operation *op = value.getDefiningOp();
  if (!op || left == 0 || op->hasAttr(kRankSteps))
    return false;
  --left;
  return isa<FullOp, IotaOp>(op) ||
         (op->getNumOperands() != 0 &&
          llvm::all_of(
              op->getOperands(),
              [&](Value operand) { return isOfNumbers(operand, left); }) &&
          isElementwise(op));
}

/// Which part it is becomes a number of the launch, so that one kernel makes
/// all of them, as the rates of the times of a loop:
///   iota [1000] -> mul -> slice [1] at 7     iota [1] from 7 -> mul
/// Not of large parts: code for part of a mask is made for where it begins.
static LogicalResult sliceNumbers(SliceOp op, PatternRewriter &rewriter) {
  unsigned left = 16;
  if (op->hasAttr(kRankSteps) ||
      kSmallPart * numElements(op.getResult()) > numElements(op.getX()) ||
      !isOfNumbers(op.getX(), left))
    return failure();
  Operation *maker = op.getX().getDefiningOp();
  if (auto full = dyn_cast<FullOp>(maker)) {
    rewriter.replaceOpWithNewOp<FullOp>(op, full.getValue(), op.getType());
    return success();
  }
  GraphBuilder g(rewriter, op.getLoc());
  if (auto iota = dyn_cast<IotaOp>(maker)) {
    int64_t dim = iota.getDim();
    if (op.getStrides()[dim] != 1 && op.getSizes()[dim] != 1)
      return failure();
    SmallVector<int64_t> start(iota.getStart());
    if (int64_t offset = op.getOffsets()[dim]) {
      start.resize(1, 0);
      start[0] += offset;
    }
    rewriter.replaceOpWithNewOp<IotaOp>(op, dim, op.getType(), start);
    return success();
  }
  SmallVector<Value> parts;
  for (Value operand : maker->getOperands())
    parts.push_back(shapeOf(operand) == shapeOf(op.getX())
                        ? g.make<SliceOp>(operand,
                                          SmallVector<int64_t>(op.getOffsets()),
                                          SmallVector<int64_t>(op.getSizes()),
                                          SmallVector<int64_t>(op.getStrides()))
                        : operand);
  Operation *part = rewriter.clone(*maker);
  part->setOperands(parts);
  part->getResult(0).setType(op.getType());
  rewriter.replaceOp(op, part->getResults());
  return success();
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *) {
  patterns.add(sliceRepeated);
  patterns.add(sliceNumbers);
}
