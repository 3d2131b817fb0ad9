// The pass that lets products have fewer bits.
#pragma once

#include "dialects/graph/Graph.h"
#include "mlir/Pass/Pass.h"

namespace dl {

#define GEN_PASS_DECL
#include "passes/precision/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/precision/Passes.h.inc"

} // namespace dl
