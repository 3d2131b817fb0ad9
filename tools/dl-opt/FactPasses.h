// Passes that print what ops know about themselves.
#pragma once

#include "dialects/graph/Graph.h"
#include "mlir/Pass/Pass.h"

namespace dl {

#define GEN_PASS_DECL
#include "tools/dl-opt/FactPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "tools/dl-opt/FactPasses.h.inc"

} // namespace dl
