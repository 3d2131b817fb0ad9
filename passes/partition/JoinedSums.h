// Sums over ranks that are added up are one sum over ranks.
#pragma once

#include "passes/partition/WantedParts.h"

namespace dl::partition {

/// Parts of a sum over ranks within a sum that nobody else reads, and the
/// additions on the way to it, the innermost first.
struct SumWithin {
  mlir::Value parts;
  graph::ReshardOp sum; ///< none: the parts are the operand itself
  llvm::SmallVector<graph::AddOp, 2> path;
};

/// Of `add`, one in each operand, if both are parts along the same axis and are
/// wanted alike: (x + (a + b)) + (c + d), where a and c are such sums. Then
/// (x + (a + c) + b) + d exchanges once: a block whose attention and MLP work
/// side by side (GPT-J, Wang and Komatsuzaki, 2021; PaLM, Chowdhery et al.,
/// 2022).
std::optional<std::pair<SumWithin, SumWithin>>
sumsToJoin(graph::AddOp add, const Mesh &mesh, KnownShardings known);

} // namespace dl::partition
