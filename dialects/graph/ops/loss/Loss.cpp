#include "dialects/graph/Payload.h"
#include "dialects/graph/Reference.h"

using namespace mlir;
using namespace dl::graph;

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
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32)));
  return success();
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
                                           ValueRange x, ValueRange) {
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
  return {arith::ExtUIOp::create(builder, loc, builder.getI32Type(), wrong)};
}

HostTensors IndexCheckOp::evaluate(ArrayRef<HostTensor> operands) {
  HostTensor result(getType());
  int64_t bound = getBound(), ignored = getIgnoreIndex();
  for (int64_t index : operands[0].ints)
    if ((index < 0 || index >= bound) && index != ignored)
      result.ints[0] = 1;
  return {result};
}

int64_t IndexCheckOp::getFlops() { return 0; }
