// Inference and simplifications; most of it stands in Inference.cpp.

#include "dialects/graph/GraphBuilder.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace dl::graph;

LogicalResult CastOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  FailureOr<RankedTensorType> to = requireTensor(
      loc, "cast", RankedTensorType::get(x.getShape(), adaptor.getTo()));
  if (failed(to))
    return failure();
  types.push_back(*to);
  return success();
}

LoopNest CastOp::getLoopNest() { return elementwiseNest(*this); }

int64_t CastOp::getFlops() { return 0; }

/// The value of all elements, if it is known.
static std::optional<double> splat(Value value) {
  if (auto full = value.getDefiningOp<FullOp>())
    return full.getValue().convertToDouble();
  return std::nullopt;
}

static bool isSplat(Value value, double expected) {
  std::optional<double> known = splat(value);
  return known && *known == expected &&
         std::signbit(*known) == std::signbit(expected);
}

/// What another operand's shape broadcasts anyway is not expanded before: the
/// op reads it at its own rows, which kernels see.
static bool takeUnexpanded(Operation *op) {
  auto shapeOfValue = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  ArrayRef<int64_t> shape = shapeOfValue(op->getResult(0));
  bool changed = false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto expand = operand.get().getDefiningOp<ExpandOp>();
    if (!expand || llvm::none_of(op->getOpOperands(), [&](OpOperand &other) {
          return &other != &operand && shapeOfValue(other.get()) == shape &&
                 !other.get().getDefiningOp<ExpandOp>();
        }))
      continue;
    operand.set(expand.getX());
    changed = true;
  }
  return changed;
}

// Only what changes no bit of the result is folded: x + 0 is not x for -0.

OpFoldResult AddOp::fold(FoldAdaptor) {
  bool isFloat = isa<FloatType>(elementOf(getA()));
  double neutral = isFloat ? -0.0 : 0.0;
  if (isSplat(getB(), neutral) && getA().getType() == getType())
    return getA();
  if (isSplat(getA(), neutral) && getB().getType() == getType())
    return getB();
  return takeUnexpanded(*this) ? OpFoldResult(getResult()) : OpFoldResult();
}

OpFoldResult SubOp::fold(FoldAdaptor) {
  if (isSplat(getB(), 0.0) && getA().getType() == getType())
    return getA();
  return takeUnexpanded(*this) ? OpFoldResult(getResult()) : OpFoldResult();
}

OpFoldResult MulOp::fold(FoldAdaptor) {
  if (isSplat(getB(), 1) && getA().getType() == getType())
    return getA();
  if (isSplat(getA(), 1) && getB().getType() == getType())
    return getB();
  return takeUnexpanded(*this) ? OpFoldResult(getResult()) : OpFoldResult();
}

OpFoldResult DivOp::fold(FoldAdaptor) {
  if (isSplat(getB(), 1) && getA().getType() == getType())
    return getA();
  return takeUnexpanded(*this) ? OpFoldResult(getResult()) : OpFoldResult();
}

OpFoldResult NegOp::fold(FoldAdaptor) {
  auto inner = getX().getDefiningOp<NegOp>();
  return inner ? OpFoldResult(inner.getX()) : OpFoldResult();
}

static LogicalResult negateFull(NegOp op, PatternRewriter &rewriter) {
  std::optional<double> value = splat(op.getX());
  if (!value || !isa<FloatType>(elementOf(op.getX())))
    return failure();
  rewriter.replaceOpWithNewOp<FullOp>(op, APFloat(-*value), op.getType());
  return success();
}

void NegOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *) {
  patterns.add(negateFull);
}

OpFoldResult SelectOp::fold(FoldAdaptor) {
  if (getA() == getB() && getA().getType() == getType())
    return getA();
  return takeUnexpanded(*this) ? OpFoldResult(getResult()) : OpFoldResult();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? getX() : OpFoldResult();
}

/// x^3, x^2, x^1, x^0.5 and x^-1 are what PyTorch computes without a power.
static LogicalResult simplifyPower(PowOp op, PatternRewriter &rewriter) {
  std::optional<double> exponent = splat(op.getB());
  Value a = op.getA();
  if (!exponent || a.getType() != op.getType())
    return failure();
  if (*exponent == 2)
    rewriter.replaceOpWithNewOp<MulOp>(op, a, a);
  else if (*exponent == 3) {
    Value square = GraphBuilder(rewriter, op.getLoc()).make<MulOp>(a, a);
    rewriter.replaceOpWithNewOp<MulOp>(op, square, a);
  } else if (*exponent == 1)
    rewriter.replaceOp(op, a);
  else if (*exponent == 0.5)
    rewriter.replaceOpWithNewOp<SqrtOp>(op, a);
  else if (*exponent == -1) {
    Value one = GraphBuilder(rewriter, op.getLoc()).constant(a, 1);
    rewriter.replaceOpWithNewOp<DivOp>(op, one, a);
  } else {
    return failure();
  }
  return success();
}

void PowOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *) {
  patterns.add(simplifyPower);
}
