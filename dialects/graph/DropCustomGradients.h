// The end of gradients that the program says itself.
#pragma once

#include "dialects/graph/Graph.h"

namespace dl::graph {

/// Puts the outputs of each graph.custom_gradient of a finished step in its
/// place, and takes away what was for its gradients alone: after the gradients
/// of the step are written out, or where there are none.
void dropCustomGradients(StepOp step);

} // namespace dl::graph
