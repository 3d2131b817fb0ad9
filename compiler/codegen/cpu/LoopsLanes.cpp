// Which dims the lanes of a loops stage run along.

#include "compiler/codegen/cpu/LoopsStage.h"

using namespace mlir;

namespace dl::cpu {

/// The divisor by which an expression divides dim `d`, or 1.
static int64_t divisorOf(AffineExpr expr, unsigned d) {
  int64_t found = 1;
  expr.walk([&](AffineExpr inner) {
    if (inner.getKind() != AffineExprKind::FloorDiv &&
        inner.getKind() != AffineExprKind::Mod)
      return;
    auto binary = cast<AffineBinaryOpExpr>(inner);
    if (binary.getLHS().isFunctionOfDim(d))
      if (auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
        found = std::max(found, divisor.getValue());
  });
  return found;
}

/// A dim that accesses divide by s is walked in s interleaved phases, so that
/// the divisions disappear: (2x + 1) floordiv 2 is x.
void LoopsStage::findPhases() {
  SmallVector<AffineExpr> exprs;
  for (const graph::Access &access : nest.accesses)
    exprs.append(access.guards.begin(), access.guards.end());
  e.kernel.forEachRead(stage, [&](Value, ArrayRef<AffineExpr> index, bool) {
    exprs.append(index.begin(), index.end());
  });
  for (unsigned d = 0; d < nest.numParallel; ++d) {
    int64_t divisor = 1;
    for (AffineExpr expr : exprs)
      divisor = std::max(divisor, divisorOf(expr, d));
    if (divisor <= 4 && !ranges[d].isCut() && ranges[d].extent >= divisor)
      ranges[d].phases = divisor;
  }
}

static std::optional<int64_t> coefficientOf(AffineExpr expr, unsigned d) {
  if (!expr.isFunctionOfDim(d))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add) {
    auto lhs = coefficientOf(binary.getLHS(), d);
    auto rhs = coefficientOf(binary.getRHS(), d);
    if (lhs && rhs)
      return *lhs + *rhs;
  }
  if (expr.getKind() == AffineExprKind::Mul)
    if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      if (auto inner = coefficientOf(binary.getLHS(), d))
        return *inner * factor.getValue();
  return std::nullopt;
}

std::optional<int64_t> LoopsStage::addressStep(Value leaf,
                                               ArrayRef<AffineExpr> index,
                                               unsigned dim) const {
  std::optional<int64_t> sum = 0;
  for (auto [expr, stride] : llvm::zip(index, e.kernel.strides(leaf))) {
    auto coefficient = coefficientOf(expr, dim);
    sum = sum && coefficient ? std::optional(*sum + *coefficient * stride)
                             : std::nullopt;
  }
  return sum;
}

SmallVector<std::optional<int64_t>>
LoopsStage::addressSteps(unsigned dim, bool withResult) const {
  SmallVector<std::optional<int64_t>> steps;
  auto add = [&](Value leaf, ArrayRef<AffineExpr> index) {
    steps.push_back(addressStep(leaf, index, dim));
  };
  e.kernel.forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr> index,
                                  bool) { add(leaf, index); });
  if (withResult)
    for (OpResult result : results)
      if (e.kernel.isPlaced(result)) {
        SmallVector<AffineExpr> index;
        for (unsigned d = 0; d < nest.numParallel; ++d)
          index.push_back(getAffineDimExpr(d, stage.op->getContext()));
        add(result, index);
      }
  return steps;
}

/// The candidates, innermost first, that can be walked as one flat run of
/// lanes.
SmallVector<unsigned> LoopsStage::laneGroup(ArrayRef<unsigned> candidates,
                                            bool checkResult) const {
  SmallVector<unsigned> group; // outermost first
  int64_t inner = 1;
  for (unsigned d : candidates) {
    const Range &range = ranges[d];
    if (range.single)
      break;
    if (!group.empty()) {
      bool joins = !guarded && range.phases == 1 && !e.usesIndices(stage) &&
                   !ranges[group.front()].isCut() &&
                   ranges[group.back()].phases == 1;
      auto outer = addressSteps(d, checkResult);
      auto last = addressSteps(group.back(), checkResult);
      for (auto [a, z] : llvm::zip(outer, last))
        joins &= a && z && *a == *z * inner;
      if (!joins)
        break;
    }
    group.insert(group.begin(), d);
    inner *= range.extent;
  }
  return group;
}

/// Rough cycles for one element with lanes along the group.
double LoopsStage::laneCost(ArrayRef<unsigned> group, bool withResult) const {
  if (group.empty())
    return 1e9;
  int64_t count = 1;
  for (unsigned d : group)
    count *= (ranges[d].extent + ranges[d].phases - 1) / ranges[d].phases;
  double used = double(count) / llvm::alignTo(count, e.kernel.lanes());
  double cost = 0.5;
  for (std::optional<int64_t> step : addressSteps(group.back(), withResult)) {
    if (ranges[group.back()].phases > 1 || step == 1)
      cost += 1;
    else if (step == 0)
      cost += 0.3;
    else
      cost += step == 2 ? 1.6 : 12;
  }
  return cost / used;
}

void LoopsStage::chooseLanes() {
  // Parallel dims in the order of the result's memory, innermost first.
  SmallVector<unsigned> parallel, reduction;
  for (unsigned d = 0; d < nest.numParallel; ++d)
    if (ranges[d].extent > 1)
      parallel.push_back(d);
  for (OpResult result : results)
    if (e.kernel.isPlaced(result)) {
      ArrayRef<int64_t> strides = e.kernel.strides(result);
      llvm::sort(parallel, [&](unsigned x, unsigned y) {
        return std::make_pair(strides[x], x) < std::make_pair(strides[y], y);
      });
      break;
    }
  for (unsigned d = nest.extents.size(); d-- > nest.numParallel;)
    reduction.push_back(d);
  laneDims = laneGroup(parallel, /*checkResult=*/true);
  if (reduction.empty())
    return;
  auto along = laneGroup(reduction, /*checkResult=*/false);
  // Reduction lanes must be the innermost reduction dims and at least one.
  if (along.empty())
    return;
  int64_t count = 1;
  for (unsigned d : along)
    count *= ranges[d].extent;
  double horizontal = 25.0 / (double(count) / e.kernel.lanes() + 1);
  if (laneCost(along, false) + horizontal < laneCost(laneDims, true)) {
    lanesReduce = true;
    laneDims.assign(along.begin(), along.end());
  }
}

} // namespace dl::cpu
