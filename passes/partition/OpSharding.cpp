#include "passes/partition/OpSharding.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dl::partition {

std::optional<OpSharding::FactorShardings>
OpSharding::divided(const graph::DimFactors &dim,
                    const DimSharding &like) const {
  SmallVector<int64_t> sizes;
  for (unsigned factor : dim)
    sizes.push_back(rule.factors[factor].size);
  std::optional<std::vector<DimSharding>> parts = like.over(sizes, mesh);
  if (!parts)
    return std::nullopt;
  FactorShardings factors;
  for (auto [factor, sharding] : llvm::zip_equal(dim, *parts))
    if (!sharding.isWhole())
      factors.push_back({factor, sharding});
  return factors;
}

bool OpSharding::mayDivide(const FactorShardings &divided) const {
  Axes used = axes();
  llvm::append_range(used, sum);
  llvm::append_range(used, max);
  // All that is partial is so in one way.
  std::optional<graph::Splitting> combined;
  if (!sum.empty() || !max.empty())
    combined = sum.empty() ? graph::Splitting::Max : graph::Splitting::Sum;
  for (auto [factor, dim] : llvm::zip_equal(rule.factors, factors))
    if (!dim.isWhole() && factor.splitting != graph::Splitting::Parallel)
      combined = factor.splitting;
  return llvm::all_of(divided, [&](const auto &one) {
    const graph::Factor &factor = rule.factors[one.first];
    const DimSharding &dim = one.second, &before = factors[one.first];
    Axes added;
    for (unsigned axis : dim.allAxes())
      if (!before.uses(axis))
        added.push_back(axis);
    DimSharding coarse = dim;
    for (unsigned axis : added)
      coarse.erase(axis, mesh);
    return coarse == before && factor.splitting != graph::Splitting::Blocked &&
           (factor.splitting == graph::Splitting::Parallel || !combined ||
            factor.splitting == *combined) &&
           (dim.axes.size() <= 1 ||
            factor.size % mesh.get().count(dim.axes) == 0) &&
           llvm::none_of(added, [&](unsigned axis) {
             return llvm::is_contained(used, axis);
           });
  });
}

bool OpSharding::divideJust(const graph::DimFactors &factorsOfDim,
                            const DimSharding &like) {
  std::optional<FactorShardings> divided = this->divided(factorsOfDim, like);
  if (!divided || !mayDivide(*divided))
    return false;
  auto before = factors;
  for (auto &[factor, one] : *divided)
    factors[factor] = one;
  if (dim(factorsOfDim) == like && whyNotSplit() == graph::BlockReason::None)
    return true;
  factors = before;
  return false;
}

void OpSharding::divide(const graph::DimFactors &factorsOfDim,
                        const DimSharding &like) {
  DimSharding coarse = like;
  while (!coarse.isWhole() && !divideJust(factorsOfDim, coarse)) {
    if (coarse.digits.empty())
      return;
    coarse.erase(coarse.allAxes().back(), mesh);
  }
}

DimSharding OpSharding::dim(const graph::DimFactors &dim) const {
  SmallVector<Digit> digits;
  for (unsigned factor : dim)
    llvm::append_range(digits,
                       factors[factor].digitsOf(rule.factors[factor].size));
  return DimSharding::of(digits, mesh);
}

TensorSharding OpSharding::dims(const graph::TensorFactors &tensor) const {
  TensorSharding sharding;
  for (const graph::DimFactors &factors : tensor)
    sharding.dims.push_back(dim(factors));
  return sharding;
}

TensorSharding OpSharding::operand(unsigned i,
                                   const TensorSharding &current) const {
  TensorSharding sharding = dims(rule.operands[i]);
  for (unsigned axis : current.sum)
    if (llvm::is_contained(sum, axis))
      sharding.sum.push_back(axis);
  for (unsigned axis : current.max)
    if (llvm::is_contained(max, axis))
      sharding.max.push_back(axis);
  return sharding;
}

TensorSharding OpSharding::result(unsigned i) const {
  TensorSharding sharding = dims(rule.results[i]);
  sharding.sum = sum;
  sharding.max = max;
  for (auto [factor, divided] : llvm::zip(rule.factors, factors)) {
    if (factor.splitting == graph::Splitting::Sum)
      llvm::append_range(sharding.sum, divided.allAxes());
    if (factor.splitting == graph::Splitting::Max)
      llvm::append_range(sharding.max, divided.allAxes());
  }
  llvm::sort(sharding.sum);
  llvm::sort(sharding.max);
  return sharding;
}

graph::ShardingRule
OpSharding::inDigits(ArrayRef<int64_t> coordinates,
                     SmallVectorImpl<graph::FactorPart> &parts) const {
  SmallVector<SmallVector<int64_t>> sizes;
  unsigned number = 0;
  for (auto [factor, divided] : llvm::zip_equal(rule.factors, factors)) {
    sizes.emplace_back();
    for (const Digit &digit : divided.digitsOf(factor.size)) {
      sizes.back().push_back(digit.size);
      if (!digit.axes.empty())
        parts.push_back({number, mesh.get().count(digit.axes),
                         mesh.get().index(digit.axes, coordinates)});
      ++number;
    }
  }
  return graph::inDigits(rule, sizes);
}

graph::BlockReason OpSharding::whyNotSplit() const {
  SmallVector<graph::FactorPart> parts;
  graph::ShardingRule fine = inDigits(mesh.get().origin(), parts);
  return graph::whyNotSplit(fine, parts, graph::InBlocks::Placed);
}

graph::Shard OpSharding::shard(ArrayRef<int64_t> coordinates) const {
  SmallVector<graph::FactorPart> parts;
  graph::ShardingRule fine = inDigits(coordinates, parts);
  return graph::Shard(std::move(fine), parts);
}

Axes OpSharding::axes() const {
  Axes all;
  for (const DimSharding &divided : factors)
    llvm::append_range(all, divided.allAxes());
  llvm::sort(all);
  return all;
}

graph::ShardingAttr OpSharding::attr() const {
  TensorSharding packed;
  packed.dims.assign(factors.begin(), factors.end());
  packed.sum = sum;
  packed.max = max;
  return packed.attr(mesh);
}

OpSharding OpSharding::of(Operation *op, const Mesh &mesh) {
  OpSharding sharding(op, mesh);
  auto attr = op->getAttrOfType<graph::ShardingAttr>(kFactors);
  if (!attr)
    return sharding;
  TensorSharding packed = TensorSharding::of(attr, mesh);
  sharding.factors.assign(packed.dims.begin(), packed.dims.end());
  sharding.factors.resize(sharding.rule.factors.size());
  sharding.sum = packed.sum;
  sharding.max = packed.max;
  return sharding;
}

} // namespace dl::partition
