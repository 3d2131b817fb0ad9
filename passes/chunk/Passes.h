// The pass that bounds the memory of large values between products.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/plan/MachineModel.h"
#include "dialects/plan/MachineOption.h"
#include "mlir/Pass/Pass.h"

namespace dl {

#define GEN_PASS_DECL
#include "passes/chunk/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/chunk/Passes.h.inc"

} // namespace dl
