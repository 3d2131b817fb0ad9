// Values that each rank had better make its own part of.
#pragma once

#include "passes/partition/WantedParts.h"

namespace dl::partition {

/// All ranks have it, and it is larger than all that it is made from, but for
/// what is itself such a value. Cutting a part from the whole would have every
/// rank write the whole first.
///
/// Example: the mask of a loss's targets, target [N,1] == classes [1,C], and
/// what is chosen by it.
///
/// Draws and index ranges, whose numbers say where in the whole they begin, are
/// cut.
bool isSpread(mlir::Value value, KnownShardings known);

} // namespace dl::partition
