// From kernels to a plan: order, memory, dependencies.
#pragma once

#include "dialects/plan/MachineOption.h"
#include "dialects/plan/Plan.h"
#include "mlir/Pass/Pass.h"

namespace dl {

#define GEN_PASS_DECL
#include "passes/schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/schedule/Passes.h.inc"

} // namespace dl
