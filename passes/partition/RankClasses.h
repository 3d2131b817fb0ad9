// Which ranks run one program.
#pragma once

#include "passes/partition/OpSharding.h"

namespace dl::partition {

/// Ranks with parts of equal shapes, whose local ops are the same but for
/// constants of launches.
struct RankClass {
  llvm::SmallVector<int64_t> ranks; ///< ascending

  /// A rank of the class that differs from its first one along this axis alone,
  /// if there is one.
  std::optional<int64_t> neighbour(const Mesh &mesh, unsigned axis) const;
};

std::vector<RankClass> classifyRanks(mlir::ModuleOp module, const Mesh &mesh,
                                     const OpShardings &shardings);

} // namespace dl::partition
