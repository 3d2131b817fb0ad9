#include "dialects/graph/LoopNest.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace dl::graph {

double identityOf(Combine combine, Type element) {
  if (combine != Combine::Max)
    return 0;
  if (isa<FloatType>(element))
    return -std::numeric_limits<double>::infinity();
  if (element.isSignlessInteger(32) || element.isSignlessInteger(64))
    return -std::ldexp(1.0, element.getIntOrFloatBitWidth() - 1);
  return 0; // of bytes and booleans
}

bool LoopNest::isIndirect() const {
  return llvm::any_of(accesses, [](const Access &access) {
    return access.indirect.has_value();
  });
}

int64_t LoopNest::points() const {
  int64_t count = 1;
  for (auto [d, extent] : llvm::enumerate(extents))
    if (!(scatter && d == scatter->at) && !(scan && d == scan->at) &&
        !(ordered && d == ordered->at))
      count *= extent;
  if (ordered) // each is moved once a level
    count *= 2 * (llvm::Log2_64_Ceil(extents[ordered->at]) + 1);
  if (scatter) // all results are begun
    count += count / std::max<int64_t>(extents[scatter->over], 1) *
             extents[scatter->at];
  return count;
}

std::optional<BlockIndex> blockIndex(AffineExpr expr, const LoopNest &nest) {
  auto parallelDim = [&](AffineExpr part) -> std::optional<unsigned> {
    auto dim = dyn_cast<AffineDimExpr>(part);
    return dim && dim.getPosition() < nest.numParallel
               ? std::optional(dim.getPosition())
               : std::nullopt;
  };
  if (std::optional<unsigned> dim = parallelDim(expr))
    return BlockIndex{*dim, 1};
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return std::nullopt;
  auto within = dyn_cast<AffineDimExpr>(sum.getRHS());
  std::optional<unsigned> dim = parallelDim(sum.getLHS());
  int64_t size = 1;
  if (auto first = dyn_cast<AffineBinaryOpExpr>(sum.getLHS());
      first && first.getKind() == AffineExprKind::Mul)
    if (auto step = dyn_cast<AffineConstantExpr>(first.getRHS()))
      dim = parallelDim(first.getLHS()), size = step.getValue();
  if (!dim || !within || within.getPosition() < nest.numParallel ||
      nest.extents[within.getPosition()] > size)
    return std::nullopt;
  return BlockIndex{*dim, size};
}

} // namespace dl::graph
