// How an op is divided: axes of the mesh for the factors of its rule.
#pragma once

#include "passes/partition/Mesh.h"

namespace dl::partition {

struct OpSharding {
  graph::ShardingRule rule;
  llvm::SmallVector<DimSharding> factors; ///< one for each factor of the rule
  /// Along these, operands are parts of a sum, or of a maximum, and so are the
  /// results.
  Axes sum, max;

  /// Undivided.
  OpSharding(mlir::Operation *op, const Mesh &mesh)
      : rule(graph::shardingRule(op)), factors(rule.factors.size()),
        mesh(mesh) {}

  /// Divides a dim of these factors as `like` says, where the rule allows it
  /// and no axis is in use. What is divided already may become finer: that cuts
  /// operands and moves nothing. What needs whole blocks and finds none of that
  /// size gets the coarser ones that are there without the last axes.
  void divide(const graph::DimFactors &dim, const DimSharding &like);
  /// How operand `i` has to lie, of what is partial in it that which may stay.
  TensorSharding operand(unsigned i, const TensorSharding &current) const;
  TensorSharding result(unsigned i) const;

  /// Of a shape that parts may have, or why not.
  graph::BlockReason whyNotSplit() const;
  /// The part of the rank with these coordinates.
  graph::Shard shard(llvm::ArrayRef<int64_t> coordinates) const;
  /// Axes of all factors.
  Axes axes() const;

  graph::ShardingAttr attr() const;
  /// From `graph.factors`; undivided where the op has none.
  static OpSharding of(mlir::Operation *op, const Mesh &mesh);

private:
  using FactorShardings = llvm::SmallVector<std::pair<unsigned, DimSharding>>;
  /// What is divided of a dim's factors where it is divided like this; nothing
  /// where they are counted otherwise.
  std::optional<FactorShardings> divided(const graph::DimFactors &dim,
                                         const DimSharding &like) const;
  bool divideJust(const graph::DimFactors &dim, const DimSharding &like);
  bool mayDivide(const FactorShardings &divided) const;
  DimSharding dim(const graph::DimFactors &dim) const;
  /// With a factor for each digit.
  graph::ShardingRule
  inDigits(llvm::ArrayRef<int64_t> coordinates,
           llvm::SmallVectorImpl<graph::FactorPart> &parts) const;
  TensorSharding dims(const graph::TensorFactors &tensor) const;

  std::reference_wrapper<const Mesh> mesh;
};

/// How the ops of a module are divided; others are done by all ranks alike.
using OpShardings = llvm::DenseMap<mlir::Operation *, OpSharding>;

} // namespace dl::partition
