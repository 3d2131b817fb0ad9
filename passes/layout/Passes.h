// Passes that choose physical layouts.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dl {

#define GEN_PASS_DECL
#include "passes/layout/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/layout/Passes.h.inc"

} // namespace dl
