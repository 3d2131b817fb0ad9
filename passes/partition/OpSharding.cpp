#include "passes/partition/OpSharding.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dl::partition {

static TensorSharding fromFactors(const graph::TensorFactors &dims,
                                  ArrayRef<Axes> factors) {
  TensorSharding sharding;
  for (const graph::DimFactors &dim : dims) {
    sharding.dims.emplace_back();
    for (unsigned factor : dim)
      llvm::append_range(sharding.dims.back(), factors[factor]);
  }
  return sharding;
}

TensorSharding OpSharding::operand(unsigned i,
                                   const TensorSharding &current) const {
  TensorSharding sharding = fromFactors(rule.operands[i], factors);
  for (unsigned axis : current.sum)
    if (llvm::is_contained(sum, axis))
      sharding.sum.push_back(axis);
  for (unsigned axis : current.max)
    if (llvm::is_contained(max, axis))
      sharding.max.push_back(axis);
  return sharding;
}

TensorSharding OpSharding::result(unsigned i) const {
  TensorSharding sharding = fromFactors(rule.results[i], factors);
  sharding.sum = sum;
  sharding.max = max;
  for (auto [factor, axes] : llvm::zip(rule.factors, factors)) {
    if (factor.splitting == graph::Splitting::Sum)
      llvm::append_range(sharding.sum, axes);
    if (factor.splitting == graph::Splitting::Max)
      llvm::append_range(sharding.max, axes);
  }
  llvm::sort(sharding.sum);
  llvm::sort(sharding.max);
  return sharding;
}

SmallVector<graph::FactorPart>
OpSharding::parts(const Mesh &mesh, ArrayRef<int64_t> coordinates) const {
  SmallVector<graph::FactorPart> parts;
  for (auto [factor, axes] : llvm::enumerate(factors))
    if (!axes.empty())
      parts.push_back({static_cast<unsigned>(factor), mesh.count(axes),
                       mesh.index(axes, coordinates)});
  return parts;
}

Axes OpSharding::axes() const {
  Axes all;
  for (const Axes &axes : factors)
    llvm::append_range(all, axes);
  llvm::sort(all);
  return all;
}

graph::ShardingAttr OpSharding::attr(const Mesh &mesh) const {
  TensorSharding packed;
  packed.dims.assign(factors.begin(), factors.end());
  packed.sum = sum;
  packed.max = max;
  return packed.attr(mesh);
}

OpSharding OpSharding::of(Operation *op, const Mesh &mesh) {
  OpSharding sharding(graph::shardingRule(op));
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

FailureOr<SmallVector<Value>> localizePart(Operation *op,
                                           const graph::Shard &shard,
                                           OpBuilder &builder,
                                           ValueRange operands) {
  DictionaryAttr noted = op->getDiscardableAttrDictionary();
  op->setDiscardableAttrs(DictionaryAttr::get(op->getContext()));
  auto made = graph::localize(op, shard, builder, operands);
  op->setDiscardableAttrs(noted);
  return made;
}

} // namespace dl::partition
