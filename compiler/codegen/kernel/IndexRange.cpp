#include "compiler/codegen/kernel/IndexRange.h"
#include "dialects/graph/Check.h"

using namespace mlir;

namespace dl::kernel {

std::pair<int64_t, int64_t> rangeOf(AffineExpr expr, DimRangeFn ofDim) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return ofDim(dim.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto [llo, lhi] = rangeOf(binary.getLHS(), ofDim);
  auto [rlo, rhi] = rangeOf(binary.getRHS(), ofDim);
  auto floorDiv = [](int64_t a, int64_t b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
  };
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return {llo + rlo, lhi + rhi};
  case AffineExprKind::Mul: {
    int64_t a = llo * rlo, b = lhi * rlo;
    return {std::min(a, b), std::max(a, b)};
  }
  case AffineExprKind::FloorDiv:
    return {floorDiv(llo, rlo), floorDiv(lhi, rlo)};
  case AffineExprKind::Mod:
    if (floorDiv(llo, rlo) == floorDiv(lhi, rlo))
      return {llo - floorDiv(llo, rlo) * rlo, lhi - floorDiv(lhi, rlo) * rlo};
    return {0, rlo - 1};
  default:
    DL_UNREACHABLE("ceildiv does not occur in access maps");
  }
}

} // namespace dl::kernel
