// From what the user wrote to the whole training step in simple ops.
#pragma once

#include "dialects/graph/Graph.h"
#include "mlir/Pass/Pass.h"

namespace dl {

#define GEN_PASS_DECL
#include "passes/backward/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/backward/Passes.h.inc"

/// Gradients are written out, optimizers and composite ops are not, and there
/// is no border: what a picture of the step shows.
void buildGradientsPipeline(mlir::OpPassManager &manager);

/// The phase `backward`: all passes of this folder in order, with clean-ups.
void buildBackwardPipeline(mlir::OpPassManager &manager);

/// The last passes that may see the border of micro-batch and update have run.
void buildOpenBorderPipeline(mlir::OpPassManager &manager);

} // namespace dl
