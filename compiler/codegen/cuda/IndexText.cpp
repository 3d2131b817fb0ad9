#include "compiler/codegen/cuda/IndexText.h"
#include "compiler/codegen/kernel/IndexRange.h"

using namespace mlir;

namespace dl::cuda {

AffineExpr IndexText::addDim(std::string name, int64_t lo, int64_t hi) {
  if (lo == hi)
    return constant(lo);
  dims.push_back({std::move(name), lo, hi});
  return getAffineDimExpr(dims.size() - 1, context);
}

AffineExpr IndexText::constant(int64_t value) const {
  return getAffineConstantExpr(value, context);
}

StringRef IndexText::type() const {
  return wide ? "unsigned long long" : "unsigned";
}

std::string IndexText::number(int64_t value) const {
  return std::to_string(value) + (wide ? "ull" : "u");
}

std::pair<int64_t, int64_t> IndexText::range(AffineExpr expr) const {
  return kernel::rangeOf(expr, [&](unsigned dim) {
    return std::make_pair(dims[dim].lo, dims[dim].hi);
  });
}

std::string IndexText::text(AffineExpr expr) const { return text(expr, false); }

std::string IndexText::text(AffineExpr expr, bool tight) const {
  auto [lo, hi] = range(expr);
  if (lo == hi)
    return lo >= 0 ? number(lo) : "(0u - " + number(-lo) + ")";
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()].name;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  std::string result;
  switch (expr.getKind()) {
  case AffineExprKind::Add: {
    auto [low, high] = range(rhs);
    if (low == high && low < 0)
      result = text(lhs, false) + " - " + number(-low);
    else if (low == high && low == 0)
      return text(lhs, tight);
    else
      result = text(lhs, false) + " + " + text(rhs, false);
    return tight ? "(" + result + ")" : result;
  }
  case AffineExprKind::Mul: {
    auto [low, high] = range(rhs);
    if (low == 1 && high == 1)
      return text(lhs, tight);
    if (low == high && low < 0)
      return "(0u - " + text(lhs, true) + " * " + number(-low) + ")";
    return text(lhs, true) + " * " + text(rhs, true);
  }
  default:
    break;
  }
  // A negative numerator is moved up by a multiple of the divisor first.
  int64_t divisor = cast<AffineConstantExpr>(rhs).getValue();
  int64_t least = range(lhs).first;
  int64_t shift = least < 0 ? (-least + divisor - 1) / divisor : 0;
  std::string up = shift == 0 ? text(lhs, true)
                              : "(" + text(lhs, false) + " + " +
                                    number(shift * divisor) + ")";
  if (expr.getKind() == AffineExprKind::Mod)
    return "(" + up + " % " + number(divisor) + ")";
  result = up + " / " + number(divisor);
  return shift == 0 ? "(" + result + ")"
                    : "(" + result + " - " + number(shift) + ")";
}

} // namespace dl::cuda
