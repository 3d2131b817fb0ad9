#include "dialects/graph/Inference.h"

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
