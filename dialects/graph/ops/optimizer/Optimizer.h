// The numbers of optimizers.
#pragma once

#include "dialects/graph/Inference.h"

namespace dl::graph {

/// What an option is, or starts as.
double numberOf(mlir::Attribute option);
/// An option that is not there: no later value of it can matter.
bool isNone(mlir::Attribute option);

} // namespace dl::graph
