#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Payload.h"
#include "dialects/graph/Reference.h"
#include "dialects/graph/Step.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace dl::graph;

/// See Loss.td; runtime/device/ReportRing.cpp knows it, too.
static constexpr int64_t kMostItems = std::numeric_limits<int32_t>::max();

LogicalResult NllLossOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto logprob = cast<RankedTensorType>(adaptor.getLogprob().getType());
  auto target = cast<RankedTensorType>(adaptor.getTarget().getType());
  if (failed(requireFloat(loc, "nll_loss", logprob)))
    return failure();
  if (!target.getElementType().isSignlessInteger(64))
    return emitOptionalError(
        loc, "nll_loss: the target holds class indices, i64, got ",
        typeText(target), "; use .to(dl::kInt64)");
  if (logprob.getRank() < 2)
    return emitOptionalError(loc,
                             "nll_loss: the input is [batch,classes,...], got ",
                             shapeText(logprob));
  SmallVector<int64_t> expected(logprob.getShape());
  expected.erase(expected.begin() + 1);
  if (target.getShape() != ArrayRef<int64_t>(expected))
    return emitOptionalError(loc, "nll_loss: input ", shapeText(logprob),
                             " needs a target ", shapeText(expected), ", got ",
                             shapeText(target));
  StringRef reduction = adaptor.getReduction();
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return emitOptionalError(loc,
                             "nll_loss: reduction is \"mean\", \"sum\" or "
                             "\"none\", got \"",
                             reduction, "\"");
  if (reduction != "none")
    expected.clear();
  types.push_back(RankedTensorType::get(expected, logprob.getElementType()));
  return success();
}

LogicalResult IndexCheckOp::inferReturnTypes(MLIRContext *context,
                                             OptionalLoc loc, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto target = cast<RankedTensorType>(adaptor.getTarget().getType());
  if (!target.getElementType().isSignlessInteger(64))
    return emitOptionalError(loc, "index_check: indices are i64, got ",
                             typeText(target));
  if (adaptor.getStart().size() > (target.getRank() > 0 ? 1 : 0))
    return emitOptionalError(loc, "index_check: start ",
                             shapeText(adaptor.getStart()), " for indices ",
                             shapeText(target),
                             ": one number, where there are items");
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32)));
  return success();
}

/// Whether inputs are parts of the batch: a rank's.
static bool hasParts(StepOp step, int64_t batch) {
  return llvm::any_of(step.getBody().getArguments(), [&](Value argument) {
    return portOf(argument).getKind() == PortKind::Input &&
           shapeOf(argument).front() != batch;
  });
}

/// Dim 0 of what is checked counts the items of a batch, which a message names:
/// a target is checked as it was before its dims were joined, and where it is
/// not known which items they are of, none is named. Parts of a batch, ranks'
/// and micro-batches, say where they begin.
static LogicalResult checkItems(IndexCheckOp op, PatternRewriter &rewriter) {
  auto step = op->getParentOfType<StepOp>();
  std::optional<int64_t> batch = step ? step.getBatch() : std::nullopt;
  auto countsItems = [&](Value value) {
    return !shapeOf(value).empty() && shapeOf(value).front() == *batch;
  };
  if (!batch || op.getStart().empty() || countsItems(op.getTarget()) ||
      hasParts(step, *batch))
    return failure();
  Value target = op.getTarget();
  while (Operation *maker = target.getDefiningOp()) {
    auto part = dyn_cast<SliceOp>(maker);
    if (part && countsItems(part.getX()) && part.getStrides()[0] == 1 &&
        part.getOffsets()[0] == op.getStart()[0])
      return failure();
    if (!isa<ReshapeOp, CastOp>(maker))
      break;
    target = maker->getOperand(0);
    if (countsItems(target)) {
      target = GraphBuilder(rewriter, op.getLoc())
                   .cast(target, elementOf(op.getTarget()));
      rewriter.modifyOpInPlace(op,
                               [&] { op.getTargetMutable().assign(target); });
      return success();
    }
  }
  rewriter.modifyOpInPlace(op, [&] { op.setStart({}); });
  return success();
}

/// What is repeated is checked once.
static LogicalResult checkOnce(IndexCheckOp op, PatternRewriter &rewriter) {
  auto expand = op.getTarget().getDefiningOp<ExpandOp>();
  if (!expand)
    return failure();
  ArrayRef<int64_t> from = shapeOf(expand.getX()), to = shapeOf(expand);
  bool isSamePlace =
      !from.empty() && from.size() == to.size() && from.front() == to.front();
  if (!op.getStart().empty() && !isSamePlace)
    return failure();
  rewriter.modifyOpInPlace(
      op, [&] { op.getTargetMutable().assign(expand.getX()); });
  return success();
}

void IndexCheckOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *) {
  patterns.add(checkItems);
  patterns.add(checkOnce);
}

LoopNest IndexCheckOp::getLoopNest() {
  ArrayRef<int64_t> shape = shapeOf(getTarget());
  LoopNest nest;
  nest.extents.assign(shape.begin(), shape.end());
  nest.accesses.push_back(
      {AffineMap::getMultiDimIdentityMap(shape.size(), getContext()), {}, {}});
  nest.combine = Combine::Max;
  return nest;
}

SmallVector<Value> IndexCheckOp::buildBody(OpBuilder &builder, Location loc,
                                           ValueRange x, ValueRange indices) {
  // As an unsigned number a negative index is beyond every bound.
  Type i64 = builder.getI64Type();
  Value bound = scalarConstant(builder, loc, i64, getBound());
  Value beyond = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                       x[0], bound);
  Value ignored =
      scalarConstant(builder, loc, i64, static_cast<int64_t>(getIgnoreIndex()));
  Value counts = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       x[0], ignored);
  Value wrong = arith::AndIOp::create(builder, loc, beyond, counts);
  Type i32 = builder.getI32Type();
  if (getStart().empty())
    return {arith::ExtUIOp::create(builder, loc, i32, wrong)};
  Value place = indexToScalar(builder, loc, indices[0], i64);
  Value start = launchNumber(builder, loc, *this, "start", getStart()[0]);
  Value item = arith::AddIOp::create(builder, loc, start, place);
  Value most = scalarConstant(builder, loc, i64, kMostItems);
  Value left = arith::SubIOp::create(builder, loc, most, item);
  Value flag = arith::TruncIOp::create(builder, loc, i32, left);
  Value none = scalarConstant(builder, loc, i32, 0);
  return {arith::SelectOp::create(builder, loc, wrong, flag, none)};
}

SmallVector<LaunchConstant> IndexCheckOp::getLaunchConstants() {
  if (getStart().empty())
    return {};
  return {{"start", 0, 0, std::numeric_limits<int64_t>::max()}};
}

HostTensors IndexCheckOp::evaluate(ArrayRef<HostTensor> operands) {
  HostTensor result(getType());
  int64_t bound = getBound(), ignored = getIgnoreIndex();
  int64_t inner = product(operands[0].shape().drop_front(
      std::min<size_t>(1, operands[0].shape().size())));
  for (int64_t i = operands[0].size(); i-- > 0;) {
    int64_t index = operands[0].ints[i];
    if ((index < 0 || index >= bound) && index != ignored)
      result.ints[0] =
          getStart().empty() ? 1 : kMostItems - getStart()[0] - i / inner;
  }
  return {result};
}

int64_t IndexCheckOp::getFlops() { return 0; }
