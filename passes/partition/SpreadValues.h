// Values that each rank had better make its own part of.
#pragma once

#include "passes/partition/WantedParts.h"

namespace dl::partition {

/// All ranks have the whole value, and it is larger than its operands together,
/// not counting those that are such values. Each rank then computes its part
/// from the operands: to cut it from the whole, it would first have to write
/// the whole.
///
/// Example: the mask of a loss's targets, target [N,1] == classes [1,C], and
/// what is chosen by it.
///
/// Draws and index ranges, whose numbers say where in the whole they begin, are
/// cut.
bool isSpread(mlir::Value value, KnownShardings known);

} // namespace dl::partition
