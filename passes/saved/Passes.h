// The pass that chooses what the backward keeps.
#pragma once

#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

namespace dl {

#define GEN_PASS_DECL
#include "passes/saved/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/saved/Passes.h.inc"

} // namespace dl
