// Steps that generate tokens, one position at a time.
#pragma once

#include "dialects/graph/Graph.h"
#include "mlir/Pass/Pass.h"

namespace dl {

#define GEN_PASS_DECL
#include "passes/decode/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/decode/Passes.h.inc"

} // namespace dl
