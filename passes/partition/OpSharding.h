// How an op is divided: axes of the mesh for the factors of its rule.
#pragma once

#include "passes/partition/Mesh.h"

namespace dl::partition {

struct OpSharding {
  graph::ShardingRule rule;
  llvm::SmallVector<Axes> factors; ///< one entry for each factor of the rule
  /// Along these, operands are parts of a sum, or of a maximum, and so are the
  /// results.
  Axes sum, max;

  explicit OpSharding(graph::ShardingRule owned)
      : rule(std::move(owned)), factors(rule.factors.size()) {}

  /// How operand `i` has to lie, of what is partial in it that which may stay.
  TensorSharding operand(unsigned i, const TensorSharding &current) const;
  TensorSharding result(unsigned i) const;
  /// The part of the rank with these coordinates.
  llvm::SmallVector<graph::FactorPart>
  parts(const Mesh &mesh, llvm::ArrayRef<int64_t> coordinates) const;
  /// Axes of all factors.
  Axes axes() const;

  graph::ShardingAttr attr(const Mesh &mesh) const;
  /// From `graph.factors`; undivided where the op has none.
  static OpSharding of(mlir::Operation *op, const Mesh &mesh);
};

/// graph::localize, made of the op's own attributes: what passes have noted on
/// it is not among those of local ops.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
localizePart(mlir::Operation *op, const graph::Shard &shard,
             mlir::OpBuilder &builder, mlir::ValueRange operands);

} // namespace dl::partition
