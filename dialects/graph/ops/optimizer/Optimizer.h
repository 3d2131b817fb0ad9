// The numbers of optimizers.
#pragma once

#include "dialects/graph/Inference.h"

namespace dl::graph {

/// What an option is, or starts as; 0 where the step computes it.
double numberOf(mlir::Attribute option);
/// An option that is not there: no later value of it can matter.
bool isNone(mlir::Attribute option);
/// The operands that options name.
mlir::ValueRange numbersOf(SgdOp op);
mlir::ValueRange numbersOf(AdamOp op);

} // namespace dl::graph
