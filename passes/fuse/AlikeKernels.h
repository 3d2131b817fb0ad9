// Code for many kernels.
#pragma once

#include "dialects/graph/Graph.h"

namespace dl {

/// Makes launch constants of the numbers in which many kernels of a step's
/// block differ, and in nothing else.
void shareCodeOfAlikeKernels(mlir::Block &step);

} // namespace dl
