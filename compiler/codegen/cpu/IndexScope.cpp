#include "compiler/codegen/cpu/IndexScope.h"
#include "compiler/codegen/kernel/IndexRange.h"
#include "dialects/graph/Check.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

AffineExpr IndexScope::addDim(Value *value, int64_t lo, int64_t hi) {
  if (lo == hi)
    return getAffineConstantExpr(lo, context);
  dims.push_back({value, lo, hi});
  return getAffineDimExpr(dims.size() - 1, context);
}

AffineExpr IndexScope::addContent(Value *content, int64_t lo, int64_t hi) {
  auto *type = cast<llvm::FixedVectorType>(content->getType());
  Value *first = builder.CreateExtractElement(content, uint64_t(0));
  AffineExpr dim = addDim(first, lo, hi);
  if (lo != hi && type->getNumElements() != 1)
    dims.back().content = content;
  return dim;
}

SmallVector<AffineExpr> IndexScope::addLaneGroup(Value *flat,
                                                 ArrayRef<int64_t> extents,
                                                 int64_t multiple) {
  laneBegin = dims.size();
  laneFlat = flat;
  laneMultiple = multiple;
  laneExtents.assign(extents.begin(), extents.end());
  SmallVector<AffineExpr> exprs;
  SmallVector<Value *> values(extents.size());
  Value *rest = flat;
  for (size_t i = extents.size(); i-- > 0;) {
    if (i == 0) {
      values[i] = rest;
      break;
    }
    Value *extent = builder.getInt64(extents[i]);
    values[i] = builder.CreateURem(rest, extent);
    rest = builder.CreateUDiv(rest, extent);
  }
  for (size_t i = 0; i < extents.size(); ++i) {
    dims.push_back({values[i], 0, extents[i] - 1});
    exprs.push_back(getAffineDimExpr(dims.size() - 1, context));
  }
  laneEnd = dims.size();
  return exprs;
}

void IndexScope::endLaneGroup() { laneBegin = laneEnd = 0; }

/// Emits `expr` with `leaf` giving the value of a dim. Floor semantics.
template <typename Leaf>
Value *IndexScope::emit(AffineExpr expr, llvm::Type *type, Leaf leaf) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return llvm::ConstantInt::getSigned(type, constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return leaf(dim.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value *lhs = emit(binary.getLHS(), type, leaf);
  Value *rhs = emit(binary.getRHS(), type, leaf);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return builder.CreateAdd(lhs, rhs, "", false, /*NSW=*/true);
  case AffineExprKind::Mul:
    return builder.CreateMul(lhs, rhs, "", false, /*NSW=*/true);
  default:
    break;
  }
  int64_t divisor = cast<AffineConstantExpr>(binary.getRHS()).getValue();
  // A negative numerator is moved up by a multiple of the divisor first.
  int64_t lo = range(binary.getLHS()).first;
  int64_t shift = lo < 0 ? (-lo + divisor - 1) / divisor : 0;
  Value *up = builder.CreateAdd(
      lhs, llvm::ConstantInt::getSigned(type, shift * divisor));
  if (expr.getKind() == AffineExprKind::Mod)
    return builder.CreateURem(up, rhs);
  return builder.CreateSub(builder.CreateUDiv(up, rhs),
                           llvm::ConstantInt::getSigned(type, shift));
}

Value *IndexScope::scalar(AffineExpr expr) {
  return emit(expr, builder.getInt64Ty(),
              [&](unsigned position) { return dims[position].value; });
}

Value *IndexScope::laneDimVector(unsigned dim) {
  SmallVector<llvm::Constant *> steps;
  for (unsigned l = 0; l < lanes; ++l)
    steps.push_back(builder.getInt64(l));
  Value *flat = builder.CreateAdd(builder.CreateVectorSplat(lanes, laneFlat),
                                  llvm::ConstantVector::get(steps));
  for (unsigned i = laneEnd - 1; i > dim; --i)
    flat = builder.CreateUDiv(
        flat, builder.CreateVectorSplat(
                  lanes, builder.getInt64(laneExtents[i - laneBegin])));
  if (dim == laneBegin)
    return flat;
  return builder.CreateURem(
      flat, builder.CreateVectorSplat(
                lanes, builder.getInt64(laneExtents[dim - laneBegin])));
}

Value *IndexScope::vector(AffineExpr expr) {
  auto *type = llvm::FixedVectorType::get(builder.getInt64Ty(), lanes);
  if (!usesLanes(expr) && !usesContents(expr))
    return builder.CreateVectorSplat(lanes, scalar(expr));
  return emit(expr, type, [&](unsigned position) -> Value * {
    if (position >= laneBegin && position < laneEnd)
      return laneDimVector(position);
    if (dims[position].content)
      return dims[position].content;
    return builder.CreateVectorSplat(lanes, dims[position].value);
  });
}

bool IndexScope::usesLanes(AffineExpr expr) const {
  for (unsigned d = laneBegin; d < laneEnd; ++d)
    if (expr.isFunctionOfDim(d))
      return true;
  return false;
}

bool IndexScope::usesContents(AffineExpr expr) const {
  for (unsigned d = 0; d < dims.size(); ++d)
    if (dims[d].content && expr.isFunctionOfDim(d))
      return true;
  return false;
}

bool IndexScope::laneCoefficients(AffineExpr expr, int64_t factor,
                                  MutableArrayRef<int64_t> coefficients) const {
  if (!usesLanes(expr))
    return true;
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition() - laneBegin] += factor;
    return true;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add)
    return laneCoefficients(binary.getLHS(), factor, coefficients) &&
           laneCoefficients(binary.getRHS(), factor, coefficients);
  if (expr.getKind() == AffineExprKind::Mul)
    if (auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      return laneCoefficients(binary.getLHS(), factor * constant.getValue(),
                              coefficients);
  return false;
}

std::optional<int64_t> IndexScope::laneStride(AffineExpr expr) const {
  if (usesContents(expr))
    return std::nullopt;
  if (laneBegin == laneEnd)
    return 0;
  SmallVector<int64_t, 4> coefficients(laneEnd - laneBegin, 0);
  if (!laneCoefficients(expr, 1, coefficients))
    return std::nullopt;
  // The coefficient of a dim of extent one does not matter.
  std::optional<int64_t> stride;
  int64_t expected = 0;
  for (size_t i = coefficients.size(); i-- > 0;) {
    if (laneExtents[i] == 1)
      continue;
    if (!stride)
      stride = expected = coefficients[i];
    if (coefficients[i] != expected)
      return std::nullopt;
    expected *= laneExtents[i];
  }
  return stride.value_or(0);
}

bool IndexScope::startsAtMultiple(AffineExpr expr, int64_t of) const {
  if (laneStride(expr) != 1 || laneMultiple % of != 0)
    return false;
  // It is the flat index and the rest.
  SmallVector<AffineExpr> rest;
  for (unsigned d = 0; d < dims.size(); ++d)
    rest.push_back(d >= laneBegin && d < laneEnd
                       ? getAffineConstantExpr(0, context)
                       : getAffineDimExpr(d, context));
  return expr.replaceDims(rest).isMultipleOf(of);
}

std::pair<int64_t, int64_t> IndexScope::range(AffineExpr expr) const {
  return kernel::rangeOf(expr, [&](unsigned dim) {
    return std::make_pair(dims[dim].lo, dims[dim].hi);
  });
}

} // namespace dl::cpu
