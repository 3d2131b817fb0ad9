#include "dialects/graph/LoopNest.h"

using namespace mlir;

namespace dl::graph {

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
